/// Why virtual time stopped before it was where it should go.
public enum VirtualTimeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// This number of pieces of work has run in one call, and there is still more: something schedules itself again
    /// without end.
    case endless(steps: Int, now: Duration)
    /// Time is being advanced already: by the work that asked, or by another thread.
    case alreadyRunning

    /// The problem, and how to solve it.
    public var description: String {
        switch self {
        case .endless(let steps, let now):
            """
            \(steps) pieces of work ran without an end; virtual time is \(now). \
            A timer that repeats needs advance(by:) instead of run(), or a higher stepLimit.
            """
        case .alreadyRunning:
            "virtual time is being advanced already; work on the scheduler, and other threads, cannot"
        }
    }
}
