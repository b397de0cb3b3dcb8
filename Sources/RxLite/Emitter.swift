/// The door through which code outside a stream puts events into it. Made by ``Observable/create(_:)``.
///
/// Safe from any thread and from within the stream's own callbacks. Calls from one thread arrive in their
/// order; what comes after the end, or after the subscriber has gone, is dropped.
public struct Emitter<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline let observer: Observer<Element, Failure>

    @inlinable
    init(_ observer: Observer<Element, Failure>) { self.observer = observer }

    @usableFromInline
    func begin(_ start: @escaping @Sendable (Emitter) -> Void) {
        observer.scope.lane.afterLeaving {
            if observer.scope.isOpen { observer.scope.lane.serve { start(self) } }
        }
    }

    /// Sends a value.
    @inlinable
    public func send(_ value: Element) {
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(value) }
            scope.lane.leave()
        } else {
            enqueue(value)
        }
    }

    @inlinable
    @inline(never)
    func enqueue(_ value: Element) {
        observer.scope.lane.enqueue { [observer] in if observer.scope.isOpen { observer.next(value) } }
    }

    /// Ends the stream well.
    public func finish() {
        observer.scope.enter { [observer] in observer.finish() }
    }

    /// Ends the stream with an error.
    public func fail(_ error: Failure) {
        observer.scope.enter { [observer] in observer.fail(error) }
    }

    /// Whether the subscription has ended: the stream has ended or was cancelled.
    @inlinable
    public var isCancelled: Bool { !observer.scope.isOpen }

    /// Whether the subscriber is full. Values sent all the same are delivered; code that can wait does so
    /// until ``onResume(_:)`` calls.
    public var isPaused: Bool { observer.scope.isPaused }

    /// Runs `teardown` once, when the stream ends or is cancelled; at once if it already has.
    public func onClose(_ teardown: @escaping @Sendable () -> Void) {
        observer.scope.lane.enter { [observer] in
            if observer.scope.isOpen { observer.scope.onClose(teardown) } else { teardown() }
        }
    }

    /// Runs `resumption` each time the subscriber, having been full, has room again.
    public func onResume(_ resumption: @escaping @Sendable () -> Void) {
        observer.scope.enter { [observer] in observer.scope.onResume(resumption) }
    }
}
