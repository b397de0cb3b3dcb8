public import RxHTTP
public import RxLite
import Synchronization

/// Files in memory and virtual time, for tests of code that reads and writes files.
///
/// ```swift
/// let files = MemoryFileSystem(on: clock)
/// files["/tmp/note"] = Array("text".utf8)
/// files.fail(.write, of: "/tmp/note", "disk full")
/// ```
///
/// Every operation takes ``latency`` of virtual time, and takes effect at the end of it, even if it has been cancelled
/// meanwhile, as a disk may do. Concurrent operations see each other's changes.
///
/// Relative paths begin at the root, and all spellings of a path name the same file: `/d/f`, `/d/./f`, `/d//f`,
/// `/d/e/../f`, `d/f`. Folders need not be made; ``addFolder(_:)`` makes an empty one. There are no links.
/// Thread-safe.
public final class MemoryFileSystem: FileSystem {
    /// The operations that can be made to fail.
    public enum Operation: Sendable {
        case locate, status, read, write, synchronize, replace, move, lock, remove
    }

    /// The clock of the operations.
    public let clock: VirtualScheduler
    /// The scheduler of the operations: the clock, or that of a simulated process.
    private let scheduler: any Scheduler
    /// How long each step takes. Default zero; even then an operation never completes within the subscribing
    /// call.
    public let latency: Duration
    /// The size of the chunks to read. Default 64 KiB.
    public let pieceSize: Int

    private struct Contents {
        var files: [String: (bytes: [UInt8], modified: Duration, number: UInt64)] = [:]
        var changeCount: Int64 = 0
        var folders: Set<String> = ["/"]
        var failures: [(operation: Operation, path: String, message: String)] = []
        var delays: [(operation: Operation, path: String, time: Duration)] = []
        var readCount = 0
        var lockedElsewhere: Set<String> = []
        /// The view that has locked each file.
        var locks: [String: ObjectIdentifier] = [:]

        func status(of path: String) -> FileStatus? {
            files[path].map {
                FileStatus(size: Int64($0.bytes.count), modified: $0.modified, number: $0.number)
            }
        }

        /// Each change has a different time, so that all changes are noticed.
        ///
        /// - Parameter isNew: whether the file replaces an earlier one instead of changing it.
        mutating func set(_ path: String, _ bytes: [UInt8]?, isNew: Bool = false) {
            changeCount += 1
            let number = (isNew ? nil : files[path]?.number) ?? UInt64(changeCount)
            files[path] = bytes.map { ($0, .nanoseconds(changeCount), number) }
        }

        func isFolder(_ path: String) -> Bool {
            folders.contains(path) || files.keys.contains { $0.hasPrefix(path + "/") }
        }

        mutating func takeDelay(of operation: Operation, _ path: String) -> Duration {
            let index = delays.firstIndex { $0.operation == operation && $0.path == path }
            return index.map { delays.remove(at: $0).time } ?? .zero
        }

        mutating func takeFailure(of operation: Operation, _ path: String) -> String? {
            let index = failures.firstIndex { $0.operation == operation && $0.path == path }
            return index.map { failures.remove(at: $0).message }
        }
    }

    /// The files, which the views share.
    private final class Disk: Sendable {
        let contents = Mutex(Contents())
    }

    private let disk: Disk

    /// Creates a file system without files.
    public init(on clock: VirtualScheduler, latency: Duration = .zero, pieceSize: Int = 64 << 10) {
        self.clock = clock
        self.scheduler = clock
        self.latency = latency
        self.pieceSize = max(1, pieceSize)
        disk = Disk()
    }

    /// Creates a view of the same files for a process with its own scheduler. Other views respect its locks.
    package init(_ other: MemoryFileSystem, on scheduler: any Scheduler) {
        clock = other.clock
        self.scheduler = scheduler
        latency = other.latency
        pieceSize = other.pieceSize
        disk = other.disk
    }

    /// Releases all locks of this view, as the end of a process does.
    package func releaseLocks() {
        let paths = disk.contents.withLock { contents in
            contents.locks.filter { $0.value == ObjectIdentifier(self) }.keys.sorted()
        }
        for path in paths { unlock(path) }
    }

    /// The content of a file; `nil` if it does not exist. Setting it changes the file at once.
    public subscript(path: String) -> [UInt8]? {
        get { disk.contents.withLock { $0.files[Self.normal(path)]?.bytes } }
        set { disk.contents.withLock { $0.set(Self.normal(path), newValue) } }
    }

    /// Makes an empty folder. The folders of files need not be made.
    public func addFolder(_ path: String) {
        _ = disk.contents.withLock { $0.folders.insert(Self.normal(path)) }
    }

    /// The path without `.`, `..` and empty components, from the root.
    private static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The absolute paths of all files, sorted.
    public var paths: [String] { disk.contents.withLock { $0.files.keys.sorted() } }

    /// The number of chunks read so far.
    public var readCount: Int { disk.contents.withLock { $0.readCount } }

    /// The files that another process has locked.
    public var lockedElsewhere: Set<String> {
        get { disk.contents.withLock { $0.lockedElsewhere } }
        set { disk.contents.withLock { $0.lockedElsewhere = Set(newValue.map(Self.normal)) } }
    }

