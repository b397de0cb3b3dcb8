public import FoundationEssentials
public import HTTPTypes
import Synchronization

/// One HTTP request as a transport sends it: complete, but not sent yet.
public struct Request: Sendable {
    /// The method; any RFC 9110 token.
    public var method: HTTPRequest.Method {
        get { parts.shape.method }
        set { parts.shape.method = newValue }
    }
    /// The absolute http or https URL. A fragment is not sent. In a redirect's target a stray `%` is kept, and
    /// appears here as `%25`.
    public var url: URL {
        get {
            switch parts.shape.target {
            case .url(let url): url
            case .text(let text): text.url
            case .sent(_, let url): url
            }
        }
        set { parts.shape.target = .url(newValue) }
    }
    /// The URL as text, which needs no parsing.
    package var urlText: String { parts.shape.target.text }

    /// Changes the URL to one whose text is sent with a `%` that stands alone, which `url` has as `%25`.
    mutating func setURL(_ url: URL, sentAs text: String) {
        parts.shape.target = url.absoluteString == text ? .url(url) : .sent(text, url)
    }

    /// Adds pairs to the query, if both they and the URL are known to need no escaping.
    ///
    /// - Returns: whether the pairs were added.
    package mutating func appendEscapedQuery(_ query: String) -> Bool {
        guard case .text(let text) = parts.shape.target, let longer = text.appendingQuery(query) else {
            return false
        }
        parts.shape.target = .text(longer)
        return true
    }

    /// The header fields. The transport sets `Host`, `Content-Length` and `Transfer-Encoding`.
    public var headerFields: HTTPFields {
        get { parts.shape.headerFields }
        _modify { yield &parts.shape.headerFields }
    }
    /// The content, if any.
    public var body: Body {
        get { parts.shape.body }
        _modify { yield &parts.shape.body }
    }
    /// The change to another protocol to ask for. Default none. Only for GET without content.
    public var upgrade: ProtocolUpgrade? {
        get { parts.shape.settings.upgrade }
        set { parts.shape.settings.upgrade = newValue }
    }
    /// Whether the request asks for another protocol; without a copy of ``upgrade``.
    package var asksForUpgrade: Bool { parts.shape.settings.upgrade != nil }
    /// Whether the content is compressed with gzip (RFC 9110 §8.4.1.3), which the transport names in `Content-Encoding`.
    /// Default false.
    ///
    /// A body in memory keeps a `Content-Length`, which counts the compressed bytes; a streamed body is sent in chunks.
    /// Not every server accepts compressed or chunked bodies; check yours first.
    public var compressesContent: Bool {
        get { parts.shape.settings.compressesContent }
        set { parts.shape.settings.compressesContent = newValue }
    }
    /// Whether content codings are accepted and the codings in `Content-Encoding` of the response decoded.
    /// Default true.
    ///
    /// If it is false, the body is delivered as sent, and `Accept-Encoding` is sent only if ``headerFields``
    /// contain it. A body with an unknown coding, and the body of a 206, are always delivered as sent; the
    /// field stays in the head.
    public var decodesContent: Bool {
        get { parts.shape.settings.decodesContent }
        set { parts.shape.settings.decodesContent = newValue }
    }
    /// When to ask the server before the content is sent. Default never.
    public var continuePolicy: ContinuePolicy {
        get { parts.shape.settings.continuePolicy }
        set { parts.shape.settings.continuePolicy = newValue }
    }
    /// The time limits of the request's phases.
    public var timeouts: Timeouts {
        get { parts.shape.settings.timeouts }
        set { parts.shape.settings.timeouts = newValue }
    }
    /// The most bytes of the decoded body to gather in memory. Default 256 MiB.
    public var bodyLimit: Int {
        get { parts.shape.settings.bodyLimit }
        set { parts.shape.settings.bodyLimit = newValue }
    }
    /// Fields with secrets, in addition to `Authorization`, `Cookie`, `Proxy-Authorization` and
    /// `Sec-WebSocket-Protocol`: never sent to another origin on a redirect, and never shown in logs and
    /// errors.
    public var secretFields: Set<HTTPField.Name> {
        get { parts.shape.settings.secretFields }
        _modify { yield &parts.shape.settings.secretFields }
    }
    /// Names of parameters with secrets, in addition to ``usualSecretParameters``, in the query, a form or a
    /// JSON body, also of the response: never shown in logs and exports.
    public var secretParameters: Set<String> {
        get { parts.shape.settings.secretParameters }
        _modify { yield &parts.shape.settings.secretParameters }
    }
    /// The login whose credential the request carries, if any.
    package var credentialVersion: CredentialVersion? {
        get { parts.shape.credentialVersion }
        set { parts.shape.credentialVersion = newValue }
    }
    /// The credentials that answer a Digest challenge.
    package var digest: Authentication.Digest? {
        get { parts.shape.settings.digest }
        set { parts.shape.settings.digest = newValue }
    }
    /// The additions of credentials and signatures; `nil` if there are none to track.
    package var secretAdditionsIfAny: SecretAdditions? { parts.shape.secretAdditions }
    /// The additions of credentials and signatures, for recording; empty if none have been recorded.
    var secretAdditions: SecretAdditions {
        get { parts.shape.secretAdditions ?? SecretAdditions() }
        set { parts.shape.secretAdditions = newValue }
    }
    /// Whether no credential may be added, because the request leaves the origin it was made for.
    public var isCredentialFree: Bool {
        get { parts.shape.isCredentialFree }
        set { parts.shape.isCredentialFree = newValue }
    }
    /// Whether the request may be sent twice although its method does not guarantee it.
    public var isDeclaredIdempotent: Bool {
        get { parts.shape.settings.isDeclaredIdempotent }
        set { parts.shape.settings.isDeclaredIdempotent = newValue }
    }
    /// Whether the request changes nothing although its method does not guarantee it.
    package var isDeclaredSafe: Bool {
        get { parts.shape.settings.isDeclaredSafe }
        set { parts.shape.settings.isDeclaredSafe = newValue }
    }
    /// Whether the first request may be sent again: false once a request that is not idempotent, or whose
    /// body can be sent only once, has been redirected.
    var canStartOver: Bool {
        get { parts.shape.settings.canStartOver }
        set { parts.shape.settings.canStartOver = newValue }
    }
    /// The identifier of this request in logs, events and errors, the same for all its attempts.
    public var id: RequestID {
        get { parts.id }
        set { parts.id = newValue }
    }
    /// The number of the attempt, from 1.
    public var attempt: Int {
        get { parts.attempt }
        set { parts.attempt = newValue }
    }
    /// The URL under which caches store the response, if it is not ``url``: without the additions of
    /// signature and credential, at the main server.
    package var resource: String? {
        get { parts.resource }
        set { parts.resource = newValue }
    }
    /// The record of the fields that were sent, which the sender fills in.
    package var sentFields: SentFields? {
        get { parts.sentFields }
        set { parts.sentFields = newValue }
    }
    /// Everything that determines what is sent and how its response is handled.
    package var shape: Shape { parts.shape }

