// Names of Combine, for which the compiler suggests those of RxLite. It refuses every call, so that the bodies only
// need the right type. It does not check that the suggested names exist; some are in Tests/SurfaceTests/Programs.

/// Unavailable: use ``Observable``.
@available(*, unavailable, renamed: "Observable")
public typealias AnyPublisher<Output: Sendable, Failure: Error> = Observable<Output, Failure>

/// Unavailable: use ``Signal``.
@available(*, unavailable, renamed: "Signal", message: "it cannot fail, and has one type parameter")
public typealias PassthroughSubject<Output: Sendable, Failure: Error> = Signal<Output>

/// Unavailable: use ``MutableProperty``.
@available(*, unavailable, renamed: "MutableProperty", message: "it cannot fail, and has one type parameter")
public typealias CurrentValueSubject<Output: Sendable, Failure: Error> = MutableProperty<Output>

/// Unavailable: use ``Subscription`` and ``SubscriptionBag``.
@available(
    *, unavailable, message: "use 'Subscription', and 'SubscriptionBag' in place of 'Set<AnyCancellable>'"
)
public enum AnyCancellable: Hashable {}

extension Observable {
    /// Unavailable: use `subscribe(onNext:)`.
    @available(*, unavailable, renamed: "subscribe(onNext:)")
    @discardableResult
    public func sink(receiveValue: @escaping @Sendable (Element) -> Void) -> Subscription {
        subscribe(onNext: receiveValue)
    }

    /// Unavailable: use ``subscribe(onNext:onEnd:)``.
    @available(*, unavailable, message: "write 'subscribe(onNext:onFailure:)' or 'subscribe(onNext:onEnd:)'")
    @discardableResult
    public func sink(
        receiveCompletion: @escaping @Sendable (Completion<Failure>) -> Void,
        receiveValue: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        subscribe(onNext: receiveValue, onEnd: receiveCompletion)
    }

    /// Unavailable: use `flatMap` with ``FlattenStrategy/latest``.
    @available(
        *, unavailable, message: "write 'flatMap(.latest) { … }' in place of 'map' and 'switchToLatest'"
    )
    public func switchToLatest<T, E>() -> Observable<T, E> where Element == Observable<T, E> { .never() }

    /// Unavailable: each operator returns an ``Observable``.
    @available(*, unavailable, message: "delete the call: each operator returns an 'Observable'")
    public func eraseToAnyPublisher() -> Observable { self }

    /// Unavailable: use the static `zip`.
    @available(*, unavailable, message: "write 'Observable.zip(one, other)'")
    public func zip<T>(_ other: Observable<T, Failure>) -> Observable<(Element, T), Failure> { .never() }

    /// Unavailable: use the static `combineLatest`.
    @available(*, unavailable, message: "write 'Observable.combineLatest(one, other)'")
    public func combineLatest<T>(
        _ other: Observable<T, Failure>
    ) -> Observable<(Element, T), Failure> {
        .never()
    }

    /// Unavailable: use ``skip(_:)``.
    @available(*, unavailable, renamed: "skip(_:)")
    public func dropFirst(_ count: Int = 1) -> Observable { skip(count) }

    /// Unavailable: use ``take(_:)``.
    @available(*, unavailable, renamed: "take(_:)")
    public func prefix(_ count: Int) -> Observable { take(count) }

    /// Unavailable: use ``take(_:)`` for a stream, and `value()` to wait for the value.
    @available(*, unavailable, message: "write 'take(1)', or 'try await value()' to wait for the value")
    public func first() -> Observable { take(1) }
}

extension ObservableConvertible {
    /// Unavailable: use `distinctUntilChanged`.
    @available(*, unavailable, renamed: "distinctUntilChanged()")
    public func removeDuplicates() -> Observable<Element, Failure> { observable }

    /// Unavailable: use `debounce`, whose clock is that of the stream, or another given as `on:`.
    @available(
        *, unavailable, message: "write 'debounce(_:)'; the clock is the stream's own, or given by 'on:'"
    )
    public func debounce(for pause: Duration, scheduler: some Any) -> Observable<Element, Failure> {
        observable
    }

    /// Unavailable: use `observe(on:)`, or a subscription on an actor.
    @available(
        *, unavailable,
        message:
            "write 'observe(on: ActorScheduler.main)', or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
    )
    public func receive(on scheduler: some Any) -> Observable<Element, Failure> { observable }
}

extension MutableProperty {
    /// Unavailable: set ``value``.
    @available(*, unavailable, message: "set 'value', or change it by 'update(_:)'")
    public func send(_ value: Value) { self.value = value }
}
