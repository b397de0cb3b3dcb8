import Synchronization

/// Numbers the subscriptions of one stream, which several threads may make.
final class SubscriptionCount: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
