extension Observable {
    /// One run of the stream for all subscribers, which outlives its last subscriber for a time.
    ///
    /// ```
    ///                                   --1--2--3--|        runs once, joined from 0 to 3 ms
    /// share(keepingAlive: 4 ms)
    ///                                   --1--
    ///                                        -2--3--|       joined after 4 ms: the same run
    /// ```
    ///
    /// ```swift
    /// let position = sensor.share(replay: 1, keepingAlive: .seconds(5))
    /// ```
    ///
    /// When the last subscriber has left, the source continues for `time`. It is then cancelled and its run
    /// forgotten, unless a subscriber has joined meanwhile. A run that has ended is forgotten at once, as
    /// with ``share(replay:reset:buffering:countingDropped:)``. A source that sends at once and without end
    /// keeps its thread until the time is up.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten. Without ``ShareReset/unused`` the source continues, and `time`
    ///     has no effect. Default: always.
    ///   - time: how long a run without subscribers is kept.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - policy: how many values may wait for one subscriber; see
    ///     ``share(replay:reset:buffering:countingDropped:)``.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always, keepingAlive time: Duration,
        on scheduler: (any Scheduler)? = nil,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return share(
            replay: replay, reset: reset, buffering: policy, countingDropped: droppedCount,
            when: { end in end == nil ? Observable<Void, Never>.timer(time, on: clock) : .just(()) })
    }
}
