/// The history of a retry in one subscription.
public struct RetryHistory: Sendable {
    /// The number of attempts after the first.
    public var count: Int
    /// The wait before the last of these attempts; zero before the first retry.
    public var lastDelay: Duration
    /// The clock of the waits.
    public var clock: any Scheduler

    /// Creates a history.
    public init(
        count: Int = 0, lastDelay: Duration = .zero, clock: any Scheduler = ActorScheduler.shared
    ) {
        self.count = count
        self.lastDelay = lastDelay
        self.clock = clock
    }
}
