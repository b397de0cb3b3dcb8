public import FoundationEssentials
public import HTTPTypes

/// One HTTP request as a transport sends it: everything decided, nothing sent yet.
public struct Request: Sendable {
    /// The method; any RFC 9110 token.
    public var method: HTTPRequest.Method {
        get { parts.shape.method }
        _modify { yield &parts.shape.method }
    }
    /// The absolute http or https URL. A fragment is not sent.
    public var url: URL {
        get {
            switch parts.shape.place {
            case .url(let url): url
            case .text(let text): text.url
            }
        }
        set { parts.shape.place = .url(newValue) }
    }
    /// The same as text, which takes no reading.
    package var urlText: String { parts.shape.place.text }

    /// Adds pairs to the query, where neither they nor the URL hold anything to be escaped, and that is known.
    ///
    /// - Returns: whether it has.
    package mutating func appendEscapedQuery(_ query: String) -> Bool {
        guard case .text(let text) = parts.shape.place, let longer = text.appendingQuery(query) else {
            return false
        }
        parts.shape.place = .text(longer)
        return true
    }

    /// The header fields. `Host`, `Content-Length` and `Transfer-Encoding` are the transport's to set.
    public var headerFields: HTTPFields {
        get { parts.shape.headerFields }
        _modify { yield &parts.shape.headerFields }
    }
    /// The content, if any.
    public var body: Body {
        get { parts.shape.body }
        _modify { yield &parts.shape.body }
    }
    /// How the content is compressed on its way. Default not at all.
    public var compression: Compression {
        get { parts.shape.compression }
        _modify { yield &parts.shape.compression }
    }
    /// Whether the codings that `Content-Encoding` of the response names are undone, and asked for. Default true.
    ///
    /// Where it is false the body comes as it was sent, and `Accept-Encoding` is sent only if ``headerFields`` have it.
    /// A body with an unknown coding, and that of a 206, comes as it was sent in any case; the field stays in the head.
    public var decodesContent: Bool {
        get { parts.shape.decodesContent }
        _modify { yield &parts.shape.decodesContent }
    }
    /// When the server is asked before the content is sent. Default never.
    public var continuePolicy: ContinuePolicy {
        get { parts.shape.continuePolicy }
        _modify { yield &parts.shape.continuePolicy }
    }
    /// How long each phase may take.
    public var timeouts: Timeouts {
        get { parts.shape.timeouts }
        _modify { yield &parts.shape.timeouts }
    }
    /// The most bytes of decoded body that may be gathered in memory. Default 256 MiB.
    public var bodyLimit: Int {
        get { parts.shape.bodyLimit }
        _modify { yield &parts.shape.bodyLimit }
    }
    /// Fields with secrets, in addition to `Authorization`, `Cookie` and `Proxy-Authorization`: never sent to another
    /// origin on a redirect, never shown in logs and errors.
    public var secretFields: Set<HTTPField.Name> {
        get { parts.shape.secretFields }
        _modify { yield &parts.shape.secretFields }
    }
    /// Names of parameters with secrets, in addition to ``usualSecretParameters``, in the query, a form or a JSON body,
    /// also of the response: never shown in logs and exports.
    public var secretParameters: Set<String> {
        get { parts.shape.secretParameters }
        _modify { yield &parts.shape.secretParameters }
    }
    /// Which login's credential the request carries, if any.
    public var credentialVersion: CredentialVersion? {
        get { parts.shape.credentialVersion }
        _modify { yield &parts.shape.credentialVersion }
    }
    /// What a digest challenge is answered with.
    package var digest: Authentication.Digest? {
        get { parts.shape.digest }
        _modify { yield &parts.shape.digest }
    }
    /// What credentials and signatures have added; `nil` where none of it needs to be known.
    package var secretAdditionsIfAny: SecretAdditions? { parts.shape.secretAdditions }
    /// The same, to be added to.
    var secretAdditions: SecretAdditions {
        get { parts.shape.secretAdditions ?? SecretAdditions() }
        set { parts.shape.secretAdditions = newValue }
    }
    /// Whether no credential may be put into the request, since it leaves the origin it was made for.
    public var isCredentialFree: Bool {
        get { parts.shape.isCredentialFree }
        _modify { yield &parts.shape.isCredentialFree }
    }
    /// Whether the request may be sent twice though its method does not promise it.
    public var isDeclaredIdempotent: Bool {
        get { parts.shape.isDeclaredIdempotent }
        _modify { yield &parts.shape.isDeclaredIdempotent }
    }
    /// Whether the request changes nothing though its method does not promise it.
    package var isDeclaredSafe: Bool {
        get { parts.shape.isDeclaredSafe }
        _modify { yield &parts.shape.isDeclaredSafe }
    }
    /// Whether starting over from the first request would repeat nothing that must not be: false once a
    /// request that is not idempotent, or whose body can be sent only once, has been redirected.
    var canStartOver: Bool {
        get { parts.shape.canStartOver }
        _modify { yield &parts.shape.canStartOver }
    }
    /// The number that names this request in logs, events and errors, the same for all its attempts.
    public var id: RequestID {
        get { parts.id }
        _modify { yield &parts.id }
    }
    /// Which attempt this is, from 1.
    public var attempt: Int {
        get { parts.attempt }
        _modify { yield &parts.attempt }
    }
    /// The URL that caches know the request by, where that is not ``url``: without what a signature and a credential
    /// have added, at the main server.
    package var resource: String? {
        get { parts.resource }
        _modify { yield &parts.resource }
    }
    /// Where whoever sends the request notes the fields that it was sent with.
    package var sentFields: SentFields? {
        get { parts.sentFields }
        _modify { yield &parts.sentFields }
    }
    /// Everything that shapes what is sent and what comes of it.
    package var shape: Shape { parts.shape }

    @CopyOnWrite private var parts: Parts

    private struct Parts: Sendable {
        var shape: Shape
        var id: RequestID
        var attempt = 1
        var resource: String?
        var sentFields: SentFields?
    }

    /// Creates a request with a new id.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headerFields: HTTPFields = [:], body: Body = .empty,
        timeouts: Timeouts = Timeouts(), bodyLimit: Int = 256 << 20
    ) {
        let shape = Shape(
            method: method, place: .url(url), headerFields: headerFields, body: body, timeouts: timeouts,
            bodyLimit: bodyLimit)
        parts = Parts(shape: shape, id: .next())
    }

    /// Creates a request like another, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URL) {
        self.init(like: template, method: method, at: .url(url))
    }

    /// Creates a request like another, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URLText) {
        self.init(like: template, method: method, at: .text(url))
    }

    private init(like template: Request, method: HTTPRequest.Method, at place: Shape.Place) {
        var parts = template.parts
        parts.shape.method = method
        parts.shape.place = place
        parts.id = .next()
        self.parts = parts
    }
}
