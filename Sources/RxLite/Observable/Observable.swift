/// A cold, typed stream: values over time, then one end.
///
/// An observable is a recipe. Nothing happens before a subscription, and each subscription runs it again:
///
/// ```swift
/// Observable.sequence(1...3)
///     .map { $0 * $0 }
///     .subscribe(onNext: { print($0) })   // 1 4 9
/// ```
///
/// `Failure` is the one error type the stream can end with, `Never` where it cannot fail.
@frozen
public struct Observable<Element: Sendable, Failure: Error>: Sendable {
    /// The scheduler of all events of a subscription, or `nil` if they arrive on the threads that produce them.
    /// Operators with time use its clock by default.
    public let scheduler: (any Scheduler)?

    /// Runs the stream directly in the observer's lane. Only where that lane has this stream's ``scheduler``, as in
    /// operators with one input; anything else calls ``subscribe(_:)``, which relays between schedulers. Do not swap
    /// one for the other.
    @usableFromInline
    let source: @Sendable (Observer<Element, Failure>) -> Void

    /// Creates a stream from the closure that runs when it is subscribed to.
    ///
    /// This is the entry point for writing operators: `source` is called inside the subscription's lane and must keep
    /// the grammar of ``Observer``. Code that produces values from elsewhere uses ``create(_:)``, which follows the
    /// grammar for you.
    @inlinable
    public init(
        scheduler: (any Scheduler)? = nil, source: @escaping @Sendable (Observer<Element, Failure>) -> Void
    ) {
        self.scheduler = scheduler
        self.source = source
    }

    /// Runs the stream for an operator: inside the lane of `observer.scope`, from within a subscription.
    ///
    /// A stream with another scheduler than that lane's runs in a separate lane; its events pass through a small
    /// buffer, and a pause of the observer pauses it.
    @inlinable
    public func subscribe(_ observer: Observer<Element, Failure>) {
        if isAtHome(in: observer.scope.lane) { source(observer) } else { relay(to: observer) }
    }

    /// Starts the stream.
    ///
    /// The callbacks run one at a time on the stream's ``scheduler``, or without one on the thread that produces the
    /// event, which may be the calling thread. The stream runs until its end or until the returned subscription is
    /// cancelled; discarding the subscription has no effect. An error that is a cancellation
    /// (``CancellationReporting``) calls no callback. Where more than 16 calls nest on a thread, each in a callback of
    /// the one before, the stream starts when the outermost returns: a stream may begin again at its own end any number
    /// of times.
    ///
    /// - Parameters:
    ///   - onNext: receives each value.
    ///   - onFailure: receives the error, if the stream fails. Default `nil`: a failure is an ``UnhandledFailure``.
    ///   - onFinish: called if the stream finishes.
    ///   - fileID: the source file that an ``UnhandledFailure`` names. Default: the caller's.
    ///   - line: the line that an ``UnhandledFailure`` names. Default: the caller's.
    @inlinable
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void = { _ in },
        onFailure: (@Sendable (Failure) -> Void)? = nil,
        onFinish: @escaping @Sendable () -> Void = {},
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
        observe(onNext: onNext) { completion in
            switch completion {
            case .finished: onFinish()
            case .failed where completion.isCancellation: break
            case .failed(let error):
                if let onFailure { onFailure(error) } else { Self.report(error, fileID: fileID, line: line) }
            }
        }
    }

    /// Starts the stream, with one callback for both kinds of end.
    @inlinable
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void,
        onEnd: @escaping @Sendable (Completion<Failure>) -> Void
    ) -> Subscription {
        observe(onNext: onNext) { completion in
            if !completion.isCancellation { onEnd(completion) }
        }
    }

    /// Starts the stream as ``subscribe(onNext:onEnd:)`` does, for observers that record every end, cancellations
    /// included.
    @inlinable
    package func observe(
        onNext: @escaping @Sendable (Element) -> Void,
        onEnd: @escaping @Sendable (Completion<Failure>) -> Void
    ) -> Subscription {
        let scope = Scope(lane: .forSubscription(on: scheduler))
        let observer = Observer<Element, Failure>(
            scope: scope, target: scope,
            receive: { value, scope in
                if unsafe unsafeDowncast(scope, to: Scope.self).isOpen { onNext(value) }
            },
            end: { completion in scope.end { onEnd(completion) } })
        // Until the source has been started, events of other threads wait, and so does the work of `afterLeaving`.
        scope.lane.takeUnshared()
        let trampoline = Trampoline.current
        if trampoline.enter() {
            source(observer)
            scope.lane.leave()
            trampoline.leave()
        } else {
            trampoline.append { [source] in
                if scope.isOpen { source(observer) }
                scope.lane.leave()
            }
        }
        return Subscription(scope: scope)
    }

    /// Runs the stream like ``subscribe(_:)``, or from the lane's queue where recursion has become deep.
    @inlinable
    func subscribeNested(_ observer: Observer<Element, Failure>) {
        let lane = observer.scope.lane
        if lane.tryNesting() {
            subscribe(observer)
            lane.endNesting()
        } else {
            lane.enqueue { if observer.scope.isOpen { subscribe(observer) } }
        }
    }

    /// A stream that turns each of its observers into one for this stream: the shape of every operator
    /// with one input that works event by event.
    @inlinable
    public func lift<T, E>(
        _ adapt: @escaping @Sendable (Observer<T, E>) -> Observer<Element, Failure>
    ) -> Observable<T, E> {
        Observable<T, E>(scheduler: scheduler) { [source] observer in source(adapt(observer)) }
    }
}

/// A type that can be used as a stream: ``Observable``, ``Signal``, ``MutableProperty`` and ``Property``.
///
/// Operators that take a second stream accept any of them: `take(until: stop)`, `withLatestFrom(filter)`.
public protocol ObservableConvertible<Element, Failure>: Sendable {
    /// The type of the values.
    associatedtype Element: Sendable
    /// The error type; `Never` if the stream cannot fail.
    associatedtype Failure: Error

    /// The stream.
    var observable: Observable<Element, Failure> { get }
}

extension Observable: ObservableConvertible {
    /// This stream.
    @inlinable public var observable: Observable { self }
}

extension ObservableConvertible where Failure == Never {
    /// Sets `property` to each value of the stream.
    ///
    /// ```swift
    /// names.map { "\($0.count) names" }.bind(to: title)
    /// ```
    ///
    /// The property is retained until the stream has ended or the subscription is cancelled. The end of the stream
    /// leaves the last value in place.
    ///
    /// - Returns: the subscription, which ends the binding when it is cancelled.
    @inlinable
    @discardableResult
    public func bind(to property: MutableProperty<Element>) -> Subscription {
        observable.subscribe { property.value = $0 }
    }
}
