/// When a shared stream forgets its run, so that the next subscriber starts a new one.
public struct ShareReset: OptionSet, Sendable {
    /// The bits.
    public var rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the last subscriber has left; the source is cancelled. Without it the source runs on.
    public static let unused = ShareReset(rawValue: 1)
    /// When the source has ended well. Without it later subscribers get the replay and the end.
    public static let finished = ShareReset(rawValue: 2)
    /// When the source has failed. Without it later subscribers get the replay and the error.
    public static let failed = ShareReset(rawValue: 4)
    /// In all three cases.
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
    /// The first subscriber starts it. Replayed and live values come in order, without duplicates or gaps.
    ///
    /// A paused subscriber does not block the others: the others get their values, and its own wait for it. The source
    /// is paused while all of its subscribers are, and where `policy` says so.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten, at once. Default: always. To forget it later:
    ///     ``share(replay:reset:keepingAlive:on:buffering:countingDropped:)``,
    ///     ``share(replay:reset:buffering:countingDropped:when:)``.
    ///   - policy: how many values may wait for one subscriber that is paused, or slower than the source. Default: when
    ///     256 wait for any of them the source is paused, until they are down to 64. With
    ///     ``BufferPolicy/fail(above:with:)`` the subscriber that falls behind fails, and the others continue.
    ///   - droppedCount: counts up with each value that `policy` has no room for. Default: not counted.
    @inlinable
    public func share(
        replay: Int = 0, reset: ShareReset = .always,
        buffering policy: BufferPolicy<Failure> = .suspend(high: 256, low: 64),
        countingDropped droppedCount: State<Int>? = nil
    ) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in
            shared.join(observer, policy, droppedCount)
        }
    }
}
