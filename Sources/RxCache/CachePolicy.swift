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
