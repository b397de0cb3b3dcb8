import Synchronization

/// The latencies of recent requests, for ``Hedging/percentile(_:initially:)``. Safe from any thread.
public final class RecentLatencies: Sendable {
    /// The number of latencies kept.
    private static let capacity = 128
    /// The minimum number of latencies for a percentile.
    private static let least = 10
    /// The number of new latencies after which they are sorted again.
    private static let batch = 8

    private struct Contents {
        var latest: [Duration] = []
        var next = 0
        var sorted: [Duration] = []
        var unsorted = 0
    }

    private let contents = Mutex(Contents())

    /// Creates an empty record.
    public init() {}

    /// Records the latency of a request, or the time until it was given up.
    public func note(_ latency: Duration) {
        contents.withLock { contents in
            contents.unsorted += 1
            if contents.latest.count < Self.capacity { return contents.latest.append(latency) }
            contents.latest[contents.next] = latency
            contents.next = (contents.next + 1) % Self.capacity
        }
    }

    /// The latency that this share of the last 128 requests did not exceed; `nil` while there are fewer than
    /// ten. The last seven may not be counted yet.
    ///
    /// - Parameter share: from 0 to 1.
    public func percentile(_ share: Double) -> Duration? {
        contents.withLock { contents in
            guard contents.latest.count >= Self.least else { return nil }
            if contents.sorted.isEmpty || contents.unsorted >= Self.batch {
                contents.sorted = contents.latest.sorted()
                contents.unsorted = 0
            }
            let count = contents.sorted.count
            let rank = share.isFinite ? (share * Double(count)).rounded(.up) : 0
            return contents.sorted[Int(min(max(rank, 1), Double(count))) - 1]
        }
    }
}
