extension Observable {
    /// A stream from code with callbacks: `start` begins the work and keeps the emitter.
    ///
    /// ```
    /// create
    ///        --1-----2---|     when send(1), send(2), finish() are called
    /// ```
    ///
    /// ```swift
    /// let ticks = Observable<Int, Never>.create { emitter in
    ///     let source = TickSource { emitter.send($0) }
    ///     emitter.onClose { source.stop() }
    /// }
    /// ```
    ///
    /// `start` runs once for each subscription, after the subscription is set up, on the subscribing thread.
    @inlinable
    public static func create(
        _ start: @escaping @Sendable (Emitter<Element, Failure>) -> Void
    ) -> Observable {
        Observable { observer in Emitter(observer).begin(start) }
    }
}

/// Sends events into a stream from code outside of it. Created by ``Observable/create(_:)``.
///
/// Thread-safe, also within the stream's callbacks. Calls from one thread arrive in order; events after the
/// end, or after a cancel by the subscriber, are dropped.
public struct Emitter<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline let observer: Observer<Element, Failure>

    @inlinable
    init(_ observer: Observer<Element, Failure>) { self.observer = observer }

    @usableFromInline
    func begin(_ start: @escaping @Sendable (Emitter) -> Void) {
        let cause = StreamCause.ifAttached
        observer.scope.lane.afterLeaving {
            guard observer.scope.isOpen else { return }
            // Streams that `start` subscribes to are for this subscription; see ``Lane/isUpstream(of:)``.
            StreamCause.restore(cause) { observer.scope.lane.serve { start(self) } }
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

    /// Ends the stream successfully.
    public func finish() {
        observer.scope.enter { [observer] in observer.finish() }
    }

    /// Ends the stream with an error.
    public func fail(_ error: Failure) {
        observer.scope.enter { [observer] in observer.fail(error) }
    }

    /// Whether the subscription has ended, by the end of the stream or a cancel.
    @inlinable
    public var isCancelled: Bool { !observer.scope.isOpen }

    /// Whether the subscriber is full. Values that are sent anyway are delivered; code that can wait should
    /// wait until ``onResume(_:)`` calls.
    public var isPaused: Bool { observer.scope.isPaused }

    /// Runs `teardown` once, when the stream ends or is cancelled; at once if it already has.
    public func onClose(_ teardown: @escaping @Sendable () -> Void) {
        // Not `scope.enter`, which does nothing once the scope is closed.
        observer.scope.lane.enter { [observer] in
            if observer.scope.isOpen { observer.scope.onClose(teardown) } else { teardown() }
        }
    }

    /// Runs `resumption` each time a full subscriber has room again.
    public func onResume(_ resumption: @escaping @Sendable () -> Void) {
        observer.scope.enter { [observer] in observer.scope.onResume(resumption) }
    }
}

extension Observable {
    /// The stream that `make` returns, created for each subscription. A thrown error fails the stream.
    ///
    /// ```
    /// deferred { --1-| }
    ///                    --1-|
    /// ```
    ///
    /// - Parameter scheduler: the scheduler of all streams that `make` returns, if they have the same.
    ///   Default `nil`: unknown until there is a stream.
    @inlinable
    public static func deferred(
        on scheduler: (any Scheduler)? = nil, _ make: @escaping @Sendable () throws(Failure) -> Observable
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            do throws(Failure) {
                try make().subscribe(observer)
            } catch {
                observer.scope.perform { observer.fail(error) }
            }
        }
    }
}
