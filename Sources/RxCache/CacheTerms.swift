public import FoundationEssentials

/// How long a stored response may be used, and on which conditions: read once from its fields, on arrival.
///
/// All times are in seconds.
public struct CacheTerms: Hashable, Sendable, Codable {
    /// The time of arrival, or of the latest confirmation by a 304.
    public var date: Date
    /// The age at that time (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: TimeInterval
    /// The age up to which the response is fresh (RFC 9111 §4.2.1).
    public var lifetime: TimeInterval
    /// For how long after that it may be used while it is being renewed (RFC 5861 §3).
    public var staleWhileRevalidate: TimeInterval
    /// For how long after that it may be used if renewing fails (RFC 5861 §4).
    public var staleIfError: TimeInterval
    /// Whether the server must confirm each use (`no-cache`, RFC 9111 §5.2.2.4).
    public var alwaysRevalidates: Bool
    /// Whether the response must not be used once it is stale (`must-revalidate`, RFC 9111 §5.2.2.2).
    public var neverStale: Bool

    /// Creates terms; by default only the lifetime matters.
    public init(
        date: Date, initialAge: TimeInterval = 0, lifetime: TimeInterval,
        staleWhileRevalidate: TimeInterval = 0, staleIfError: TimeInterval = 0,
        alwaysRevalidates: Bool = false, neverStale: Bool = false
    ) {
        self.date = date
        self.initialAge = initialAge
        self.lifetime = lifetime
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.alwaysRevalidates = alwaysRevalidates
        self.neverStale = neverStale
    }

    /// The age of the response (RFC 9111 §4.2.3); infinite if the clock has been set back to before its
    /// arrival, because the age is then unknown.
    public func age(at now: Date) -> TimeInterval {
        let resident = now.timeIntervalSince(date)
        return resident < 0 ? .infinity : initialAge + resident
    }
}
