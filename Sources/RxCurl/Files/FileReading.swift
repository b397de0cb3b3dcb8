internal import RxHTTP
internal import RxLite
internal import RxLoop

/// One running ``LoopFileSystem/read(_:from:count:expecting:)``: one piece is read while the one before is taken.
///
/// A consumer that can take bytes without a piece around them asks for them by ``take(into:)``, and gets pieces
/// from where the first of them is not in memory.
final class FileReading: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial, or on the loop where that is the lane's.

    /// Whether the bytes from an offset may be taken, if they are in memory.
    typealias Admission = @Sendable (_ offset: Int64) -> Bool

    /// What is read at a time. Fewer bytes would cost more changes from thread to thread.
    static let pieceSize = 512 << 10
    /// How many bytes are taken at most before the file is looked at again.
    private static let lookInterval: Int64 = 1 << 20

    private struct Piece: Sendable {
        var file: File
        var bytes: [UInt8]
        var isLast: Bool
        /// Whether what follows is in memory.
        var isNextCached: Bool
    }

    /// Memory that pieces are read into, in turns: one is being read, one is ready, and the consumer has a few. By
    /// the turn of the first it is mostly done with that; if it is not, copy on write gives the piece other memory.
    private final class Buffer: @unchecked Sendable {
        // Unchecked: used by the one job that reads, one after another.
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
    /// What is still to be read.
    private var left: Int64
    private var file: File?
    /// What was read while the one before had not been taken.
    private var ready: Piece?
    private var isReading = false
    private var isAtEnd = false
    /// Whether what comes next seems to be in memory, and the consumer takes it itself.
    private var isCached = false
    /// Whether something was not in memory. From there on everything comes in pieces: who goes back to taking reads
    /// nothing ahead, and waits for the disk more often.
    private var hasMissed = false
    /// How many bytes have been taken since the file was looked at.
    private var unseen: Int64 = 0

    /// - Parameter isTakable: for a consumer that takes bytes by ``take(into:)``; `nil` for one that does not.
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

    /// Reads part of a file for a consumer that takes bytes by ``take(into:)``.
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
        observer.scope.onClose { self.letGo() }
        observer.scope.onResume { self.deliver() }
        read()
    }

    /// Reads on without waiting, as much as is in memory and fits. `nil` if there is nothing; the rest then comes in
    /// pieces. With the last of them the stream does not end: who has all that was asked for closes it.
    ///
    /// The file is looked at after each MiB, and before the last of the bytes are given away.
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

    /// Begins to read the next piece, unless there is one already.
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

    /// Reads a piece, on a thread of the pool; `nil` if the file is not as expected. It is looked at after each, so
    /// that nothing of a changed one is delivered.
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
        observer.fail(NetworkError(.file, "\(path) has changed since it was looked at"))
    }

    private func letGo() {
        ready = nil
        file = nil
        isCached = false
    }
}
