/// The limits of concurrent requests and of their rate.
public struct RequestLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests; at least 1. `nil`: no limit.
    public var concurrency: Int?
    /// The rate at which requests may begin. `nil`: no limit.
    public var rate: RequestRate?

    /// Creates limits.
    public init(concurrency: Int? = nil, rate: RequestRate? = nil) {
        self.concurrency = concurrency
        self.rate = rate
    }

    var isNone: Bool { concurrency == nil && rate == nil }
}
