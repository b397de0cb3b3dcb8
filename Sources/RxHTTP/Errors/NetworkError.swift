public import FoundationEssentials
public import HTTPTypes
public import RxLite

/// The reason why a request has no result.
///
/// Switch on ``code``, the kind of failure; the other properties describe it. ``url`` has no user info, query
/// or fragment, and messages of this library contain no credentials. ``head``, ``body`` and a message taken
/// from the response are text of the server: check them before you log them.
///
/// ```swift
/// .subscribe(onFailure: { error in
///     switch error.code {
///     case .envelope: show(error.message)
///     case .attemptTimeout, .totalTimeout: offerRetry()
///     default: show("\(error)")
///     }
/// })
/// ```
public struct NetworkError: Error, Sendable {
    /// The kind of failure.
    public var code: Code {
        get { parts.code }
        _modify { yield &parts.code }
    }
    /// A description for people. If the server gave a reason (in an envelope or an error body), its text.
    public var message: String {
        get { parts.message }
        _modify { yield &parts.message }
    }
    /// The server's text alone, if it gave a reason in an envelope or an error body: to show it, or another text
    /// without it.
    public var serverMessage: String? {
        get { parts.serverMessage }
        _modify { yield &parts.serverMessage }
    }
    /// The technical text behind ``message``: libcurl's, if it reported the failure.
    public var details: String? {
        get { parts.details }
        _modify { yield &parts.details }
    }
    /// The request that failed; `nil` if the failure came before there was a request.
    public var requestID: RequestID? {
        get { parts.requestID }
        _modify { yield &parts.requestID }
    }
    /// The method of the request.
    public var method: HTTPRequest.Method? {
        get { parts.method }
        _modify { yield &parts.method }
    }
    /// The URL, without user info, query and fragment.
    public var url: URL? {
        get { parts.url }
        _modify { yield &parts.url }
    }
    /// The number of the attempt, from 1.
    public var attempt: Int {
        get { parts.attempt }
        _modify { yield &parts.attempt }
    }
    /// The failure that led to this one: for ``Code/loginExpired`` the refusal of the login, if that is why the account
    /// is gone.
    public var cause: NetworkError? {
        get { parts.cause }
        _modify { yield &parts.cause }
    }
    /// The status and header fields, if a response had begun.
    public var head: ResponseHead? {
        get { parts.head }
        _modify { yield &parts.head }
    }
    /// The body, if known: of an error status, an envelope failure, or content that could not be decoded.
    public var body: [UInt8] {
        get { parts.body }
        _modify { yield &parts.body }
    }
    /// The code in a failed envelope, as text.
    public var envelopeCode: String? {
        get { parts.envelopeCode }
        _modify { yield &parts.envelopeCode }
    }
    /// The time that the server's envelope asks to wait before the request is sent again, if any.
    public var retryDelay: Duration? {
        get { parts.retryDelay }
        _modify { yield &parts.retryDelay }
    }
    /// The code with which a WebSocket was closed (RFC 6455 §7.4): the server's, or this side's if the server
    /// broke the protocol; 1006 if there was no close frame.
    public var closeCode: Int? {
        get { parts.closeCode }
        _modify { yield &parts.closeCode }
    }
    /// The period in which a circuit breaker lets no request through, for ``Code/circuitOpen``: from when it opened until
    /// when a request may probe the host again, on its clock, as ``Scheduler/now`` gives it. The end is in the past while a
    /// probe is in flight.
    public var openCircuit: Range<Duration>? {
        get { parts.openCircuit }
        _modify { yield &parts.openCircuit }
    }
    /// The path in the document where decoding failed.
    public var codingPath: String? {
        get { parts.codingPath }
        _modify { yield &parts.codingPath }
    }
    /// The reason of a TLS failure, if known.
    public var tlsFailure: TLSFailure? {
        get { parts.tlsFailure }
        _modify { yield &parts.tlsFailure }
    }
    /// The result code of libcurl (`CURLcode`), if libcurl reported the failure.
    public var curlCode: Int? {
        get { parts.curlCode }
        _modify { yield &parts.curlCode }
    }
    /// The error number of the system (`errno`), such as `EMFILE`, if a call of the system failed for
    /// ``Code/resources``.
    public var systemError: Int? {
        get { parts.systemError }
        _modify { yield &parts.systemError }
    }
    /// Whether it is certain that no byte of the request reached a server; false after a redirect. Of a failed renewal by
    /// OAuth, whether no byte of the refresh token did.
    public var isUnsent: Bool {
        get { parts.isUnsent }
        _modify { yield &parts.isUnsent }
    }
    /// Whether the request could be sent again from the start.
    public var isReplayable: Bool {
        get { parts.isReplayable }
        _modify { yield &parts.isReplayable }
    }
    /// Whether the request may be repeated without asking (RFC 9110 §9.2.2, or `Idempotency-Key`); after
    /// redirects, whether the first request may.
    public var isIdempotent: Bool {
        get { parts.isIdempotent }
        _modify { yield &parts.isIdempotent }
    }
    /// The login whose credential the request carried, if any.
    package var credentialVersion: CredentialVersion? {
        get { parts.credentialVersion }
        _modify { yield &parts.credentialVersion }
    }

    /// The number of the session's login whose refusal is this failure or its cause, for those who report it once.
    package var refusedLogin: Int? {
        get { parts.refusedLogin }
        _modify { yield &parts.refusedLogin }
    }

    @CopyOnWrite private var parts: Parts

