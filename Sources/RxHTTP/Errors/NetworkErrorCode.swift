extension NetworkError {
    /// The kinds of failure. Open-ended: a transport or an app may add others.
    public struct Code: RawRepresentable, Hashable, Sendable {
        // Cassettes and outboxes store the names, and metrics export them as `error.type`, so none may change.

        /// The name, as printed.
        public var rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        // Before anything is sent

        /// The URL is not an absolute http or https URL, or leaves the allowed origin.
        public static let invalidURL = Code(rawValue: "invalidURL")
        /// A header field's name is not a token, or its value contains a character that is not allowed, such
        /// as CR, LF or NUL; or a subprotocol of a WebSocket is not a token, or is offered twice.
        public static let invalidHeader = Code(rawValue: "invalidHeader")
        /// The parameters, or a message of a WebSocket, cannot be encoded; or a WebSocket must not send the
        /// frame, such as a ping with more than 125 bytes.
        public static let invalidParameters = Code(rawValue: "invalidParameters")
        /// The transport's configuration contains a value that it cannot use, a sink is passed to a WebSocket while it
        /// sends on another, or an inspector cannot listen on its port.
        public static let invalidConfiguration = Code(rawValue: "invalidConfiguration")
        /// Another process, or another part of this one, has locked the file.
        public static let locked = Code(rawValue: "locked")
        /// A file could not be read or written.
        public static let file = Code(rawValue: "file")
        /// A file or folder that must belong to this user alone belongs to another user, is writable by
        /// others, or is a symbolic link.
        public static let untrustedFile = Code(rawValue: "untrustedFile")
        /// The request's body was longer or shorter than announced.
        public static let bodyLength = Code(rawValue: "bodyLength")
        /// The client or the transport has been shut down.
        public static let shutDown = Code(rawValue: "shutDown")

        /// The machine has no network, according to the client's ``Reachability``.
        public static let unreachable = Code(rawValue: "unreachable")

        /// Too many requests to the host have failed: its circuit breaker is open; see ``NetworkError/openCircuit``.
        public static let circuitOpen = Code(rawValue: "circuitOpen")

        /// This machine has no descriptors, threads or memory left, or too many names are being looked up; see
        /// ``NetworkError/systemError``. The server is not the cause, so it counts neither for retries and
        /// failover nor for circuit breakers.
        public static let resources = Code(rawValue: "resources")

        // While sending and receiving

        /// The host name could not be resolved.
        public static let resolve = Code(rawValue: "resolve")
        /// No connection could be established.
        public static let connect = Code(rawValue: "connect")
        /// The proxy could not be reached, or did not connect the request to its server.
        public static let proxy = Code(rawValue: "proxy")
        /// The host resolves to an address that is not public, and the transport forbids those.
        public static let forbiddenAddress = Code(rawValue: "forbiddenAddress")
        /// The TLS handshake failed, or the server's certificate was rejected; see
        /// ``NetworkError/tlsFailure``.
        public static let tls = Code(rawValue: "tls")
        /// The connection broke while sending or receiving, or a WebSocket's ended without a close frame.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// The server closed the connection without a response.
        public static let emptyReply = Code(rawValue: "emptyReply")
        /// The response ended before its body was complete.
        public static let partialBody = Code(rawValue: "partialBody")
        /// The response is not valid HTTP, its content cannot be decoded, or it does not fit the request.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The request's turn did not come, or no connection became free, within ``Timeouts/queue``.
        public static let queueTimeout = Code(rawValue: "queueTimeout")
        /// No connection was established within ``Timeouts/connect``.
        public static let connectTimeout = Code(rawValue: "connectTimeout")
        /// No response began within ``Timeouts/firstByte``.
        public static let firstByteTimeout = Code(rawValue: "firstByteTimeout")
        /// No byte moved for the time of ``Timeouts/idle``, or the server of a WebSocket did not answer a
        /// ping.
        public static let idleTimeout = Code(rawValue: "idleTimeout")
        /// The attempt took longer than ``Timeouts/attempt``.
        public static let attemptTimeout = Code(rawValue: "attemptTimeout")
        /// The whole call took longer than ``Timeouts/total``.
        public static let totalTimeout = Code(rawValue: "totalTimeout")
        /// The header section or the body is larger than allowed.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The request was redirected more often than allowed.
        public static let tooManyRedirects = Code(rawValue: "tooManyRedirects")
        /// A redirect that must not be followed: from https to http, to another scheme, or without a target.
        public static let invalidRedirect = Code(rawValue: "invalidRedirect")

        /// The request was cancelled through its client, or awaited by a task that was cancelled. Callbacks of
        /// `subscribe` are not called with this error.
        public static let cancelled = Code(rawValue: "cancelled")

        // WebSockets

        /// The server closed the WebSocket with a code that is not a success (see
        /// ``NetworkError/closeCode``), or the WebSocket ended before a message was sent.
        public static let webSocketClosed = Code(rawValue: "webSocketClosed")
        /// The server broke the WebSocket protocol or one of its limits; see ``NetworkError/closeCode``.
        public static let webSocketProtocol = Code(rawValue: "webSocketProtocol")
        /// Too many messages wait to be sent.
        public static let outboxFull = Code(rawValue: "outboxFull")

        // After the response

        /// The status is outside 200 to 299.
        public static let status = Code(rawValue: "status")
        /// The content type of the response is not accepted.
        public static let contentType = Code(rawValue: "contentType")
        /// The envelope asks for the request to be sent again later; see ``NetworkError/retryDelay``.
        public static let retryLater = Code(rawValue: "retryLater")
        /// The envelope reports a failure.
        public static let envelope = Code(rawValue: "envelope")
        /// The envelope reports an expired login, or the login could not be renewed.
        public static let loginExpired = Code(rawValue: "loginExpired")
        /// The closure that logs in threw an error of another type; the message describes it.
        public static let loginFailed = Code(rawValue: "loginFailed")
        /// The body does not match the digest that the server sent with it (RFC 9530).
        public static let digestMismatch = Code(rawValue: "digestMismatch")
        /// The body could not be decoded as the expected type.
        public static let decoding = Code(rawValue: "decoding")
        /// The next page cannot be requested: its link leads in a circle, to a URL that is not http or https,
        /// or to a forbidden place.
        public static let paging = Code(rawValue: "paging")
        /// The response is well-formed but has no useful content, according to the envelope or a validator.
        public static let noContent = Code(rawValue: "noContent")
        /// A stream that was awaited for a value (`value()`) has finished without one.
        public static let noValue = Code(rawValue: "noValue")
    }
}

