/// The history of a retry in one subscription.
public struct RetryHistory: Sendable {
    /// How many attempts have been made after the first.
    public var count: Int
    /// How long the last of them was waited for; zero before the first retry.
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