    private struct Parts: Sendable {
        var code: Code
        var message: String
        var serverMessage: String?
        var details: String?
        var requestID: RequestID?
        var method: HTTPRequest.Method?
        var url: URL?
        var attempt = 1
        var cause: NetworkError?
        var refusedLogin: Int?
        var head: ResponseHead?
        var body: [UInt8] = []
        var envelopeCode: String?
        var retryDelay: Duration?
        var closeCode: Int?
        var openCircuit: Range<Duration>?
        var codingPath: String?
        var tlsFailure: TLSFailure?
        var curlCode: Int?
        var systemError: Int?
        var isUnsent = false
        var isReplayable = true
        var isIdempotent = false
        var credentialVersion: CredentialVersion?
    }

    /// Creates an error about `request`.
    public init(_ code: Code, _ message: String, request: Request? = nil) {
        parts = Parts(code: code, message: message)
        guard let request else { return }
        attribute(to: request)
    }

    private mutating func attribute(to request: Request) {
        requestID = request.id
        method = request.method
        url = request.redactedURL
        attempt = request.attempt
        isReplayable = request.body.isReplayable && request.canStartOver
        isIdempotent = request.isIdempotent && request.canStartOver
        credentialVersion = request.credentialVersion
    }

    /// The failure of something that `request` needed, as a failure of `request`.
    package func attributed(to request: Request) -> NetworkError {
        var error = self
        error.attribute(to: request)
        return error
    }

    /// The status of the response, if one had begun.
    public var status: HTTPResponse.Status? { head?.status }
}

extension NetworkError: CancellationReporting {
    /// Whether the request was cancelled through its client: ``Code/cancelled``.
    public var isCancellation: Bool { code == .cancelled }

    /// The error of `value()` and of loops over a stream whose task is cancelled.
    public static var taskCancelled: NetworkError { NetworkError(.cancelled, "the task was cancelled") }
}

extension NetworkError: RedactedDescription {
    /// One line: kind, request, message, details.
    public var description: String {
        var line = code.rawValue
        if let method, let url { line += " \(method.rawValue) \(url.absoluteString)" }
        if let requestID { line += " \(requestID)" }
        if attempt > 1 { line += " (attempt \(attempt))" }
        if let status { line += " [\(status.code)]" }
        if let tlsFailure { line += " [\(tlsFailure.rawValue)]" }
        if let curlCode { line += " [curl \(curlCode)]" }
        if let systemError { line += " [errno \(systemError)]" }
        if !message.isEmpty { line += ": " + message }
        if let details { line += " (\(details))" }
        return line
    }

    /// One line without text of the server, which may contain anything.
    package var shown: String { withoutServerText.description }

    /// The error without text of the server, which may contain anything: body, header fields, and messages made from
    /// them.
    package var withoutServerText: NetworkError {
        var error = self
        error.body = []
        error.serverMessage = nil
        error.cause = cause?.withoutServerText
        error.head = head.map { ResponseHead(status: $0.status) }
        // For each code whose message may contain text of a response: one that is missing here leaks that text.
        switch code {
        case .status, .envelope: error.message = envelopeCode.map { "code \($0)" } ?? ""
        case .loginExpired, .noContent, .retryLater:
            error.message = envelopeCode.map { "code \($0)" } ?? message
        case .decoding: error.message = codingPath.map { $0.isEmpty ? "at the top" : "at \($0)" } ?? ""
        case .contentType: error.message = "the response has another content type"
        case .webSocketClosed: error.message = closeCode.map { "code \($0)" } ?? message
        default: break
        }
        return error
    }
}

extension URL {
    /// The URL without the parts that may contain secrets.
    var redacted: URL? {
        guard user() != nil || password() != nil || query() != nil || fragment != nil else { return self }
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }
}

extension Request {
    /// Whether sending the request twice has the same effect as sending it once: GET, HEAD, OPTIONS, TRACE,
    /// PUT and DELETE (RFC 9110 §9.2.2), and any request that is declared idempotent or has an
    /// `Idempotency-Key`.
    public var isIdempotent: Bool {
        switch method {
        case .get, .head, .options, .trace, .put, .delete: true
        default: isDeclaredIdempotent || headerFields[.idempotencyKey] != nil
        }
    }

    /// Whether the request may be sent twice, and its body can be.
    public var isRepeatable: Bool { isIdempotent && body.isReplayable }
}

extension HTTPField.Name {
    /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}

extension NetworkError {
    /// The reason of a TLS failure. Open-ended, like ``NetworkError/Code``.
    public struct TLSFailure: RawRepresentable, Hashable, Sendable {
        /// The name, as printed. Cassettes store it.
        public var rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A certificate has expired.
        public static let expired = TLSFailure(rawValue: "expired")
        /// A certificate is not valid yet.
        public static let notYetValid = TLSFailure(rawValue: "notYetValid")
        /// The certificate is for other host names.
        public static let hostMismatch = TLSFailure(rawValue: "hostMismatch")
        /// The issuer of the certificate is not trusted.
        public static let unknownAuthority = TLSFailure(rawValue: "unknownAuthority")
        /// The certificate is self-signed and not trusted.
        public static let selfSigned = TLSFailure(rawValue: "selfSigned")
        /// A certificate has been revoked.
        public static let revoked = TLSFailure(rawValue: "revoked")
        /// The server's key does not match any pinned key.
        public static let pinMismatch = TLSFailure(rawValue: "pinMismatch")
        /// Client and server have no TLS version in common.
        public static let protocolVersion = TLSFailure(rawValue: "protocolVersion")
        /// The client's certificate is missing, unreadable, or refused by the server.
        public static let clientCertificate = TLSFailure(rawValue: "clientCertificate")
        /// The file of trusted authorities cannot be read.
        public static let caBundle = TLSFailure(rawValue: "caBundle")
    }
}

extension NetworkError: InspectedValue {
    /// One line without text of the server, for the inspector of streams.
    package var inspectedText: String { shown }
}
