internal import RxHTTP
internal import RxLite
internal import RxLoop

/// One running ``LoopFileSystem/read(_:from:count:expecting:)``: one piece is read while the one before is taken.
final class FileReading: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// What is read at a time.
    static let pieceSize = 512 << 10

    private struct Piece: Sendable {
        var file: File
        var bytes: [UInt8]
        var isLast: Bool
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
    private let observer: Observer<[UInt8], NetworkError>
    private var offset: Int64
    /// What is still to be read.
    private var left: Int64
    private var file: File?
    /// What was read while the one before had not been taken.
    private var ready: Piece?
    private var isReading = false
    private var isAtEnd = false

    init(
        _ files: LoopFileSystem, _ path: String, from offset: Int64, count: Int64?, _ expected: FileStatus?,
        into observer: Observer<[UInt8], NetworkError>
    ) {
        self.files = files
        self.path = path
        self.expected = expected
        self.observer = observer
        self.offset = max(0, offset)
        left = max(0, count ?? .max)
    }

    func start() {
        observer.scope.onClose { self.letGo() }
        observer.scope.onResume { self.deliver() }
        read()
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
        return { [path, expected, file, offset, left, buffer = buffers[turn]] () throws(UVError) in
            let file = if let file { file } else { try File(reading: path) }
            let count = Int(min(Int64(Self.pieceSize), left))
            try file.read(at: offset, count: count, into: &buffer.bytes)
            let bytes = buffer.bytes
            if let expected, FileStatus(try file.status()) != expected { return nil }
            return Piece(file: file, bytes: bytes, isLast: bytes.count < count || Int64(count) == left)
        }
    }

    private func receive(_ piece: Piece?) {
        isReading = false
        guard let piece else {
            return observer.fail(NetworkError(.file, "\(path) has changed since it was looked at"))
        }
        file = piece.file
        offset += Int64(piece.bytes.count)
        left -= Int64(piece.bytes.count)
        isAtEnd = piece.isLast
        ready = piece
        deliver()
    }

    private func deliver() {
        guard observer.scope.isOpen, !observer.scope.isPaused, let piece = ready else { return }
        ready = nil
        read()
        if !piece.bytes.isEmpty { observer.next(piece.bytes) }
        if piece.isLast, observer.scope.isOpen { observer.finish() }
    }

    private func letGo() {
        ready = nil
        file = nil
    }
}
