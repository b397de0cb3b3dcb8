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
    /// Uses a stored response only after the server has confirmed it.
    case noCache = "no-cache"
    /// Uses a stored response of any age; without one, asks the server.
    case forceCache = "force-cache"
    /// Uses a stored response of any age; without one, the response is a 504.
    case onlyIfCached = "only-if-cached"
}
