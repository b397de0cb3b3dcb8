public import FoundationEssentials

/// How much a ``CookieJar`` keeps. Over a limit, expired cookies are evicted first, then those without `Secure`, then
/// the least recently used (RFC 6265bis §5.7).
public struct CookieLimits: Sendable, Equatable {
    /// The most cookies of one domain. Default 180.
    public var perDomain: Int
    /// The most cookies in all. Default 3,000.
    public var total: Int
    /// The longest lifetime of a cookie, in seconds; longer ones are cut. Default 400 days (RFC 6265bis §5.5).
    public var lifetime: TimeInterval

    /// Creates limits.
    public init(perDomain: Int = 180, total: Int = 3000, lifetime: TimeInterval = 400 * 86400) {
        self.perDomain = perDomain
        self.total = total
        self.lifetime = lifetime
    }
}