    /// The files that have been locked here and not released, sorted.
    public var lockedPaths: [String] { disk.contents.withLock { $0.locks.keys.sorted() } }

    /// Makes the next such operation on the file fail with `NetworkError.Code.file`. Several failures take
    /// effect one after another.
    public func fail(_ operation: Operation, of path: String, _ message: String = "as scripted") {
        disk.contents.withLock { $0.failures.append((operation, Self.normal(path), message)) }
    }

    /// Makes the next such operation on the file take longer by `time`. Several delays take effect one after another.
    public func delay(_ operation: Operation, of path: String, by time: Duration) {
        disk.contents.withLock { $0.delays.append((operation, Self.normal(path), time)) }
    }

    // MARK: - FileSystem

    /// See `FileSystem.locate(_:)`.
    public func locate(_ path: String) -> Observable<(path: String, isFolder: Bool), NetworkError> {
        step(.locate, path) { contents, path in (path: path, isFolder: contents.isFolder(path)) }
    }

    /// See `FileSystem.status(of:)`.
    public func status(of path: String) -> Observable<FileStatus?, NetworkError> {
        step(.status, path) { contents, path in contents.status(of: path) }
    }

    /// See `FileSystem.read(_:from:count:expecting:)`.
    public func read(
        _ path: String, from offset: Int64, count: Int64?, expecting expected: FileStatus?
    ) -> Observable<[UInt8], NetworkError> {
        let start = Piece(bytes: [], offset: max(0, offset), left: max(0, count ?? .max), isLast: false)
        return piece(after: start, of: path, expected)
            .expand { [self] piece in piece.isLast ? .empty() : self.piece(after: piece, of: path, expected) }
            .filter { !$0.bytes.isEmpty }
            .map(\.bytes)
    }

    /// See `FileSystem.contents(of:limit:)`.
    public func contents(of path: String, limit: Int) -> Observable<[UInt8]?, NetworkError> {
        step(.read, path) { contents, path throws(NetworkError) in
            guard let file = contents.files[path] else { return nil }
            guard file.bytes.count <= limit else {
                throw NetworkError(
                    .tooLarge, "\(path) has \(file.bytes.count) bytes, more than the limit of \(limit)")
            }
            contents.readCount += 1
            return file.bytes
        }
    }

    private struct Piece {
        var bytes: [UInt8]
        /// The offset of the first byte.
        var offset: Int64
        /// The number of bytes wanted, including these.
        var left: Int64
        var isLast: Bool
    }

    private func piece(
        after last: Piece, of path: String, _ expected: FileStatus?
    ) -> Observable<Piece, NetworkError> {
        step(.read, path) { [pieceSize] contents, path throws(NetworkError) in
            guard let file = contents.files[path] else { throw .missing(path) }
            if let expected, contents.status(of: path) != expected {
                throw NetworkError(.file, "\(path) changed while it was read")
            }
            contents.readCount += 1
            let offset = last.offset + Int64(last.bytes.count)
            let left = last.left - Int64(last.bytes.count)
            let count = min(pieceSize, Int(clamping: left))
            let bytes = Array(file.bytes.dropFirst(Int(clamping: offset)).prefix(count))
            return Piece(
                bytes: bytes, offset: offset, left: left,
                isLast: bytes.count < pieceSize || Int64(bytes.count) == left)
        }
    }

    /// See `FileSystem.appender(to:at:)`.
    public func appender(to path: String, at offset: Int64) -> FileAppender {
        let opening = Opening(offset: Int(clamping: max(0, offset)))
        return FileAppender(on: scheduler) { [self] (batch: FileBatch) in
            step(.write, path) { contents, path in
                var bytes = contents.files[path]?.bytes ?? []
                // With the first batch the file is cut off at the offset, or filled up with zeros, as `ftruncate` does.
                if let size = opening.take() {
                    bytes = bytes.prefix(size) + Array(repeating: 0, count: max(0, size - bytes.count))
                }
                contents.set(path, bytes + batch.bytes)
                return Int64(bytes.count + batch.bytes.count)
            }
        } finish: { [self] in
            step(.synchronize, path) { _, _ in }
        }
    }

    /// See `FileSystem.writer(to:at:mark:)`.
    public func writer(to path: String, at offset: Int64, mark: Int64) -> FileAppender {
        let position = Atomic(Int(clamping: max(0, offset)))
        let writer = Writing(position: position, mark: Int(clamping: max(0, mark)))
        return FileAppender(on: scheduler) { [self] (batch: FileBatch) in
            step(.write, path) { contents, path in
                var bytes = contents.files[path]?.bytes ?? []
                let end = writer.write(batch.bytes, into: &bytes)
                contents.set(path, bytes)
                return Int64(end)
            }
        } finish: { [self] in
            step(.synchronize, path) { _, _ in }
        }
    }

    /// The place of a writer in a file, changed only under the lock of the contents.
    private final class Writing: Sendable {
        private let position: Atomic<Int>
        private let mark: Int

        init(position: consuming Atomic<Int>, mark: Int) {
            self.position = position
            self.mark = mark
        }

