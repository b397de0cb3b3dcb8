/// The rate at which requests may begin: a token bucket, which fills steadily up to its burst. Each request
/// takes one token.
public struct RequestRate: Sendable, Hashable {
    /// The number of tokens added per second.
    public var perSecond: Double
    /// The capacity of the bucket, which starts full.
    public var burst: Int

    /// A number of requests per second.
    ///
    /// - Parameter burst: the number of requests that may begin at once after a pause. Default 1: evenly
    ///   spaced.
    public static func perSecond(_ count: Double, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: count, burst: burst)
    }

    /// A number of requests per length of time.
    public static func count(_ count: Int, per time: Duration, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: Double(count) / max(time / .seconds(1), 1e-9), burst: burst)
    }
}
