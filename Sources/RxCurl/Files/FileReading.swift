import RxHTTP
import RxLite
import RxLoop

/// One running ``LoopFileSystem/read(_:from:count:expecting:)``: reads the next piece while the current one
/// is consumed.
///
/// A consumer that does not need pieces calls ``take(into:)`` for bytes that are in the page cache, and gets
/// pieces from the first byte on that is not.
final class FileReading: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial, or on the loop where that is the
    // lane's.

    /// Whether the bytes from an offset on may be taken if they are in memory.
    typealias Admission = @Sendable (_ offset: Int64) -> Bool

    /// The size of a piece, in bytes, as documented for ``LoopFileSystem``. Smaller pieces would mean more switches
    /// between threads.
    static let pieceSize = 512 << 10
    /// The maximum number of bytes that are taken before the status of the file is checked again.
    private static let lookInterval: Int64 = 1 << 20

    private struct Piece: Sendable {
        var file: File
        var bytes: [UInt8]
        var isLast: Bool
        /// Whether the bytes after the piece are in memory.
        var isNextCached: Bool
    }

    /// Memory that pieces are read into, in rotation: one buffer is being filled, one is ready, and the
    /// consumer has a few. When it is a buffer's turn again, the consumer has usually released it; otherwise
    /// copy on write gives the new piece other memory.
    private final class Buffer: @unchecked Sendable {
        // Unchecked: used only by the one job that reads; jobs run one after another.
        var bytes: [UInt8] = []
    }
    private let buffers = (0..<5).map { _ in Buffer() }
    private var turn = 0

    private let files: LoopFileSystem
    private let path: String
    private let expected: FileStatus?
    private let isTakable: Admission?
    private let observer: Observer<[UInt8], NetworkError>
    private var offset: Int64
    /// The number of bytes still to read.
    private var left: Int64
    private var file: File?
    /// The piece that was read before the previous one was consumed.
    private var ready: Piece?
    private var isReading = false
    private var isAtEnd = false
    /// Whether the next bytes seem to be in memory, so that the consumer takes them.
    private var isCached = false
    /// Whether some bytes were not in memory. From then on all bytes come in pieces: a consumer that returned
    /// to taking would not read ahead, and would wait for the disk more often.
    private var hasMissed = false
    /// The number of bytes taken since the status of the file was checked.
    private var unseen: Int64 = 0

    /// - Parameter isTakable: for a consumer that calls ``take(into:)``; `nil` for other consumers.
    init(
        _ files: LoopFileSystem, _ path: String, from offset: Int64, count: Int64?, _ expected: FileStatus?,
        isTakable: Admission? = nil, into observer: Observer<[UInt8], NetworkError>
    ) {
        self.files = files
        self.path = path
        self.expected = expected
        self.isTakable = isTakable
        self.observer = observer
        self.offset = max(0, offset)
        left = max(0, count ?? .max)
    }

    /// Reads part of a file for a consumer that calls ``take(into:)``.
    convenience init(
        _ part: FilePart, in files: LoopFileSystem,
        isTakable: @escaping Admission = { _ in true },
        into observer: Observer<[UInt8], NetworkError>
    ) {
        self.init(
            files, part.path, from: part.offset, count: part.count, part.status, isTakable: isTakable,
            into: observer)
    }

    func start() {
        observer.scope.onClose { self.release() }
        observer.scope.onResume { self.deliver() }
        read()
    }

    /// Reads as many bytes as are in memory and fit, without waiting. `nil` if there are none; the rest then
    /// comes in pieces. The stream does not end with the last bytes: a consumer that has all of them closes
    /// it.
    ///
    /// The status of the file is checked after each MiB, and before the last bytes are handed over.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard isCached, !isReading, ready == nil, let file else { return nil }
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left)))
        guard isTakable?(offset) == true, let count = unsafe file.readCached(at: offset, into: room),
            count > 0
        else {
            isCached = false
            hasMissed = true
            observer.scope.enter { self.read() }
            return nil
        }
        unseen += Int64(count)
        if unseen >= Self.lookInterval || Int64(count) == left {
            guard isAsExpected(file) else {
                isCached = false
                observer.scope.enter { self.failChanged() }
                return nil
            }
            unseen = 0
        }
        offset += Int64(count)
        left -= Int64(count)
        isCached = left > 0
        return count
    }

    private func isAsExpected(_ file: File) -> Bool {
        guard let expected else { return true }
        return (try? file.status()).map(FileStatus.init) == expected
    }

    /// Begins to read the next piece, unless there is already one.
    private func read() {
        guard !isReading, ready == nil, !isAtEnd, observer.scope.isOpen else { return }
        isReading = true
        let scope = observer.scope.child()
        files.work(on: path, nextPiece).subscribe(
            Observer(scope: scope, next: { self.receive($0) }) { completion in
                scope.close()
                if case .failed = completion { self.observer.end(completion) }
            })
    }

    /// Reads a piece on a thread of the pool; `nil` if the file is not as expected. The status is checked
    /// after each piece, so nothing of a changed file is delivered.
    private var nextPiece: @Sendable () throws(UVError) -> Piece? {
        turn = (turn + 1) % buffers.count
        let isTakable = hasMissed ? nil : isTakable
        return {
            [path, expected, file, offset, left, isTakable, buffer = buffers[turn]] () throws(UVError) in
            let file = if let file { file } else { try File(reading: path) }
            let count = Int(min(Int64(Self.pieceSize), left))
            try file.read(at: offset, count: count, into: &buffer.bytes)
            let bytes = buffer.bytes
            if let expected, FileStatus(try file.status()) != expected { return nil }
            let isLast = bytes.count < count || Int64(count) == left
            let end = offset + Int64(count)
            let isNextCached = !isLast && isTakable?(end) == true && file.isCached(at: end)
            return Piece(file: file, bytes: bytes, isLast: isLast, isNextCached: isNextCached)
        }
    }

    private func receive(_ piece: Piece?) {
        isReading = false
        guard let piece else { return failChanged() }
        file = piece.file
        offset += Int64(piece.bytes.count)
        left -= Int64(piece.bytes.count)
        isAtEnd = piece.isLast
        isCached = piece.isNextCached
        hasMissed = !isCached
        ready = piece
        deliver()
    }

    private func deliver() {
        guard observer.scope.isOpen, !observer.scope.isPaused, let piece = ready else { return }
        ready = nil
        if !isCached { read() }
        if !piece.bytes.isEmpty { observer.next(piece.bytes) }
        if piece.isLast, observer.scope.isOpen { observer.finish() }
    }

    private func failChanged() {
        observer.fail(NetworkError(.file, "\(path) changed while it was read"))
    }

    private func release() {
        ready = nil
        file = nil
        isCached = false
    }
}