        func write(_ new: [UInt8], into bytes: inout [UInt8]) -> Int {
            let start = position.load(ordering: .relaxed)
            let end = start + new.count
            position.store(end, ordering: .relaxed)
            guard !new.isEmpty else { return end }
            Self.put(new, at: start, into: &bytes)
            // As `LoopFileSystem` writes it, and `DownloadRecord` reads it.
            Self.put((0..<8).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) }, at: mark, into: &bytes)
            return end
        }

        private static func put(_ new: [UInt8], at start: Int, into bytes: inout [UInt8]) {
            let end = start + new.count
            if bytes.count < end { bytes += Array(repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(start..<end, with: new)
        }
    }

    /// See `FileSystem.extent(of:from:)`. The files have no holes.
    public func extent(of path: String, from offset: Int64) -> Observable<Int64, NetworkError> {
        step(.status, path) { contents, path throws(NetworkError) in
            guard let file = contents.files[path] else { throw .missing(path) }
            return Int64(file.bytes.count)
        }
    }

    /// The offset at which a file is opened, once.
    private final class Opening: Sendable {
        private let offset: Mutex<Int?>

        init(offset: Int) { self.offset = Mutex(offset) }

        func take() -> Int? { offset.withLock { exchange(&$0, with: nil) } }
    }

    /// See `FileSystem.replace(_:with:)`.
    public func replace(_ path: String, with bytes: [UInt8]) -> Observable<Void, NetworkError> {
        step(.replace, path) { contents, path in contents.set(path, bytes, isNew: true) }
    }

    /// See `FileSystem.move(_:to:)`.
    public func move(_ path: String, to target: String) -> Observable<Void, NetworkError> {
        step(.move, path) { contents, path throws(NetworkError) in
            guard let file = contents.files.removeValue(forKey: path) else { throw .missing(path) }
            contents.files[Self.normal(target)] = file
        }
    }

    /// See `FileSystem.move(_:toNew:)`.
    public func move(_ path: String, toNew target: String) -> Observable<Bool, NetworkError> {
        step(.move, path) { contents, path throws(NetworkError) in
            let target = Self.normal(target)
            guard let file = contents.files[path] else { throw .missing(path) }
            guard contents.files[target] == nil, !contents.isFolder(target) else { return false }
            contents.files[path] = nil
            contents.files[target] = file
            return true
        }
    }

    /// See `FileSystem.lock(_:)`.
    public func lock(_ path: String) -> Observable<@Sendable () -> Void, NetworkError> {
        step(.lock, path) { [self] contents, path throws(NetworkError) in
            guard !contents.lockedElsewhere.contains(path), contents.locks[path] == nil else {
                throw NetworkError(
                    .locked, "\(path) is locked by another process or another part of this one")
            }
            if contents.files[path] == nil { contents.set(path, []) }
            contents.locks[path] = ObjectIdentifier(self)
            let lock = Lock { [self] in unlock(path) }
            return { lock.release() }
        }
    }

    /// A lock, which its last reference releases.
    private final class Lock: Sendable {
        private let isReleased = Atomic(false)
        private let unlock: @Sendable () -> Void

        init(_ unlock: @escaping @Sendable () -> Void) { self.unlock = unlock }

        func release() {
            if !isReleased.exchange(true, ordering: .relaxed) { unlock() }
        }

        deinit { release() }
    }

    private func unlock(_ path: String) {
        disk.contents.withLock { contents in
            // The next process may hold the lock of one that has been killed.
            guard contents.locks[path] == ObjectIdentifier(self) else { return }
            contents.locks[path] = nil
            if contents.files[path]?.bytes.isEmpty == true { contents.set(path, nil) }
        }
    }

    /// See `FileSystem.remove(_:)`.
    public func remove(_ path: String) -> Observable<Void, NetworkError> {
        step(.remove, path) { contents, path in contents.files[path] = nil }
    }

    /// Performs one operation on the file of that normal path at one moment of virtual time, unless it was made to fail.
    /// While the subscriber is paused the result waits.
    private func step<T>(
        _ operation: Operation, _ path: String,
        _ body: @escaping @Sendable (inout Contents, _ path: String) throws(NetworkError) -> T
    ) -> Observable<T, NetworkError> {
        let normal = Self.normal(path)
        return Observable(scheduler: scheduler) { [self] observer in
            guard observer.scope.isOpen else { return }
            let delay = disk.contents.withLock { $0.takeDelay(of: operation, normal) }
            // Not bound to the subscription, whose end does not stop the operation.
            _ = scheduler.schedule(after: latency + delay) { [self] in
                let result = disk.contents.withLock { contents in
                    Result { () throws(NetworkError) in
                        if let message = contents.takeFailure(of: operation, normal) {
                            throw NetworkError(.file, "\(path): \(message)")
                        }
                        return try body(&contents, normal)
                    }
                }
                observer.scope.enter { observer.emitOnly(result) }
            }
        }
    }
}

extension NetworkError {
    fileprivate static func missing(_ path: String) -> NetworkError {
        NetworkError(.file, "\(path): ENOENT: no such file or directory")
    }
}
