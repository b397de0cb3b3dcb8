/// What one request wants of the cache, with the names and meanings of fetch's `cache`
/// (<https://fetch.spec.whatwg.org/#concept-request-cache-mode>). Where the policy is ``CachePolicy/none`` it means
/// nothing.
public enum CacheMode: String, Sendable, Hashable, Codable {
    /// As the policy says.
    case standard = "default"
    /// Past the cache: neither answered by it nor kept.
    case noStore = "no-store"
    /// From the server, and then kept.
    case reload
    /// Kept answers are used when the server has confirmed them.
    case noCache = "no-cache"
    /// What is kept is used however old it is; else from the server.
    case forceCache = "force-cache"
    /// What is kept is used however old it is; else the answer is a 504.
    case onlyIfCached = "only-if-cached"
}
