extension Observable {
    /// The values that come within `limit` of the subscription; then the source is stopped and the stream
    /// ends.
    ///
    /// ```
    ///                        --1--2--3--4--|
    /// take(for: .seconds(9))
    ///                        --1--2--3|
    /// ```
    ///
    /// - Parameter scheduler: keeps the time. Default: the stream's own, else a clock of the library's.
    @inlinable
    public func take(for limit: Duration, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return take(until: Observable<Void, Never>.timer(limit, on: clock))
    }
}
