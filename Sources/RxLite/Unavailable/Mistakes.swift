// Overloads that do not compile, so that the compiler says how a call should read. It refuses every call, so that the
// bodies only need the right type. It does not check the names in the messages; Tests/SurfaceTests/Programs has some.

extension Observable {
    /// Unavailable: the streams fail with different types.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this stream and the inner one fail with different types: give both the same by 'mapError'"
    )
    public func flatMap<T, E>(
        _ strategy: FlattenStrategy = .merge,
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, Failure> {
        .never()
    }

    /// Unavailable: a closure that awaits belongs into `flatMap`.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "write 'flatMap { value in .async { await … } }' for a closure that awaits"
    )
    public func map<T: Sendable>(
        _ transform: @escaping @Sendable (Element) async -> T
    ) -> Observable<T, Failure> {
        .never()
    }

    /// Unavailable: a closure that returns a stream belongs into `flatMap`.
    @_disfavoredOverload
    @available(*, unavailable, message: "the closure returns a stream: write 'flatMap' in place of 'map'")
    public func map<T, E>(
        _ transform: @escaping @Sendable (Element) -> Observable<T, E>
    ) -> Observable<T, E> {
        .never()
    }

    /// Unavailable: a stream that can fail has to handle its failure before.
    @_disfavoredOverload
    @available(
        *, unavailable, message: "handle the failure first, such as by 'replaceError(with:)' or 'catch'"
    )
    @discardableResult
    public func bind(to property: MutableProperty<Element>) -> Subscription {
        subscribe { property.value = $0 }
    }

    /// Unavailable: use `subscribe(onNext:)`.
    @_disfavoredOverload
    @available(*, unavailable, renamed: "subscribe(onNext:)")
    @discardableResult
    public func bind(onNext: @escaping @Sendable (Element) -> Void) -> Subscription {
        subscribe(onNext: onNext)
    }
}

extension ObservableConvertible {
    /// Unavailable: the argument is no scheduler.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "a scheduler is 'ActorScheduler.main', 'ActorScheduler(actor)' or an event loop; or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
    )
    public func observe(on scheduler: some Any) -> Observable<Element, Failure> { observable }
}
