public import FoundationEssentials
public import HTTPTypes
public import RxCookies
public import RxHTTP
import RxLite
public import RxParameters

/// The configuration of a ``Client``.
public struct ClientConfiguration: Sendable {
    // MARK: - Servers

    /// The base URL of relative paths, such as `https://api.example.com/v1`. Without it, paths must be
    /// absolute URLs. It must have no query and no fragment. ``Client/servers`` changes it at run time.
    public var baseURL: String
    /// The base URL of the standby server, for endpoints that choose it and for a failover (``failoverProbeInterval``).
    /// Default `nil`: no standby server.
    public var standbyURL: String?
    /// The time between probes of the main server while the standby server stands in for it, such as 30 s. If set, the
    /// standby server, which must be a replica of the main one, takes over when that does not respond. Default `nil`:
    /// the standby server serves only the endpoints that choose it, and all of them after ``Servers/use(_:)``.
    ///
    /// A request whose server does not respond is sent to the other server at once, within the same attempt: with
    /// any method if nothing was sent (a failure of name resolution, connection or TLS, or an open circuit), and
    /// after 502, 503 and 504 if it may be sent twice. If the other server responds, it becomes the active one.
    /// The standby server stays active until the main server has responded to a probe: one repeatable request at
    /// a time, which goes to the standby server if the main server still does not respond.
    public var failoverProbeInterval: Duration?
    /// Whether an absolute URL given as a path may have another origin than the base URL. Default false. A
    /// request to another origin carries no session credential, no secret header fields of ``options`` and no
    /// cookies.
    public var allowsOtherOrigins = false

    // MARK: - All requests

    /// The options of all requests, for every setting that an endpoint leaves open: header fields, retries, timeouts,
    /// cache policy, envelope and more.
    public var options = RequestOptions()
    /// The `User-Agent` of every request (RFC 9110 §10.1.5), unless the request's header fields contain one;
    /// `nil` sends none. Default ``defaultUserAgent``.
    public var userAgent: String? = ClientConfiguration.defaultUserAgent
    /// The name and version of this library. Archives (`HAR.Creator`, `CassetteWriter`) and the inspector have them,
    /// too; change all.
    public static let defaultUserAgent = "RxNetworking/1.0"
    /// The redirects to follow. Default: up to ten.
    public var redirects = RedirectPolicy()
    /// The maximum number of body bytes gathered in memory. Default 256 MiB.
    public var bodyLimit = 256 << 20

    // MARK: - Parameters and content

    /// The format of parameters that specify none. Default JSON.
    public var parameterFormat = ParameterFormat.json
    /// The style of lists and nested objects in queries and forms. Default `id=1&id=2` and `user[name]=anna`.
    public var parameterStyle = ParameterStyle()
    /// The encoder of parameters. Default: sorted keys, otherwise Foundation's defaults.
    public var encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    /// The decoder of content. Every result is this decoder's value or error; `Docs/Decisions/JSON.md`
    /// describes when the decoder itself runs.
    public var decoder = JSONDecoder()
    /// Rewrites the parameters of every endpoint that does not opt out, after the endpoint's own rewriting;
    /// for example to add a version to all of them. Default `nil`: parameters stay unchanged.
    public var rewriteParameters: (@Sendable (Parameters) throws(NetworkError) -> Parameters)?
    /// Signs every request whose endpoint does not opt out. Default `nil`: requests are not signed.
    public var signature: Signature?
    /// Signs every exchange directly before it is sent, unless the endpoint opts out. Default `nil`: exchanges are not
    /// signed.
    public var signer: (any RequestSigner)?

    // MARK: - Identity

    /// The session that authorizes requests. Default `nil`: requests carry no session credential.
    public var session: Session?
    /// The HTTP authentication of requests to the base URL's origin. An `Authorization` field among the
    /// header fields, or a session, takes precedence. Default `nil`: no HTTP authentication.
    public var authentication: Authentication?
    /// The jar for the cookies of requests and responses. Default `nil`: the client neither sends nor stores
    /// cookies.
    public var cookies: CookieJar?

    // MARK: - Secrets

    /// The names of additional header fields that are as secret as `Authorization`.
    public var secretFields: Set<HTTPField.Name> = []
    /// The names of parameters whose values no log or export shows, in addition to the usual ones such as
    /// `password` and `access_token` (``Request/usualSecretParameters``). ``Parameters/hiding(_:)`` hides the
    /// parameters of one endpoint.
    public var secretParameters: Set<String> = []

    // MARK: - Caching

    /// The cache for responses that a policy allows the client to store. Default: in memory, up to 32 MiB.
    /// Copies of the configuration share it.
    public var cache = ResponseCache()

    // MARK: - Resilience

    /// The limit of retries and hedges relative to the requests to a host. Copies of a configuration share
    /// it. Default: one in five over ten seconds, or a hundred; `nil`: no limit.
    public var retryBudget: RetryBudget? = RetryBudget()
    /// The policy by which requests to a failing host fail at once. Default `nil`: no circuit breaker.
    public var circuitBreaker: CircuitBreaker.Policy?
    /// The limits of concurrency and rate for all requests together. Default: no limit.
    public var limits = RequestLimits()
    /// The limits for each host (scheme, name and port). Default: no limit.
    public var hostLimits = RequestLimits()

    // MARK: - Environment

    /// The source of the network status. Without a network, a request fails with `unreachable` at once, and
    /// the client sends nothing; `unknown` counts as reachable. Default `nil`: the client tries every
    /// request.
    public var reachability: (any Reachability)?
    /// The texts that the app shows for failures (``Client/text(for:)``). Default ``ErrorTexts/english``.
    public var errorTexts = ErrorTexts.english
    /// The file system for downloads and other files. Default `nil`: the transport's (``Transport/files``).
    public var files: (any FileSystem)?

    /// Creates a configuration.
    public init(baseURL: String = "") { self.baseURL = baseURL }
}

extension ClientConfiguration: RedactedDescription {
    /// The base URL without user info and query.
    public var description: String {
        "configuration for \(baseURL.withoutSecrets)"
    }
}
