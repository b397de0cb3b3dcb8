// Names of RxSwift, for which the compiler suggests those of RxLite. It refuses every call, so that the bodies only
// need the right type. It does not check that the suggested names exist; some are in Tests/SurfaceTests/Programs.

/// Unavailable: use ``SubscriptionBag``.
@available(*, unavailable, renamed: "SubscriptionBag")
public typealias DisposeBag = SubscriptionBag

/// Unavailable: use ``Signal``.
@available(*, unavailable, renamed: "Signal")
public typealias PublishSubject<Element: Sendable> = Signal<Element>

/// Unavailable: use ``Signal``.
@available(*, unavailable, renamed: "Signal")
public typealias PublishRelay<Element: Sendable> = Signal<Element>

/// Unavailable: use ``MutableProperty``.
@available(*, unavailable, renamed: "MutableProperty")
public typealias BehaviorSubject<Element: Sendable> = MutableProperty<Element>

/// Unavailable: use ``MutableProperty``.
@available(*, unavailable, renamed: "MutableProperty")
public typealias BehaviorRelay<Element: Sendable> = MutableProperty<Element>

/// Unavailable: use ``ActorScheduler/main``.
@available(*, unavailable, message: "use 'ActorScheduler.main'")
public enum MainScheduler {
    /// Unavailable: use ``ActorScheduler/main``.
    public static var instance: any Scheduler { ActorScheduler.main }
}

extension Observable {
    /// Unavailable: an error is a failure here, and the completion is the finish.
    @available(*, unavailable, renamed: "subscribe(onNext:onFailure:onFinish:)")
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void, onError: @escaping @Sendable (Failure) -> Void,
        onCompleted: @escaping @Sendable () -> Void = {}
    ) -> Subscription {
        subscribe(onNext: onNext, onFailure: onError, onFinish: onCompleted)
    }

    /// Unavailable: the completion is the finish here.
    @available(*, unavailable, renamed: "subscribe(onNext:onFinish:)")
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void, onCompleted: @escaping @Sendable () -> Void
    ) -> Subscription {
        subscribe(onNext: onNext, onFinish: onCompleted)
    }

    /// Unavailable: use ``replaceError(with:)``.
    @available(*, unavailable, renamed: "replaceError(with:)")
    public func catchAndReturn(_ value: Element) -> Observable<Element, Never> { replaceError(with: value) }

    /// Unavailable: use ``replaceError(with:)``.
    @available(*, unavailable, renamed: "replaceError(with:)")
    public func catchErrorJustReturn(_ value: Element) -> Observable<Element, Never> {
        replaceError(with: value)
    }

    /// Unavailable: use ``handleEvents(onSubscribe:onNext:onEnd:onCancel:)``.
    @available(*, unavailable, renamed: "handleEvents(onNext:)")
    public func `do`(onNext: @escaping @Sendable (Element) -> Void) -> Observable {
        handleEvents(onNext: onNext)
    }

    /// Unavailable: use ``collect()``.
    @available(*, unavailable, renamed: "collect()")
    public func toArray() -> Observable<[Element], Failure> { collect() }

    /// Unavailable: use ``fail(_:)``.
    @available(*, unavailable, renamed: "fail(_:)")
    public static func error(_ error: Failure) -> Observable { fail(error) }
}

extension Observable where Failure == Never {
    /// Unavailable: use `sequence`.
    @available(*, unavailable, message: "write 'Observable.sequence([…])'")
    public static func of(_ values: Element...) -> Observable { sequence(values) }

    /// Unavailable: use `sequence`.
    @available(*, unavailable, renamed: "sequence(_:)")
    public static func from(_ values: [Element]) -> Observable { sequence(values) }
}

extension ObservableConvertible {
    /// Unavailable: use ``ObservableConvertible/observable``.
    @available(*, unavailable, renamed: "observable")
    public func asObservable() -> Observable<Element, Failure> { observable }

    /// Unavailable: use `flatMap` with ``FlattenStrategy/latest``.
    @available(*, unavailable, message: "write 'flatMap(.latest) { … }'")
    public func flatMapLatest<T, E>(
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        .never()
    }

    /// Unavailable: use `flatMap` with ``FlattenStrategy/first``.
    @available(*, unavailable, message: "write 'flatMap(.first) { … }'")
    public func flatMapFirst<T, E>(
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        .never()
    }

    /// Unavailable: use `flatMap` with ``FlattenStrategy/concat``.
    @available(*, unavailable, message: "write 'flatMap(.concat) { … }'")
    public func concatMap<T, E>(
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        .never()
    }

    /// Unavailable: use `observe(on:)`, or a subscription on an actor.
    @available(
        *, unavailable,
        message:
            "write 'observe(on: ActorScheduler.main)', or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
    )
    public func observeOn(_ scheduler: some Any) -> Observable<Element, Failure> { observable }

    /// Unavailable: the clock is that of the stream, or another given as `on:`.
    @available(
        *, unavailable,
        message: "the clock is the stream's own: leave out 'scheduler', or name a clock by 'on:'"
    )
    public func debounce(_ pause: Duration, scheduler: some Any) -> Observable<Element, Failure> {
        observable
    }

    /// Unavailable: the clock is that of the stream, or another given as `on:`.
    @available(
        *, unavailable,
        message: "the clock is the stream's own: leave out 'scheduler', or name a clock by 'on:'"
    )
    public func throttle(_ window: Duration, scheduler: some Any) -> Observable<Element, Failure> {
        observable
    }
}

extension Subscription {
    /// Unavailable: use ``store(in:)``.
    @available(*, unavailable, renamed: "store(in:)")
    public func disposed(by bag: SubscriptionBag) { store(in: bag) }

    /// Unavailable: use ``cancel()``.
    @available(*, unavailable, renamed: "cancel()")
    public func dispose() { cancel() }
}

extension Signal {
    /// Unavailable: use ``send(_:)``.
    @available(*, unavailable, renamed: "send(_:)")
    public func onNext(_ value: Element) { send(value) }

    /// Unavailable: use ``send(_:)``.
    @available(*, unavailable, renamed: "send(_:)")
    public func accept(_ value: Element) { send(value) }
}

extension MutableProperty {
    /// Unavailable: the value has no label.
    @available(*, unavailable, renamed: "init(_:)")
    public convenience init(value: Value) { self.init(value) }

    /// Unavailable: set ``value``.
    @available(*, unavailable, message: "set 'value', or change it by 'update(_:)'")
    public func onNext(_ value: Value) { self.value = value }

    /// Unavailable: set ``value``.
    @available(*, unavailable, message: "set 'value', or change it by 'update(_:)'")
    public func accept(_ value: Value) { self.value = value }
}

extension Emitter {
    /// Unavailable: use ``send(_:)``.
    @available(*, unavailable, renamed: "send(_:)")
    public func onNext(_ value: Element) { send(value) }

    /// Unavailable: use ``fail(_:)``.
    @available(*, unavailable, renamed: "fail(_:)")
    public func onError(_ error: Failure) { fail(error) }

    /// Unavailable: use ``finish()``.
    @available(*, unavailable, renamed: "finish()")
    public func onCompleted() { finish() }
}
