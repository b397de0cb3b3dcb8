extension Observable {
    /// One run of the stream for all subscribers while it lasts, forgotten when another stream sends.
    ///
    /// ```
    ///                                       --1--2--3--4--|        runs once, joined from 0 to 3 ms
    /// share(when: { _ in ----x })
    ///                                       --1--                  the notice is due at 7 ms
    ///                                            -2--3--4--|       and withdrawn, because a subscriber joins before
    /// ```
    ///
    /// ```swift
    /// let prices = feed.share(replay: 1, reset: [.unused, .failed], when: { end in
    ///     end == nil ? background.observable : .just(())
    /// })
    /// ```
    ///
    /// When the last subscriber has left, or the source has ended, `notices` makes a stream whose first value
    /// forgets the run; if the source still runs, it is cancelled. A subscriber that joins a running source
    /// cancels that stream and thereby the reset; so does the end of the source, for which `notices` is
    /// called again. A subscriber that joins after the end gets the replay and the end until the notice
    /// arrives.
    ///
    /// If the stream of notices ends without a value, or never sends one, the run is never forgotten: a
    /// source without subscribers then runs to its end. Use `catch` to turn a stream that can fail into
    /// one that cannot.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when `notices` is called. In other cases the run is not forgotten. Default: always.
    ///   - policy: how many values may wait for one subscriber; see
    ///     ``share(replay:reset:buffering:countingDropped:)``.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    ///   - notices: called with the source's end, or with `nil` when the last subscriber has left before the
    ///     end, on the thread where that happens. A value that its stream sends at once resets before the end
    ///     is delivered.
    @inlinable
    public func share<Notice>(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil,
        when notices: @escaping @Sendable (Completion<Failure>?) -> Observable<Notice, Never>
    ) -> Observable {
        let shared = SharedRun(
            self, replay: replay, reset: reset, notices: { end in notices(end).map { _ in () } })
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}
