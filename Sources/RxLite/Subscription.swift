/// A running subscription, as its owner sees it.
@frozen
public struct Subscription: Cancellable {
    @usableFromInline let scope: Scope

    @inlinable
    init(scope: Scope) { self.scope = scope }

    /// Whether the stream is still running: neither ended nor cancelled.
    public var isActive: Bool { scope.isOpen }

    /// Stops the stream and tears it down. On the subscription's own scheduler nothing is delivered after
    /// this returns; called from another thread, at most the callback already running completes.
    public func cancel() { scope.cancel() }

    /// Puts the brake on: sources that can wait (sequences, bodies, pages) send nothing until
    /// ``resume()``. Calls nest. Safe from any thread.
    public func pause() { scope.pauseFromAnywhere() }

    /// Takes one ``pause()`` back.
    public func resume() { scope.enter { [scope] in scope.resume() } }

    /// Leaves the cancelling to `bag`.
    public func store(in bag: SubscriptionBag) { bag.insert(self) }
}
