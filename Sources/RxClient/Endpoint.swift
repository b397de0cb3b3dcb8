public import HTTPTypes
public import RxCache
public import RxHTTP
public import RxLite

/// One operation of a server, as a type: its path, its parameters, its output.
///
/// ```swift
/// struct GoodsList: Endpoint {
///     typealias Output = [Goods]
///     let keyword: String
///     let path = "/mall/goods"
///     let method = HTTPRequest.Method.get
///     var parameters: Parameters { .query(["keyword": keyword]) }
/// }
///
/// client.request(GoodsList(keyword: "tea")).subscribe(onNext: { goods in … })
/// ```
///
/// Path, method and output must be given; everything else has a default.
public protocol Endpoint<Output>: Sendable {
    /// What a successful answer becomes.
    associatedtype Output: Sendable

    /// The path below the client's base URL, or an absolute URL of the same origin. A placeholder such as `{id}`
    /// stands for one of ``pathValues``.
    var path: String { get }
    /// Which of the service's servers the requests go to. Default the active one.
    var server: ServerChoice { get }
    /// What the placeholders of the path stand for, one segment each. Default none.
    var pathValues: PathValues { get }
    /// The method.
    var method: HTTPRequest.Method { get }
    /// The parameters. Default none.
    var parameters: Parameters { get }
    /// Parameters for the URL's query besides a body. Default none.
    var query: Parameters.Values { get }
    /// Whether the client's ``ClientConfiguration/rewriteParameters`` applies. Default true.
    var usesParameterRewriting: Bool { get }
    /// Whether the client's ``ClientConfiguration/signature`` applies. Default true.
    var isSigned: Bool { get }
    /// Header fields, over the client's. Default none.
    var headers: Headers { get }
    /// The envelope of the answer. Default the client's.
    var envelope: EnvelopeChoice { get }
    /// When to try again. Default `nil`: the client's policy.
    var retry: RetryPolicy<NetworkError>? { get }
    /// Which answers are kept and used again. Default `nil`: as the client does.
    var cachePolicy: CachePolicy? { get }
    /// What this request wants of the cache. Default: as the policy says.
    var cacheMode: CacheMode { get }
    /// When a second attempt is sent beside one that takes long. Default `nil`: as the client does.
    var hedging: Hedging? { get }
    /// Whether the request may be sent twice though its method does not promise it. Default false.
    var isIdempotent: Bool { get }
    /// How long each phase may take. Default `nil`: the client's.
    var timeouts: Timeouts? { get }
    /// Whether the request carries the session's credential. Default true; logging in does not.
    var usesSession: Bool { get }
    /// Whether the request carries the jar's cookies, and its answers fill it. Default true.
    var usesCookies: Bool { get }
    /// What a person is shown of it. Default all: indicator, accessories, error tips.
    var presentation: Presentation { get }
    /// Names under which ``Client/cancel(_:)`` finds its requests, besides their URL and id, and
    /// ``ResponseCache/remove(_:)`` its answers. Default none.
    var tags: Set<String> { get }

    /// How the body is compressed on its way. Default not at all: ask the server first.
    var compression: Compression { get }
    /// Whether the response's content codings are asked for and undone. Default true; see ``Request/decodesContent``.
    var decodesContent: Bool { get }
    /// Whether the server is asked before the body is sent. Default `nil`: as the client does.
    var continuePolicy: ContinuePolicy? { get }

    /// Rewrites the parameters, before the client does. Default: they stay as they are. Made for families of
    /// endpoints that share a rule through a protocol of their own.
    func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters

    /// Which types of content are accepted; others fail with `contentType`. Default: any; where the output is decoded
    /// from JSON `nil`, the client's; where it is a response `nil`, any for the response and the client's for what is
    /// decoded of it.
    var contentTypes: ContentTypes? { get }
    /// Which part of the content the output is made of. Default all of it: what the envelope's payload holds, or the
    /// body where there is no envelope.
    var part: PayloadPath { get }

    /// Makes the output of a successful answer. Default: decodes JSON.
    func output(from response: Response) throws(NetworkError) -> Output

    /// Throws where the answer came well and its content is of no use: `noContent`, or a kind of one's own. Default:
    /// it is. An error without request, head and body gets those of the answer.
    ///
    /// ```swift
    /// func validate(_ answer: Answer<[Goods]>) throws(NetworkError) {
    ///     if answer.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    /// }
    /// ```
    func validate(_ answer: Answer<Output>) throws(NetworkError)
}

/// The envelope of an endpoint's response.
public enum EnvelopeChoice: Sendable {
    /// The client's, if it has one.
    case client
    /// None: the body is the content.
    case none
    /// This one.
    case custom(Envelope)
}

extension Endpoint {
    /// None.
    public var parameters: Parameters { .none }
    /// None.
    public var query: Parameters.Values { [:] }
    /// None.
    public var pathValues: PathValues { [:] }
    /// The active one.
    public var server: ServerChoice { .active }
    /// Yes.
    public var usesParameterRewriting: Bool { true }
    /// Yes.
    public var isSigned: Bool { true }
    /// None.
    public var headers: Headers { [:] }
    /// The client's.
    public var envelope: EnvelopeChoice { .client }
    /// The client's.
    public var retry: RetryPolicy<NetworkError>? { nil }
    /// The client's.
    public var cachePolicy: CachePolicy? { nil }
    /// As the policy says.
    public var cacheMode: CacheMode { .standard }
    /// The client's.
    public var hedging: Hedging? { nil }
    /// As the method says.
    public var isIdempotent: Bool { false }
    /// The client's.
    public var timeouts: Timeouts? { nil }
    /// Yes.
    public var usesSession: Bool { true }
    /// Yes.
    public var usesCookies: Bool { true }
    /// All of it.
    public var presentation: Presentation { .all }
    /// None.
    public var tags: Set<String> { [] }

    /// Not at all.
    public var compression: Compression { .none }
    /// True.
    public var decodesContent: Bool { true }
    /// The client's.
    public var continuePolicy: ContinuePolicy? { nil }

    /// Any.
    public var contentTypes: ContentTypes? { .any }
    /// All of it.
    public var part: PayloadPath { "" }

    /// The unchanged parameters.
    public func rewrite(_ parameters: Parameters) throws(NetworkError) -> Parameters { parameters }

    /// It is of use.
    public func validate(_ answer: Answer<Output>) throws(NetworkError) {}
}

extension Endpoint where Output: Decodable {
    /// The client's.
    public var contentTypes: ContentTypes? { nil }

    /// The content, decoded from JSON.
    public func output(from response: Response) throws(NetworkError) -> Output {
        try response.decode(Output.self)
    }
}

extension Endpoint where Output == Response {
    /// Any for the response, the client's for what is decoded of it.
    public var contentTypes: ContentTypes? { nil }

    /// The unchanged response.
    public func output(from response: Response) throws(NetworkError) -> Response { response }
}

extension Endpoint where Output == Void {
    /// Nothing; the body does not matter.
    public func output(from _: Response) throws(NetworkError) {}
}

extension Endpoint where Output == Empty {
    /// Any.
    public var contentTypes: ContentTypes? { .any }
}
