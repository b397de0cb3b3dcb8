import RxCache
import RxHTTP

/// What one call has of its own, besides its endpoint.
struct CallSettings: Sendable {
    /// The server to use, in place of the endpoint's.
    var server: ServerChoice?
    /// Which page of an endpoint that has several.
    var page: PagePlacement?
    /// Whether it renews what the cache keeps, and nobody waits for it.
    var isRefresh = false
    /// Makes the output of a response.
    var decode: (@Sendable (Response) throws(NetworkError) -> any Sendable)?
    /// What ``Reading`` does.
    var reader: (any Interceptor)?
    /// Which redirects are followed, in place of the client's policy.
    var redirects: RedirectPolicy?
    /// Whether the jar takes part, if there is one.
    var usesCookies = true
}
