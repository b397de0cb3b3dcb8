public import FoundationEssentials
public import HTTPTypes
public import RxLite

/// Why a request did not give its result.
///
/// ``code`` says which kind it is and is what code switches on; the rest says what happened. ``url`` has no user info,
/// query or fragment, and texts of this library in ``message`` hold no credentials. ``head``, ``body`` and a message
/// taken from the response are the server's text: look at them before you log them.
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
    public var code: Code
    /// A description for people. Where the server said why (an envelope's or an error body's message), that text.
    public var message: String
    /// The request that failed; `nil` if it failed before there was one.
    public var requestID: RequestID?
    /// The method of the request.
    public var method: HTTPRequest.Method?
    /// The URL, without user info, query and fragment.
    public var url: URL?
    /// Which attempt this was, from 1.
    public var attempt: Int = 1
    /// The status and header fields, if a response had begun.
    public var head: ResponseHead?
    /// The body, if it is known: of an error status, of an envelope failure, of content that did not decode.
    public var body: [UInt8] = []
    /// The code in a failed envelope, as text.
    public var envelopeCode: String?
    /// How long the server asks to wait before the request is sent again, where its envelope says so.
    public var retryDelay: Duration?
    /// Since when and until when nothing is sent, for ``Code/circuitOpen``.
    public var openCircuit: OpenCircuit?
    /// Where in the document decoding failed.
    public var codingPath: String?
    /// The reason of a TLS failure, if it is known.
    public var tlsFailure: TLSFailure?
    /// The result code of libcurl (`CURLcode`), if the transport's libcurl said no.
    public var curlCode: Int?
    /// Whether it is certain that no byte of the request reached a server; after a redirect it has.
    public var isUnsent: Bool = false
    /// Whether the request could be sent again from the start.
    public var isReplayable: Bool = true
    /// Whether the request may be repeated without asking (RFC 9110 §9.2.2, or `Idempotency-Key`); after
    /// redirects, whether the first one may.
    public var isIdempotent: Bool = false
    /// Which login's credential the request carried, if any.
    public var credentialVersion: CredentialVersion?

    /// Creates an error about `request`.
    public init(_ code: Code, _ message: String, request: Request? = nil) {
        self.code = code
        self.message = message
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

    /// The same failure, of something that `request` needed, as its own.
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
}

extension NetworkError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line: kind, request, message.
    public var description: String {
        var line = code.rawValue
        if let method, let url { line += " \(method.rawValue) \(url.absoluteString)" }
        if let requestID { line += " \(requestID)" }
        if attempt > 1 { line += " (attempt \(attempt))" }
        if let status { line += " [\(status.code)]" }
        if let tlsFailure { line += " [\(tlsFailure.rawValue)]" }
        if let curlCode { line += " [curl \(curlCode)]" }
        return message.isEmpty ? line : line + ": " + message
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// One line without words of the server's, of which nobody knows what they hold.
    package var shown: String {
        var error = self
        switch code {
        case .status, .envelope: error.message = envelopeCode.map { "code \($0)" } ?? ""
        case .loginExpired, .noContent, .retryLater:
            error.message = envelopeCode.map { "code \($0)" } ?? message
        case .decoding: error.message = codingPath.map { $0.isEmpty ? "at the top" : "at \($0)" } ?? ""
        default: break
        }
        return error.description
    }
}

extension URL {
    /// Without the parts that may hold secrets.
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
    /// Whether sending the request twice has the effect of sending it once: GET, HEAD, OPTIONS, TRACE, PUT
    /// and DELETE (RFC 9110 §9.2.2), and any that says so or has an `Idempotency-Key`.
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