    // Plain values above have setters: callers in other modules allocate the frame of an accessor that yields.
    @CopyOnWrite private var parts: Parts

    /// A request is its shape, which decides what is exchanged, and what tells it from other requests of that shape.
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
            method: method, target: .url(url), headerFields: headerFields, body: body,
            settings: Shape.Settings(timeouts: timeouts, bodyLimit: bodyLimit))
        parts = Parts(shape: shape, id: .next())
    }

    /// Creates a request like `template`, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URL) {
        self.init(like: template, method: method, at: .url(url))
    }

    /// Creates a request like `template`, with a new id.
    package init(like template: Request, method: HTTPRequest.Method, url: URLText) {
        self.init(like: template, method: method, at: .text(url))
    }

    private init(like template: Request, method: HTTPRequest.Method, at target: Shape.Target) {
        self = template
        parts.shape.method = method
        parts.shape.target = target
        parts.id = .next()
    }
}

extension Request {
    /// Everything that determines what is sent and how its response is handled, as one value: two requests of
    /// the same shape are the same request. A new property is compared automatically.
    package struct Shape: Sendable, Hashable {
        var method: HTTPRequest.Method
        var target: Target
        var headerFields: HTTPFields
        var body: Body
        var credentialVersion: CredentialVersion?
        var secretAdditions: SecretAdditions?
        var isCredentialFree = false
        @CopyOnWrite var settings: Settings

        /// The settings that most requests of a client have in common. Requests share them, so that a copy of a request
        /// copies little.
        struct Settings: Sendable, Hashable {
            var upgrade: ProtocolUpgrade?
            var compressesContent = false
            var decodesContent = true
            var continuePolicy = ContinuePolicy.never
            var timeouts: Timeouts
            var bodyLimit: Int
            var secretFields: Set<HTTPField.Name> = []
            var secretParameters: Set<String> = []
            var digest: Authentication.Digest?
            var isDeclaredIdempotent = false
            var isDeclaredSafe = false
            var canStartOver = true
        }
    }
}

extension Request.Shape {
    /// The URL of a request, as it was given: an object or text. Compared as text.
    enum Target: Sendable, Hashable {
        case url(URL)
        case text(URLText)
        /// A text that `URL` cannot hold, and the URL closest to it.
        case sent(String, URL)

        var text: String {
            switch self {
            case .url(let url): url.absoluteString
            case .text(let text): text.text
            case .sent(let text, _): text
            }
        }

        static func == (first: Target, second: Target) -> Bool { first.text == second.text }

        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }
}

/// Identifies one request within this process. All attempts, replays and redirects of a request share its id.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// Counts up from 1 over the life of the process.
    public let rawValue: UInt64

    private static let latest = Atomic<UInt64>(0)

    /// A new, unique id.
    public static func next() -> RequestID {
        RequestID(rawValue: RandomSource.simulated?.nextID() ?? latest.add(1, ordering: .relaxed).newValue)
    }

    /// `#` and the number.
    public var description: String {
        // `model.js` of the inspector removes the `#`.
        "#\(rawValue)"
    }
}

/// Identifies the login whose credential a request carried.
package struct CredentialVersion: Hashable, Sendable {
    /// Counts the accounts that a session has served, from 0; logging out or switching accounts starts the next.
    package var accountNumber: Int
    /// Counts the logins of the session, failed ones included.
    package var generation: Int

    package init(accountNumber: Int, generation: Int) {
        self.accountNumber = accountNumber
        self.generation = generation
    }
}

extension Request: RedactedDescription {
    /// One line without secrets: method, URL without user info, query and fragment, id, header fields, size
    /// of the body. `Authorization`, `Cookie`, `Proxy-Authorization`, `Sec-WebSocket-Protocol` and
    /// ``secretFields`` appear by name only.
    public var description: String {
        var parts = ["\(method.rawValue) \(redactedURL?.absoluteString ?? "…") \(id)"]
        if attempt > 1 { parts[0] += " (attempt \(attempt))" }
        parts += redaction.shown(headerFields).map { "\($0.name): \($0.value)" }
        let size = body.count.map { "\($0) bytes" } ?? "a stream"
        return (parts + [size]).joined(separator: ", ")
    }
}
