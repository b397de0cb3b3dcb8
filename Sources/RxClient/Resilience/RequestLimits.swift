/// How many requests may run at a time, and how many may begin in a time.
public struct RequestLimits: Sendable, Hashable {
    /// The most that run at the same time; at least 1. `nil` is no limit.
    public var concurrency: Int?
    /// How many may begin. `nil` is no limit.
    public var rate: RequestRate?

    /// Creates limits.
    public init(concurrency: Int? = nil, rate: RequestRate? = nil) {
        self.concurrency = concurrency
        self.rate = rate
    }

    var isNone: Bool { concurrency == nil && rate == nil }
}
