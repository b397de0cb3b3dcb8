/// The reason why virtual time stopped early.
public enum VirtualTimeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// This many pieces of work ran in one call, and more are waiting: something schedules itself again
    /// without end.
    case endless(steps: Int, now: Duration)
    /// Time is already being advanced: by the work that asked, or by another thread.
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
            "virtual time is already being advanced; work on the scheduler and other threads cannot advance it"
        }
    }
}
