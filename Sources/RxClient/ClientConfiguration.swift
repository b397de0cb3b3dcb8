public import FoundationEssentials
public import HTTPTypes
public import RxHTTP
public import RxLite

/// How a ``Client`` makes its requests.
public struct ClientConfiguration: Sendable {
    /// What paths are relative to, such as `https://api.example.com/v1`. Without it paths must be absolute
    /// URLs. Has no query and no fragment. ``Client/servers`` changes it at run time.
    public var baseURL: String
    /// The base URL of the vice server, for endpoints that choose it and for ``failover``. Default none.
    public var viceURL: String?
    /// When the vice server takes over from the main one, of which it must be a replica then. Default `nil`: it serves
    /// the endpoints that choose it, and whoever calls ``Servers/use(_:)``.
    public var failover: Failover?
    /// Header fields of every request. An endpoint's own come in the place of those of the same name.
    public var headers: Headers = [:]
    /// The `User-Agent` of every request (RFC 9110 §10.1.5), unless ``headers`` or the endpoint have one. Default
    /// ``defaultUserAgent``; `nil` for none.
    public var userAgent: String? = ClientConfiguration.defaultUserAgent
    /// Name and version of this library.
    public static let defaultUserAgent = "RxNetworking/1.0"
    /// How requests to the base URL's origin prove whose they are; `Authorization` in ``headers`` and what a session
    /// sets come over it. Default not at all.
    public var authentication: Authentication?
    /// Names of fields that are kept secret like `Authorization`.
    public var secretFields: Set<HTTPField.Name> = []
    /// Names of parameters whose values no log and no export shows, besides the usual ones such as `password` and
    /// `access_token` (``Request/usualSecretParameters``). See ``Parameters/hiding(_:)`` for those of one endpoint.
    public var secretParameters: Set<String> = []
    /// The envelope that answers come in. Default none.
    public var envelope: Envelope?
    /// Which types of content are accepted where JSON is to be decoded; others fail with `contentType`. Default those of
    /// JSON. An answer that does not say its type is accepted. See ``Endpoint/contentTypes``.
    public var contentTypes = ContentTypes.json
    /// Who is logged in. Default nobody.
    public var session: Session?
    /// The jar that requests take their cookies from and answers put theirs into. Default `nil`: none are sent
    /// and none are kept.
    public var cookies: CookieJar?
    /// Where answers are kept that a policy lets be kept. Default: in memory, up to 32 MiB; copies of the configuration
    /// share it.
    public var cache = ResponseCache()
    /// Which answers are kept and used again, where the endpoint does not say. Default none.
    public var cachePolicy = CachePolicy.none
    /// When to try again. Default: two retries of what is safe to repeat, with growing waits.
    public var retry: RetryPolicy<NetworkError> = .exponentialBackoff()
    /// How many of the requests to a host may be retries and hedges. Clients whose configurations are copies of one
    /// another share it. Default one in five over ten seconds, or a hundred; `nil`: as many as the policies want.
    public var retryBudget: RetryBudget? = RetryBudget()
    /// When a second attempt is sent beside one that takes long. Default never.
    public var hedging = Hedging.never
    /// When requests to a host that is in trouble fail at once. Default `nil`: never.
    public var circuitBreaker: CircuitBreaker.Policy?
    /// How many requests may run, and begin, in all. Default no limit.
    public var limits = RequestLimits()
    /// The same for each host (scheme, name and port). Default no limit.
    public var hostLimits = RequestLimits()
    /// How long each phase may take.
    public var timeouts = Timeouts()
    /// Which redirects are followed. Default: ten.
    public var redirects = RedirectPolicy()
    /// The most bytes of body gathered in memory. Default 256 MiB.
    public var bodyLimit = 256 << 20
    /// Whether an absolute URL given as a path may lead to another origin than the base URL's. Default no.
    /// Such a request carries neither the session's credential, nor the secret fields of ``headers``, nor cookies.
    public var allowsOtherOrigins = false
    /// How parameters travel that do not say it themselves. Default as JSON.
    public var parameterFormat = ParameterFormat.json
    /// How lists and nested objects are written in queries and forms. Default `id=1&id=2` and `user[name]=anna`.
    public var parameterStyle = ParameterStyle()
    /// Rewrites the parameters of every endpoint that does not opt out, after the endpoint's own rewriting; such
    /// as adding a version to all of them. Default `nil`: they stay as they are.
    public var rewriteParameters: (@Sendable (Parameters) throws(NetworkError) -> Parameters)?
    /// Signs every request whose endpoint does not opt out. Default none.
    public var signature: Signature?
    /// Whether servers are asked before a body is sent (`Expect: 100-continue`). Default never.
    public var continuePolicy = ContinuePolicy.never
    /// The files of the machine, for downloads and whatever else is kept on disk. Default none; a client over
    /// libcurl has those of its transport.
    public var files: (any FileSystem)?
    /// Who knows whether there is a network. Without one a request fails with `unreachable` at once, and nothing is
    /// sent; `unknown` counts as reachable. Default `nil`: every request is tried.
    public var reachability: (any Reachability)?
    /// What accompanies each request that does not leave it out. Default none.
    public var accessories: [Accessory] = []
    /// How parameters are encoded. Default: keys sorted, otherwise as Foundation does.
    public var encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    /// How content is decoded. What comes out is always this decoder's value or error; see `Docs/Decisions/JSON.md` for
    /// when it is asked itself.
    public var decoder = JSONDecoder()

    /// Creates a configuration.
    public init(baseURL: String = "") { self.baseURL = baseURL }
}
