public import FoundationEssentials
public import HTTPTypes

/// One HTTP request as a transport sends it: everything decided, nothing sent yet.
public struct Request: Sendable {
    /// The method; any RFC 9110 token.
    public var method: HTTPRequest.Method {
        get { parts.method }
        _modify { yield &parts.method }
    }
    /// The absolute http or https URL. A fragment is not sent.
    public var url: URL {
        get {
            switch parts.place {
            case .url(let url): url
            case .text(let text): text.url
            }
        }
        set { parts.place = .url(newValue) }
    }
    /// The same as text, which takes no reading.
    package var urlText: String {
        switch parts.place {
        case .url(let url): url.absoluteString
        case .text(let text): text.text
        }
    }

    /// Adds pairs to the query, where neither they nor the URL hold anything to be escaped, and that is known.
    ///
    /// - Returns: whether it has.
    package mutating func appendEscapedQuery(_ query: String) -> Bool {
        guard case .text(let text) = parts.place, let longer = text.appendingQuery(query) else {
            return false
        }
        parts.place = .text(longer)
        return true
    }

    /// The header fields. `Host`, `Content-Length` and `Transfer-Encoding` are the transport's to set.
    public var headerFields: HTTPFields {
        get { parts.headerFields }
        _modify { yield &parts.headerFields }
    }
    /// The content, if any.
    public var body: Body {
        get { parts.body }
        _modify { yield &parts.body }
    }
    /// How the content is compressed on its way. Default not at all.
    public var compression: Compression {
        get { parts.compression }
        _modify { yield &parts.compression }
    }
    /// Whether the codings that `Content-Encoding` of the response names are undone, and asked for. Default true.
    ///
    /// Where it is false the body comes as it was sent, and `Accept-Encoding` is sent only if ``headerFields`` have it. A
    /// body with an unknown coding, and that of a 206, comes as it was sent in any case; the field stays in the head.
    public var decodesContent: Bool {
        get { parts.decodesContent }
        _modify { yield &parts.decodesContent }
    }
    /// Whether the server is asked before the content is sent. Default never.
    public var continuePolicy: ContinuePolicy {
        get { parts.continuePolicy }
        _modify { yield &parts.continuePolicy }
    }
    /// How long each phase may take.
    public var timeouts: Timeouts {
        get { parts.timeouts }
        _modify { yield &parts.timeouts }
    }
    /// The most bytes of decoded body that may be gathered in memory. Default 256 MiB.
    public var bodyLimit: Int {
        get { parts.bodyLimit }
        _modify { yield &parts.bodyLimit }
    }
    /// Fields that hold secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`: never sent to
    /// another origin on a redirect, never shown in logs and errors.
    public var secretFields: Set<HTTPField.Name> {
        get { parts.secretFields }
        _modify { yield &parts.secretFields }
    }
    /// Names of parameters that hold secrets, besides ``usualSecretParameters``, in the query, a form or a JSON body,
    /// of the answer too: never shown in logs and exports.
    public var secretParameters: Set<String> {
        get { parts.secretParameters }
        _modify { yield &parts.secretParameters }
    }
    /// Which login's credential the request carries, if any.
    public var credentialStamp: CredentialStamp? {
        get { parts.credentialStamp }
        _modify { yield &parts.credentialStamp }
    }
    /// What a digest challenge is answered with.
    package var digest: Authentication.Digest? {
        get { parts.digest }
        _modify { yield &parts.digest }
    }
    /// Whether no credential may be put into the request, since it leaves the origin it was made for.
    public var isCredentialFree: Bool {
        get { parts.isCredentialFree }
        _modify { yield &parts.isCredentialFree }
    }
    /// Whether the request may be sent twice though its method does not promise it.
    public var isDeclaredIdempotent: Bool {
        get { parts.isDeclaredIdempotent }
        _modify { yield &parts.isDeclaredIdempotent }
    }
    /// Whether starting over from the first request would repeat nothing that must not be: false once a
    /// request that is not idempotent, or whose body can be sent only once, has been redirected.
    var canStartOver: Bool {
        get { parts.canStartOver }
        _modify { yield &parts.canStartOver }
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

    @CopyOnWrite private var parts: Parts

    private enum Place: Sendable {
        case url(URL)
        case text(URLText)
    }

    private struct Parts: Sendable {
        var method: HTTPRequest.Method
        var place: Place
        var headerFields: HTTPFields
        var body: Body
        var compression = Compression.none
        var decodesContent = true
        var continuePolicy = ContinuePolicy.never
        var timeouts: Timeouts
        var bodyLimit: Int
        var secretFields: Set<HTTPField.Name> = []
        var secretParameters: Set<String> = []
        var credentialStamp: CredentialStamp?
        var digest: Authentication.Digest?
        var isCredentialFree: Bool = false
        var isDeclaredIdempotent: Bool = false
        var canStartOver: Bool = true
        var id: RequestID
        var attempt: Int
    }

    /// Creates a request with a new id.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headerFields: HTTPFields = [:], body: Body = .empty,
        timeouts: Timeouts = Timeouts(), bodyLimit: Int = 256 << 20
    ) {
        parts = Parts(
            method: method, place: .url(url), headerFields: headerFields, body: body, timeouts: timeouts,
            bodyLimit: bodyLimit, id: .next(), attempt: 1)
    }

    /// Creates a request like another, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URL) {
        self.init(like: template, method: method, at: .url(url))
    }

    /// Creates a request like another, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URLText) {
        self.init(like: template, method: method, at: .text(url))
    }

    private init(like template: Request, method: HTTPRequest.Method, at place: Place) {
        var parts = template.parts
        parts.method = method
        parts.place = place
        parts.id = .next()
        self.parts = parts
    }
}
