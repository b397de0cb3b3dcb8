public import FoundationEssentials
public import HTTPTypes
public import RxCookies
public import RxHTTP
import RxLite

/// The configuration of a ``Client``.
public struct ClientConfiguration: Sendable {
    // MARK: - Servers

    /// The base of relative paths, such as `https://api.example.com/v1`. Without it paths must be absolute URLs. It
    /// must have no query and no fragment. ``Client/servers`` changes it at run time.
    public var baseURL: String
    /// The base URL of the standby server, for endpoints that choose it and for ``failover``. Default none.
    public var standbyURL: String?
    /// When the standby server, which must then be a replica of the main one, takes over. Default `nil`: it serves the
    /// endpoints that choose it, and all after ``Servers/use(_:)``.
    public var failover: Failover?
    /// Whether an absolute URL given as a path may have another origin than the base URL. Default no. Such a request
    /// carries neither the session's credential, nor the secret header fields of ``options``, nor cookies.
    public var allowsOtherOrigins = false

    // MARK: - All requests

    /// How requests are sent and responses treated where the endpoint leaves it open: header fields, retry, timeouts,
    /// cache policy, envelope and more.
    public var options = RequestOptions()
    /// The `User-Agent` of every request (RFC 9110 §10.1.5), unless the header fields of the request have one. Default
    /// ``defaultUserAgent``; `nil` for none.
    public var userAgent: String? = ClientConfiguration.defaultUserAgent
    /// Name and version of this library.
    public static let defaultUserAgent = "RxNetworking/1.0"
    /// Which redirects are followed. Default: ten.
    public var redirects = RedirectPolicy()
    /// The most bytes of body gathered in memory. Default 256 MiB.
    public var bodyLimit = 256 << 20

    // MARK: - Parameters and content

    /// The format of parameters without their own format. Default JSON.
    public var parameterFormat = ParameterFormat.json
    /// The style of lists and nested objects in queries and forms. Default `id=1&id=2` and `user[name]=anna`.
    public var parameterStyle = ParameterStyle()
    /// The encoder of parameters. Default: sorted keys, otherwise Foundation's defaults.
    public var encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    /// The decoder of content. Results are always this decoder's value or error; `Docs/Decisions/JSON.md` describes
    /// when it runs itself.
    public var decoder = JSONDecoder()
    /// Rewrites the parameters of every endpoint that does not opt out, after the endpoint's own rewriting; for example
    /// to add a version to all of them. Default `nil`: no change.
    public var rewriteParameters: (@Sendable (Parameters) throws(NetworkError) -> Parameters)?
    /// Signs every request whose endpoint does not opt out. Default none.
    public var signature: Signature?

    // MARK: - Identity

    /// The session that authorizes requests. Default none.
    public var session: Session?
    /// The HTTP authentication of requests to the base URL's origin. An `Authorization` field among the header fields, or
    /// a session, takes precedence. Default none.
    public var authentication: Authentication?
    /// The jar for the cookies of requests and responses. Default `nil`: cookies are neither sent nor stored.
    public var cookies: CookieJar?

    // MARK: - Secrets

    /// Names of fields that are secret like `Authorization`.
    public var secretFields: Set<HTTPField.Name> = []
    /// Names of parameters whose values no log or export shows, in addition to the usual ones such as `password` and
    /// `access_token` (``Request/usualSecretParameters``). See ``Parameters/hiding(_:)`` for those of one endpoint.
    public var secretParameters: Set<String> = []

    // MARK: - Caching

    /// The cache for responses that a policy allows to store. Default: in memory, up to 32 MiB; copies of the
    /// configuration share it.
    public var cache = ResponseCache()

    // MARK: - Resilience

    /// The share of retries and hedges among the requests to a host. Copies of a configuration share it. Default one in
    /// five over ten seconds, or a hundred; `nil`: no limit.
    public var retryBudget: RetryBudget? = RetryBudget()
    /// When requests to a failing host fail at once. Default `nil`: never.
    public var circuitBreaker: CircuitBreaker.Policy?
    /// The limits of concurrency and rate for all requests. Default no limit.
    public var limits = RequestLimits()
    /// The same for each host (scheme, name and port). Default no limit.
    public var hostLimits = RequestLimits()

    // MARK: - Surroundings

    /// The source of network status. Without a network a request fails with `unreachable` at once, and nothing is sent;
    /// `unknown` counts as reachable. Default `nil`: every request is tried.
    public var reachability: (any Reachability)?
    /// Closures that accompany each request, unless its presentation excludes them. Default none.
    public var accessories: [Accessory] = []
    /// The file system, for downloads and other files. Default none; a client over libcurl has that of its transport.
    public var files: (any FileSystem)?

    /// Creates a configuration.
    public init(baseURL: String = "") { self.baseURL = baseURL }
}
