extension Observable {
    /// The values that arrive within `limit` of the subscription; then the source is stopped and the stream
    /// ends.
    ///
    /// ```
    ///                        --1--2--3--4--|
    /// take(for: .seconds(9))
    ///                        --1--2--3|
    /// ```
    ///
    /// - Parameter scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    @inlinable
    public func take(for limit: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return take(until: Observable<Void, Never>.timer(limit, on: clock))
    }
}
