extension Observable {
    /// Starts the stream, with its callbacks on the main actor.
    ///
    /// ```swift
    /// client.get("/goods").decode([Goods].self).subscribe(
    ///     isolatedTo: MainActor.self,
    ///     onNext: { goods in screen.show(goods) },
    ///     onFailure: { error in screen.show(error) })
    /// ```
    ///
    /// It is `observe(on: ActorScheduler.main)` and a subscription in one. Cancelled on the main actor, no
    /// callback runs after that.
    ///
    /// - Parameters:
    ///   - actor: says where the callbacks run.
    ///   - onNext: takes each value.
    ///   - onFailure: takes the error, if the stream ends with one.
    ///   - onFinish: called if the stream ends well.
    @discardableResult
    public func subscribe(
        isolatedTo actor: MainActor.Type,
        onNext: @escaping @MainActor (Element) -> Void,
        onFailure: @escaping @MainActor (Failure) -> Void = { _ in },
        onFinish: @escaping @MainActor () -> Void = {}
    ) -> Subscription {
        observe(on: ActorScheduler.main).subscribe(
            onNext: { value in MainActor.assumeIsolated { onNext(value) } },
            onFailure: { error in MainActor.assumeIsolated { onFailure(error) } },
            onFinish: { MainActor.assumeIsolated { onFinish() } })
    }

    /// Starts the stream, with its callbacks on `actor`, which they get as their first argument.
    ///
    /// ```swift
    /// goods.subscribe(isolatedTo: cart) { cart, goods in cart.add(goods) }
    /// ```
    ///
    /// The stream keeps the actor alive until it has ended or was cancelled. For the main actor there is
    /// `MainActor.self`.
    ///
    /// - Parameters:
    ///   - actor: where the callbacks run.
    ///   - onNext: takes each value.
    ///   - onFailure: takes the error, if the stream ends with one.
    ///   - onFinish: called if the stream ends well.
    @discardableResult
    public func subscribe<Place: Actor>(
        isolatedTo actor: Place,
        onNext: @escaping @Sendable (isolated Place, Element) -> Void,
        onFailure: @escaping @Sendable (isolated Place, Failure) -> Void = { _, _ in },
        onFinish: @escaping @Sendable (isolated Place) -> Void = { _ in }
    ) -> Subscription {
        observe(on: ActorScheduler(actor)).subscribe(
            onNext: { value in actor.assumeIsolated { onNext($0, value) } },
            onFailure: { error in actor.assumeIsolated { onFailure($0, error) } },
            onFinish: { actor.assumeIsolated { onFinish($0) } })
    }
}
