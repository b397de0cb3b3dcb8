/// A running subscription, as its owner sees it.
@frozen
public struct Subscription: Cancellable {
    @usableFromInline let scope: Scope

    @inlinable
    init(scope: Scope) { self.scope = scope }

    /// Whether the stream is still running: neither ended nor cancelled.
    public var isActive: Bool { scope.isOpen }

    /// Stops the stream and tears it down. On the subscription's scheduler nothing is delivered after this
    /// returns; if called from another thread, at most a callback that is already running completes.
    public func cancel() { scope.cancel() }

    /// Pauses the stream: sources that can wait (sequences, bodies, pages) send nothing until ``resume()``.
    /// Calls nest. Thread-safe.
    public func pause() { scope.pauseFromAnywhere() }

    /// Undoes one ``pause()``.
    public func resume() { scope.enter { [scope] in scope.resume() } }

    /// Adds the subscription to `bag`, which will cancel it.
    public func store(in bag: SubscriptionBag) { bag.insert(self) }
}
