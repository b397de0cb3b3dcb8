/// Where and when work runs: one serial context with a clock.
///
/// Everything scheduled on one scheduler runs one piece at a time, in the order it became due. Streams use
/// a scheduler for two things: ``Observable/observe(on:)`` delivers on it, and operators with time
/// (``Observable/delay(_:on:)``, ``Observable/timeout(_:on:error:)`` …) read its clock, so that under a
/// virtual scheduler hours pass in microseconds.
public protocol Scheduler: AnyObject, Sendable {
    /// Monotonic time since an origin of the scheduler's own choice.
    var now: Duration { get }

    /// Whether the caller is being run by this scheduler right now.
    var isCurrent: Bool { get }

    /// Runs `work` as soon as possible, after everything scheduled before it, and not inside this call
    /// unless the scheduler has ended.
    ///
    /// May be called from any thread.
    func schedule(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` once, `delay` from now. A delay of zero or less is due at once, and still not inside
    /// this call.
    ///
    /// May be called from any thread. Cancelling what it returns drops the work if it has not begun.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable
}
