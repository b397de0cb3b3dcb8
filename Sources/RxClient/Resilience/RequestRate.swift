/// How many requests may begin in a time: a token bucket, which fills steadily up to its burst, and of which each
/// request takes one token.
public struct RequestRate: Sendable, Hashable {
    /// How many tokens come in a second.
    public var perSecond: Double
    /// How many there are at most, and at first.
    public var burst: Int

    /// A number of requests per second.
    ///
    /// - Parameter burst: how many may begin at once after a pause. Default 1: evenly spaced.
    public static func perSecond(_ count: Double, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: count, burst: burst)
    }

    /// A number of requests in a time.
    public static func count(_ count: Int, per time: Duration, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: Double(count) / max(time / .seconds(1), 1e-9), burst: burst)
    }
}
