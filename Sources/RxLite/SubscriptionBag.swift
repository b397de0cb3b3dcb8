import Synchronization

/// Holds subscriptions and cancels them when it is released.
///
/// ```swift
/// final class GoodsScreen {
///     private let bag = SubscriptionBag()
///     func show() { goods.subscribe { print($0) }.store(in: bag) }   // ends with the screen
/// }
/// ```
public final class SubscriptionBag: Cancellable {
    private struct Contents {
        var subscriptions: [Subscription] = []
        /// Ended subscriptions are removed when the count reaches this, so that a long-lived bag stays as
        /// large as the number of running subscriptions.
        var sweepCount = 16
    }

    private let contents = Mutex(Contents())

    /// Creates an empty bag.
    public init() {}

    deinit { cancel() }

    /// Adds a subscription.
    public func insert(_ subscription: Subscription) {
        contents.withLock { contents in
            contents.subscriptions.append(subscription)
            guard contents.subscriptions.count >= contents.sweepCount else { return }
            contents.subscriptions.removeAll { !$0.isActive }
            contents.sweepCount = max(16, contents.subscriptions.count * 2)
        }
    }

    /// Cancels everything in the bag and empties it. The bag can be used again.
    public func cancel() {
        let subscriptions = contents.withLock { contents in
            let subscriptions = contents.subscriptions
            contents = Contents()
            return subscriptions
        }
        for subscription in subscriptions { subscription.cancel() }
    }
}
