/// The use of the cache by one request, with the names and meanings of fetch's `cache`
/// (<https://fetch.spec.whatwg.org/#concept-request-cache-mode>). Has no effect with the policy
/// ``CachePolicy/never``.
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
