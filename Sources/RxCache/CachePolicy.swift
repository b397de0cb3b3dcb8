package import FoundationEssentials
package import HTTPTypes
package import RxHTTP

/// The responses that are stored and reused. Failures are never stored: no error status, no failed envelope,
/// and no response that could not be decoded.
public enum CachePolicy: Sendable, Hashable {
    /// No responses: each subscription sends a request.
    case never
    /// Responses to GET that the server lets a private cache store, for as long as it allows (RFC 9111).
    case http
    /// Responses to GET, for this time, regardless of the server's fields. The app decides that this is safe.
    case time(Duration)
    /// Responses to POST, for this time, found by URL and parameters in any order. Meant for searches and the
    /// like, which change nothing: a request with a cached response does not reach the server.
    case post(Duration)
}

/// The use of the cache by one request, with the names and meanings of fetch's `cache`
/// (<https://fetch.spec.whatwg.org/#concept-request-cache-mode>). Has no effect on requests to which the policy does not
/// apply.
///
/// The directives of the request's `Cache-Control` (RFC 9111 §5.2.1) count in every mode: the mode decides which stored
/// responses may be used, and a directive can only exclude some of them, or permit stale ones in the mode
/// ``standard``.
public enum CacheMode: String, Sendable, Hashable, Codable {
    /// Follows the policy.
    case standard = "default"
    /// Bypasses the cache: the response is neither taken from it nor stored.
    case noStore = "no-store"
    /// Asks the server, and stores the response.
    case reload
    /// Uses a stored response only after revalidation.
    case noCache = "no-cache"
    /// Uses a stored response of any age; without one, asks the server.
    case forceCache = "force-cache"
    /// Uses a stored response of any age; without one, the response is a 504.
    case onlyIfCached = "only-if-cached"
}

/// The counts of a cache since its creation, and its contents.
public struct CacheStatistics: Sendable, Hashable {
    /// Requests with a fresh stored response, which were not sent.
    public var hits = 0
    /// Requests without a stored response.
    public var misses = 0
    /// Stored responses that the server revalidated with a 304.
    public var revalidated = 0
    /// Requests with a stale stored response.
    public var staleServed = 0
    /// Requests that joined an equal request in flight.
    public var joined = 0
    /// Responses that were passed to the store.
    public var stored = 0
    /// Operations of the store that failed.
    public var storeFailures = 0
    /// The contents of the store, and the number of evicted responses.
    public var usage = CacheUsage()

    /// Creates statistics without any counts.
    public init() {}
}

/// The use of the cache that a request allows: its mode, and the directives of its `Cache-Control` (RFC 9111
/// §5.2.1). Where the two differ, the stricter one counts.
package struct CacheDemand: Sendable, Equatable {
    /// Whether a stored response may be used.
    package var readsStore = true
    /// Whether the response may be stored.
    package var writesStore = true
    /// Whether a stored response of any age may be used, within ``maxAge``, ``maxStale`` and ``minFresh``.
    package var acceptsAnyAge = false
    /// Whether a stored response requires revalidation.
    package var mustConfirm = false
    /// Whether the server must not be asked.
    package var onlyIfCached = false
    /// The greatest age of a stored response, in seconds.
    package var maxAge: TimeInterval?
    /// For how many seconds beyond its freshness a stored response may be used; `nil` if the request does not
    /// say so.
    package var maxStale: TimeInterval?
    /// For how many more seconds a stored response must be fresh.
    package var minFresh: TimeInterval = 0
    /// For how many seconds beyond its freshness a stored response may be used if the server fails (RFC 5861
    /// §4).
    package var staleIfError: TimeInterval = 0

    /// Reads a request. A request with conditions or a range bypasses the cache, because its response is not
    /// complete for other requests. So does a request whose body is not decoded, because stored bodies are
    /// decoded.
    package init(_ mode: CacheMode, _ request: Request) {
        let fields = request.headerFields
        switch mode {
        case .standard: break
        case .noStore: (readsStore, writesStore) = (false, false)
        case .reload: readsStore = false
        case .noCache: mustConfirm = true
        case .forceCache: acceptsAnyAge = true
        case .onlyIfCached: (acceptsAnyAge, onlyIfCached) = (true, true)
        }
        if !request.decodesContent { (readsStore, writesStore) = (false, false) }
        guard fields.contains(where: { Self.considered.contains($0.name) }) else { return }
        read(fields)
        if Self.conditions.contains(where: { fields[$0] != nil }) {
            (readsStore, writesStore) = (false, false)
        }
    }

    private static let conditions: [HTTPField.Name] = [
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
    ]
    /// All fields that say anything to a cache: most requests have none.
    private static let considered = conditions + [.cacheControl, .pragma]

    private mutating func read(_ fields: HTTPFields) {
        guard let field = fields[.cacheControl] else {
            // RFC 9111 §5.4.
            if let pragma = fields[.pragma], CacheControl(pragma).has("no-cache") { mustConfirm = true }
            return
        }
        let directives = CacheControl(field)
        if directives.has("no-store") { (readsStore, writesStore) = (false, false) }
        if directives.has("no-cache") { mustConfirm = true }
        if directives.has("only-if-cached") { onlyIfCached = true }
        maxAge = directives.seconds("max-age")
        minFresh = directives.seconds("min-fresh") ?? 0
        staleIfError = directives.seconds("stale-if-error") ?? 0
        if directives.has("max-stale") {
            // Without a number any age is accepted; with an invalid one, none beyond freshness.
            maxStale =
                directives.argument("max-stale") == nil
                ? .infinity : directives.seconds("max-stale") ?? 0
        }
    }

    /// Adds the fields that tell other caches on the way about the mode, as fetch does.
    package func tell(_ request: inout Request, _ mode: CacheMode) {
        guard request.headerFields[.cacheControl] == nil else { return }
        switch mode {
        case .noStore, .reload:
            request.headerFields[.cacheControl] = "no-cache"
            if request.headerFields[.pragma] == nil { request.headerFields[.pragma] = "no-cache" }
        case .noCache: request.headerFields[.cacheControl] = "max-age=0"
        case .standard, .forceCache, .onlyIfCached: break
        }
    }
}

extension HTTPField.Name {
    package static let pragma = HTTPField.Name("Pragma")!
}
