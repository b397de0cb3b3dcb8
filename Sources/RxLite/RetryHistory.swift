/// What a retry has done so far in one subscription.
public struct RetryHistory: Sendable, Equatable {
    /// How many attempts have been made after the first.
    public var count: Int
    /// How long the last of them was waited for; zero before the first retry.
    public var lastDelay: Duration

    /// Creates a history.
    public init(count: Int = 0, lastDelay: Duration = .zero) {
        self.count = count
        self.lastDelay = lastDelay
    }
}
