extension Observable {
    /// The same events, delivered on `scheduler`: everything from here on down, user callbacks and
    /// teardown included, runs there.
    ///
    /// ```
    ///                       -1-2-3-|
    /// observe(on: elsewhere)
    ///                       --1-2-3-|     on elsewhere, as soon as it has time
    /// ```
    ///
    /// Values that arrive faster than they can be delivered wait in order. A view that shows only what is current takes
    /// `.latest(1)`.
    ///
    /// - Parameters:
    ///   - scheduler: delivers.
    ///   - policy: the number of values that may wait, and the treatment of more. Default: when 256 wait the source is
    ///     paused, until 64 are left.
    ///   - droppedCount: counts up with each value that `policy` has no room for. Default: not counted.
    @inlinable
    public func observe(
        on scheduler: any Scheduler, buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: State<Int>? = nil
    ) -> Observable {
        let upstream = self
        return Observable(scheduler: scheduler) { observer in
            Relay(upstream, to: observer, policy, droppedCount).start()
        }
    }
}
