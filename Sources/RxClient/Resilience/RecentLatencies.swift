import Synchronization

/// How long the last requests took, for ``Hedging/percentile(_:initially:)``. Safe from any thread.
public final class RecentLatencies: Sendable {
    /// How many are remembered.
    private static let capacity = 128
    /// How few say nothing.
    private static let least = 10
    /// They are sorted anew after so many.
    private static let batch = 8

    private struct Contents {
        var latest: [Duration] = []
        var next = 0
        var sorted: [Duration] = []
        var unsorted = 0
    }

    private let contents = Mutex(Contents())

    /// Creates an empty memory.
    public init() {}

    /// Notes how long a request took, or how long it had taken when it was given up.
    public func note(_ latency: Duration) {
        contents.withLock { contents in
            contents.unsorted += 1
            if contents.latest.count < Self.capacity { return contents.latest.append(latency) }
            contents.latest[contents.next] = latency
            contents.next = (contents.next + 1) % Self.capacity
        }
    }

    /// The time that so large a share of the last 128 did not exceed; `nil` while there are fewer than ten. The last
    /// seven may not count yet.
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
