/// The occasions on which a shared stream forgets its run, so that the next subscriber starts a new one.
public struct ShareReset: OptionSet, Sendable {
    /// The bits.
    public var rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the last subscriber has left; the source is cancelled. Without it the source continues.
    public static let unused = ShareReset(rawValue: 1)
    /// When the source has finished. Without it later subscribers get the replay and the end.
    public static let finished = ShareReset(rawValue: 2)
    /// When the source has failed. Without it later subscribers get the replay and the error.
    public static let failed = ShareReset(rawValue: 4)
    /// On all three occasions.
    public static let always: ShareReset = [.unused, .finished, .failed]
}

extension Observable {
    /// One run of the stream for all subscribers while it lasts.
    ///
    /// ```
    ///         --1--2--3--|        runs once
    /// share()
    ///         --1--2--3--|
    ///            ^-2--3--|        subscribed later
    /// share(replay: 1)
    ///            1-2--3--|        the same, with the value before at once
    /// ```
    ///
    /// The first subscriber starts the run. Replayed and live values arrive in order, without duplicates or
    /// gaps.
    ///
    /// A paused subscriber does not block the others: they get their values, and the paused subscriber's
    /// values wait. The source is paused while all of its subscribers are, and where `policy` requires it.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten, immediately. Default: always. To forget it later, use
    ///     ``share(replay:reset:keepingAlive:on:buffering:countingDropped:)`` or
    ///     ``share(replay:reset:buffering:countingDropped:when:)``.
    ///   - policy: how many values may wait for one subscriber that is paused, or slower than the source.
    ///     Default: the source is paused when 256 wait for any subscriber, until 64 are left. With
    ///     ``BufferPolicy/fail(above:with:)`` the subscriber that falls behind fails, and the others
    ///     continue.
    ///   - droppedCount: counts up with each value that `policy` drops. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: MutableProperty<Int>? = nil
    ) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}
