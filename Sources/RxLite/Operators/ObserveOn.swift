extension Observable {
    /// The same events, delivered on `scheduler`: everything below, including user callbacks and teardown,
    /// runs there.
    ///
    /// ```
    ///                       -1-2-3-|
    /// observe(on: elsewhere)
    ///                       --1-2-3-|     on elsewhere, as soon as it has time
    /// ```
    ///
    /// Values that arrive faster than they can be delivered wait in order. A view that shows only the current
    /// value uses `.latest(1)`.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler that delivers.
    ///   - policy: the number of values that may wait, and the treatment of more. Default: the source is
    ///     paused when 256 wait, until 64 are left.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func observe(
        on scheduler: any Scheduler, buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, policy, droppedCount).start()
        }
    }
}
