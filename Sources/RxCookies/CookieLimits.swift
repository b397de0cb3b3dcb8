public import FoundationEssentials

/// The limits of a ``CookieJar``. Over a limit, expired cookies are evicted first, then those without
/// `Secure`, then the least recently used (RFC 6265bis §5.7).
public struct CookieLimits: Sendable, Equatable {
    /// The maximum number of cookies per domain. Default 180.
    public var perDomain: Int
    /// The maximum number of cookies in total. Default 3,000.
    public var total: Int
    /// The maximum lifetime of a cookie, in seconds; longer lifetimes are cut. Default 400 days (RFC 6265bis
    /// §5.5).
    public var lifetime: TimeInterval

    /// Creates limits.
    public init(perDomain: Int = 180, total: Int = 3000, lifetime: TimeInterval = 400 * 86400) {
        self.perDomain = perDomain
        self.total = total
        self.lifetime = lifetime
    }
}
