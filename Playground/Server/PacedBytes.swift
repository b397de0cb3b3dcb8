import FlyingSocks

/// A body of a given length and speed, which notices when the client leaves.
struct PacedBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    /// The range of bytes in an endless file.
    let range: Range<Int>
    let bytesPerSecond: Int
    /// The position at which the connection breaks, if any.
    var breaksAt: Int?
    let counters: Counters

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The server retains it while it sends. Requesting more bytes means that those before have been sent; releasing
    /// it early means that the client has left.
    final class Iterator: AsyncBufferedIteratorProtocol {
        private let bytes: PacedBytes
        private let clock = ContinuousClock()
        private let start: ContinuousClock.Instant
        private var position: Int
        private var underway = 0
        private var isFinished = false

        init(_ bytes: PacedBytes) {
            self.bytes = bytes
            position = bytes.range.lowerBound
            start = clock.now
        }

        deinit {
            if !isFinished { bytes.counters.count { $0.downloadsAborted += 1 } }
        }

        func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            bytes.counters.count { $0.downloadedBytes += underway }
            if let end = bytes.breaksAt, position >= end {
                isFinished = true
                throw SocketError.disconnected
            }
            underway = Swift.min(Swift.max(1, count), bytes.range.upperBound - position)
            guard underway > 0 else {
                if !isFinished { bytes.counters.count { $0.downloadsFinished += 1 } }
                isFinished = true
                return nil
            }
            let sent = position - bytes.range.lowerBound
            let due = Duration.seconds(Double(sent) / Double(bytes.bytesPerSecond))
            try await clock.sleep(until: start + due, tolerance: .milliseconds(1))
            defer { position += underway }
            return (position..<position + underway).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        }
    }
}