extension NetworkError.Code: CustomStringConvertible {
    /// The name, such as `connectTimeout`.
    public var description: String { rawValue }
}

extension NetworkError.Code {
    /// The kinds of recovery that a failure of this code permits. The status and the request decide among them.
    package struct RecoveryOptions: OptionSet {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Another attempt, if the request may be sent twice or nothing of it was sent.
        package static let retry = RecoveryOptions(rawValue: 1 << 0)
        /// Another attempt, only if the request may be sent twice.
        package static let retryIfIdempotent = RecoveryOptions(rawValue: 1 << 1)
        /// The other server of the service, if nothing was sent.
        package static let otherServer = RecoveryOptions(rawValue: 1 << 2)
        /// A stale stored response (`stale-if-error`, RFC 5861 §4).
        package static let staleResponse = RecoveryOptions(rawValue: 1 << 3)
        /// A new connection for an event stream.
        package static let reconnection = RecoveryOptions(rawValue: 1 << 4)
        /// Nothing helps, but the failure counts against the host in its circuit breaker.
        package static let circuitBreaker = RecoveryOptions(rawValue: 1 << 5)
    }

    /// The only table of failures after which something may help. To outboxes and hedging, any option says that another
    /// attempt may succeed.
    package var recoveryOptions: RecoveryOptions {
        switch self {
        case .resolve, .connect, .proxy, .connectTimeout:
            [.retry, .otherServer, .staleResponse, .reconnection, .circuitBreaker]
        case .connectionLost, .emptyReply, .partialBody, .firstByteTimeout, .idleTimeout:
            [.retryIfIdempotent, .staleResponse, .reconnection, .circuitBreaker]
        case .attemptTimeout: [.retryIfIdempotent, .staleResponse, .circuitBreaker]
        case .tls: [.otherServer, .circuitBreaker]
        case .invalidResponse: .circuitBreaker
        case .queueTimeout, .resources: [.staleResponse, .reconnection]
        case .totalTimeout: [.staleResponse, .circuitBreaker]
        case .circuitOpen: [.otherServer, .staleResponse, .reconnection]
        case .unreachable: .reconnection
        case .retryLater, .digestMismatch: .retryIfIdempotent
        default: []
        }
    }
}
