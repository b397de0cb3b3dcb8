public import FoundationEssentials
public import HTTPTypes

/// One HTTP request as a transport sends it: everything decided, nothing sent yet.
public struct Request: Sendable {
    /// The method; any RFC 9110 token.
    public var method: HTTPRequest.Method
    /// The absolute http or https URL. A fragment is not sent.
    public var url: URL
    /// The header fields. `Host`, `Content-Length` and `Transfer-Encoding` are the transport's to set.
    public var headerFields: HTTPFields
    /// The content, if any.
    public var body: Body
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// The most bytes of decoded body that may be gathered in memory. Default 256 MiB.
    public var bodyLimit: Int
    /// Fields that hold secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`: never sent to
    /// another origin on a redirect, never shown in logs and errors.
    public var secretFields: Set<HTTPField.Name> = []
    /// Which login's credential the request carries, if any.
    public var credentialStamp: CredentialStamp?
    /// Whether no credential may be put into the request, since it leaves the origin it was made for.
    public var isCredentialFree = false
    /// Whether the request may be sent twice though its method does not promise it.
    public var isDeclaredIdempotent = false
    /// Whether starting over from the first request would repeat nothing that must not be: false once a
    /// request that is not idempotent, or whose body can be sent only once, has been redirected.
    var canStartOver = true
    /// The number that names this request in logs, events and errors, the same for all its attempts.
    public var id: RequestID
    /// Which attempt this is, from 1.
    public var attempt: Int

    /// Creates a request with a new id.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headerFields: HTTPFields = [:], body: Body = .empty,
        timeouts: Timeouts = Timeouts(), bodyLimit: Int = 256 << 20
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.timeouts = timeouts
        self.bodyLimit = bodyLimit
        self.id = .next()
        self.attempt = 1
    }
}
