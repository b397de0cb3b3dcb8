public import FoundationEssentials

/// How much a ``CookieJar`` keeps. What is too much makes it forget expired cookies first, then those without
/// `Secure`, then the ones that have not been used for longest (RFC 6265bis §5.7).
public struct CookieLimits: Sendable, Equatable {
    /// The most cookies of one domain. Default 180.
    public var perDomain: Int
    /// The most cookies in all. Default 3,000.
    public var total: Int
    /// The longest life of a cookie, in seconds; what wants to live longer is cut. Default 400 days
    /// (RFC 6265bis §5.5).
    public var lifetime: TimeInterval

    /// Creates limits.
    public init(perDomain: Int = 180, total: Int = 3000, lifetime: TimeInterval = 400 * 86400) {
        self.perDomain = perDomain
        self.total = total
        self.lifetime = lifetime
    }
}
