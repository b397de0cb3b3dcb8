/// The place and time of work: one serial context with a clock.
///
/// Work on one scheduler runs one piece at a time, in the order in which it becomes due. Streams use a
/// scheduler for two purposes: ``Observable/observe(on:buffering:countingDropped:)`` delivers on it, and
/// operators that measure time (``Observable/delay(_:on:)``, ``Observable/timeout(_:until:on:error:)`` …) use
/// its clock, so that under a virtual scheduler hours pass in microseconds.
public protocol Scheduler: AnyObject, Sendable {
    /// Monotonic time since an origin that the scheduler chooses.
    var now: Duration { get }

    /// Whether this scheduler is currently running the caller.
    var isCurrent: Bool { get }

    /// Runs `work` as soon as possible, after everything scheduled before it, and not inside this call unless
    /// the scheduler has ended.
    ///
    /// Thread-safe.
    func schedule(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` once, `delay` from now. A delay of zero or less is due at once, but still not inside this
    /// call.
    ///
    /// Thread-safe. Cancelling the result drops the work if it has not begun.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable
}
