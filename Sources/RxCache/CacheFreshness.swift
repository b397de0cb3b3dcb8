public import FoundationEssentials
package import HTTPTypes
package import RxHTTP

/// How long a stored response may be used, and on which conditions: read once from its fields, on arrival.
///
/// All times are in seconds.
public struct CacheFreshness: Hashable, Sendable, Codable {
    // What follows from it for a request is `verdict(for:at:)` in CacheVerdict.swift. The names of the properties are
    // stored; see the keys of ``CacheEntry/Metadata``.

    /// The time of arrival, or of the latest revalidation with a 304.
    public var date: Date
    /// The age at that time (`corrected_initial_age`, RFC 9111 §4.2.3).
    public var initialAge: TimeInterval
    /// The age up to which the response is fresh (RFC 9111 §4.2.1).
    public var lifetime: TimeInterval
    /// For how long after ``lifetime`` it may be used while it is being renewed (RFC 5861 §3).
    public var staleWhileRevalidate: TimeInterval
    /// For how long after ``lifetime`` it may be used if renewing fails (RFC 5861 §4).
    public var staleIfError: TimeInterval
    /// Whether each use requires revalidation (`no-cache`, RFC 9111 §5.2.2.4).
    public var alwaysRevalidates: Bool
    /// Whether the response must not be used once it is stale (`must-revalidate`, RFC 9111 §5.2.2.2).
    public var neverStale: Bool

    /// Creates a value of which only the lifetime matters by default.
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

extension CacheFreshness {
    /// The freshness that a server gives a response (RFC 9111 §4.2).
    ///
    /// - Parameters:
    ///   - head: the head as stored.
    ///   - arrived: the head that arrived now, whose date and age count: of the response itself, or of the 304 that
    ///     revalidated it.
    ///   - url: the URL of the request.
    ///   - asked: when the request was sent.
    ///   - now: when the response arrived.
    package init(_ head: ResponseHead, arrived: ResponseHead, url: String, asked: Date, now: Date) {
        let directives = CacheControl(head[.cacheControl])
        // RFC 9110 §6.6.1: without a date a response has the date of its arrival.
        let date = arrived.date(.date, now: now) ?? now
        self.init(
            date: now, initialAge: Self.initialAge(arrived, date: date, asked: asked, now: now),
            lifetime: Self.lifetime(head, directives, date: date, url: url),
            staleWhileRevalidate: directives.seconds("stale-while-revalidate") ?? 0,
            staleIfError: directives.seconds("stale-if-error") ?? 0,
            alwaysRevalidates: directives.has("no-cache") && directives.argument("no-cache") == nil,
            neverStale: directives.has("must-revalidate"))
    }

    /// RFC 9111 §4.2.3.
    private static func initialAge(
        _ head: ResponseHead, date: Date, asked: Date, now: Date
    ) -> TimeInterval {
        let apparentAge = max(0, now.timeIntervalSince(date))
        // RFC 9111 §5.1: the first of several counts, and an invalid number is ignored.
        let told = head[.age]?.cut(at: ",").before
        let ageValue = told.flatMap { TimeInterval(deltaSeconds: String($0.trimmingBlanks())) } ?? 0
        return max(apparentAge, ageValue + max(0, now.timeIntervalSince(asked)))
    }

    /// RFC 9111 §4.2.1, for a private cache.
    private static func lifetime(
        _ head: ResponseHead, _ directives: CacheControl, date: Date, url: String
    ) -> TimeInterval {
        if let maxAge = directives.seconds("max-age") { return maxAge }
        if head[.expires] != nil {
            // RFC 9111 §5.3: an invalid date, "0" above all, is in the past.
            return max(0, head.date(.expires, now: date)?.timeIntervalSince(date) ?? 0)
        }
        guard head.status.isHeuristicallyCacheable || directives.has("public"), !url.contains("?"),
            let modified = head.date(.lastModified, now: date)
        else { return 0 }
        return max(0, date.timeIntervalSince(modified)) * 0.1
    }
}

extension ResponseHead {
    /// The time in a field, with names in any case (RFC 9111 §4.2).
    ///
    /// - Parameter now: the time that years of two digits are near to.
    fileprivate func date(_ name: HTTPField.Name, now: Date) -> Date? {
        self[name].flatMap { Date(httpDate: $0, now: now, ignoresCase: true) }
    }
}

extension HTTPResponse.Status {
    /// RFC 9110 §15.1, without 206: partial responses are not stored.
    package var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }
}
