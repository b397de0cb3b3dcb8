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
    /// Equivalent to `observe(on: ActorScheduler.main)` followed by a subscription. After a cancel on the
    /// main actor, no callback runs.
    ///
    /// - Parameters:
    ///   - actor: the main actor, on which the callbacks run.
    ///   - onNext: receives each value.
    ///   - onFailure: receives the error, if the stream fails. Default `nil`: a failure is an ``UnhandledFailure``.
    ///   - onFinish: called if the stream finishes.
    ///   - fileID: the source file that an ``UnhandledFailure`` names. Default: the caller's.
    ///   - line: the line that an ``UnhandledFailure`` names. Default: the caller's.
    @discardableResult
    public func subscribe(
        isolatedTo actor: MainActor.Type,
        onNext: @escaping @MainActor (Element) -> Void,
        onFailure: (@MainActor (Failure) -> Void)? = nil,
        onFinish: @escaping @MainActor () -> Void = {},
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
        let onFailure = onFailure.map { onFailure in
            { @Sendable error in MainActor.assumeIsolated { onFailure(error) } }
        }
        return observe(on: ActorScheduler.main).subscribe(
            onNext: { value in MainActor.assumeIsolated { onNext(value) } }, onFailure: onFailure,
            onFinish: { MainActor.assumeIsolated { onFinish() } }, fileID: fileID, line: line)
    }

    /// Starts the stream, with its callbacks on `actor`, which they receive as their first argument.
    ///
    /// ```swift
    /// goods.subscribe(isolatedTo: cart) { cart, goods in cart.add(goods) }
    /// ```
    ///
    /// The stream retains the actor until it has ended or been cancelled. For the main actor use
    /// `MainActor.self`.
    ///
    /// - Parameters:
    ///   - actor: the actor on which the callbacks run.
    ///   - onNext: receives each value.
    ///   - onFailure: receives the error, if the stream fails. Default `nil`: a failure is an ``UnhandledFailure``.
    ///   - onFinish: called if the stream finishes.
    ///   - fileID: the source file that an ``UnhandledFailure`` names. Default: the caller's.
    ///   - line: the line that an ``UnhandledFailure`` names. Default: the caller's.
    @discardableResult
    public func subscribe<Place: Actor>(
        isolatedTo actor: Place,
        onNext: @escaping @Sendable (isolated Place, Element) -> Void,
        onFailure: (@Sendable (isolated Place, Failure) -> Void)? = nil,
        onFinish: @escaping @Sendable (isolated Place) -> Void = { _ in },
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
        let onFailure = onFailure.map { onFailure in
            { @Sendable error in actor.assumeIsolated { onFailure($0, error) } }
        }
        return observe(on: ActorScheduler(actor)).subscribe(
            onNext: { value in actor.assumeIsolated { onNext($0, value) } }, onFailure: onFailure,
            onFinish: { actor.assumeIsolated { onFinish($0) } }, fileID: fileID, line: line)
    }
}
