import RxHTTP
import RxLite
import RxLoop
import TestServers

@testable import RxCurl

/// Reads a file like an upload: takes available bytes without waiting, 10,000 at a time, and the rest in
/// pieces.
final class Taker: @unchecked Sendable {
    // Unchecked: runs on the loop only, except for the board, which has a lock.
    struct Log: Sendable {
        var bytes: [UInt8] = []
        /// The number of bytes that were taken, and of those that came in pieces.
        var taken = 0
        var pieces = 0
        var error: NetworkError?
        var isEnded = false
    }
    let board = Board(Log())
    private let count: Int
    private let whenRead: @Sendable (Taker, _ count: Int) -> Void
    private var reading: FileReading?
    private var scope: Scope?

    /// - Parameter whenRead: called on the loop with the number of bytes, after each step.
    init(
        _ part: FilePart, in files: LoopFileSystem, isTakable: @escaping FileReading.Admission,
        whenRead: @escaping @Sendable (Taker, _ count: Int) -> Void = { _, _ in }
    ) {
        count = Int(part.count)
        self.whenRead = whenRead
        files.loop.schedule { [self] in
            let scope = Scope(lane: Lane(scheduler: files.loop))
            let observer = Observer<[UInt8], NetworkError>(
                scope: scope, next: { self.receive($0) },
                end: { completion in
                    scope.close()
                    if case .failed(let error) = completion { self.board.update { $0.error = error } }
                    self.end()
                })
            let reading = FileReading(part, in: files, isTakable: isTakable, into: observer)
            (self.scope, self.reading) = (scope, reading)
            scope.lane.enter { reading.start() }
        }
    }

    /// Stops reading the file. On the loop.
    func cancel() {
        scope?.cancel()
        end()
    }

    private func receive(_ piece: [UInt8]) {
        let count = board.update { log in
            log.bytes += piece
            log.pieces += piece.count
            return log.bytes.count
        }
        whenRead(self, count)
        take()
    }

    private func take() {
        var buffer = [UInt8](repeating: 0, count: 10_000)
        while let count = unsafe buffer.withUnsafeMutableBytes({ unsafe reading?.take(into: $0) }) {
            let all = board.update { log in
                log.bytes += buffer[..<count]
                log.taken += count
                return log.bytes.count
            }
            whenRead(self, all)
            if all == self.count { return cancel() }
        }
    }

    private func end() {
        reading = nil
        board.update { $0.isEnded = true }
    }
}
