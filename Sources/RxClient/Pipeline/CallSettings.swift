import RxCache
import RxHTTP

/// The settings of one call, besides its endpoint.
struct CallSettings: Sendable {
    /// The server to use, instead of the endpoint's.
    var server: ServerChoice?
    /// The page of an endpoint that has several.
    var page: PagePlacement?
    /// The account that the call belongs to, if it is part of a subscription that began earlier.
    var account: SessionAccount?
    /// Whether the call refreshes a stored response in the background.
    var isRefresh = false
    /// The interceptor at the place of ``Reading``.
    var reader: (any Interceptor)?
    /// The redirects to follow, instead of the client's policy.
    var redirects: RedirectPolicy?
    /// Whether the call uses the cookie jar, if there is one.
    var usesCookies = true
}
