/// The use of the cache by one request, with the names and meanings of fetch's `cache`
/// (<https://fetch.spec.whatwg.org/#concept-request-cache-mode>). No effect with the policy ``CachePolicy/never``.
public enum CacheMode: String, Sendable, Hashable, Codable {
    /// As the policy says.
    case standard = "default"
    /// Past the cache: the response neither comes from it nor is stored.
    case noStore = "no-store"
    /// From the server, and then stored.
    case reload
    /// Stored responses are used after the server has confirmed them.
    case noCache = "no-cache"
    /// A stored response is used however old it is; else from the server.
    case forceCache = "force-cache"
    /// A stored response is used however old it is; else the response is a 504.
    case onlyIfCached = "only-if-cached"
}
