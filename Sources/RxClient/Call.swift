public import HTTPTypes
public import RxCache
public import RxHTTP
public import RxLite

/// An endpoint written in place, for requests without an endpoint type. Its output is the response.
///
/// ```swift
/// client.request(Call(.get, "/goods/1")).decode(Goods.self)
/// ```
public struct Call: Endpoint {
    /// The unchanged response.
    public typealias Output = Response

    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the client's base URL, or an absolute URL of the same origin.
    public var path: String
    /// The values of the path's placeholders.
    public var pathValues: PathValues
    /// The parameters.
    public var parameters: Parameters
    /// Parameters for the URL's query, in addition to a body.
    public var query: Parameters.Values
    /// Header fields, over the client's.
    public var headers: Headers
    /// The envelope of the response. Default the client's.
    public var envelope = EnvelopeChoice.client
    /// Which types of content are accepted; others fail with `contentType`. Default `nil`: any for the response, and
    /// the client's for what is decoded of it.
    public var contentTypes: ContentTypes?
    /// Which part of the content is decoded. Default all of it.
    public var part: PayloadPath = ""
    /// When to try again. Default `nil`: the client's policy.
    public var retry: RetryPolicy<NetworkError>?
    /// Whether the request may be sent twice though its method does not promise it. Default false.
    public var isIdempotent = false
    /// How long each phase may take. Default `nil`: the client's.
    public var timeouts: Timeouts?
    /// Whether the client's ``ClientConfiguration/rewriteParameters`` applies. Default true.
    public var usesParameterRewriting = true
    /// Whether the client's ``ClientConfiguration/signature`` applies. Default true.
    public var isSigned = true
    /// Which of the service's servers the request goes to. Default the active one.
    public var server = ServerChoice.active
    /// When a second attempt is sent beside one that takes long. Default `nil`: as the client does.
    public var hedging: Hedging?
    /// Whether the request carries the session's credential. Default true.
    public var usesSession = true
    /// Whether the request carries the jar's cookies, and its responses fill the jar. Default true.
    public var usesCookies = true
    /// The responses that are stored and reused. Default `nil`: as the client does.
    public var cachePolicy: CachePolicy?
    /// The use of the cache by this request. Default: as the policy says.
    public var cacheMode = CacheMode.standard
    /// How the body is compressed on its way. Default not at all.
    public var compression = Compression.none
    /// Whether content codings are requested and decoded. Default true; see ``Request/decodesContent``.
    public var decodesContent = true
    /// Whether the server is asked before the body is sent. Default `nil`: as the client does.
    public var continuePolicy: ContinuePolicy?
    /// The parts of it that the user sees. Default all: indicator, accessories, error tips.
    public var presentation = Presentation.all
    /// Names by which ``Client/cancel(_:)`` finds its requests, besides their URL and id, and
    /// ``ResponseCache/remove(_:)`` its responses. Default none.
    public var tags: Set<String> = []

    /// Creates a call.
    public init(
        _ method: HTTPRequest.Method, _ path: String, at pathValues: PathValues = [:],
        _ parameters: Parameters = .none, query: Parameters.Values = [:], headers: Headers = [:]
    ) {
        self.method = method
        self.path = path
        self.pathValues = pathValues
        self.parameters = parameters
        self.query = query
        self.headers = headers
    }
}

extension Call: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and path without query, and the names of the parameters.
    public var description: String {
        var text = "\(method.rawValue) \(path.withoutSecrets)"
        if !parameters.isEmpty { text += ", \(parameters)" }
        if !query.isEmpty { text += ", query with \(query.keys.sorted().joined(separator: ", "))" }
        return headers.fields.isEmpty ? text : text + ", \(headers)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
