extension NetworkError {
    /// The kinds of failure. Open-ended: a transport or an app may add its own.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name, as it is printed.
        public var rawValue: String

        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        // Before anything is sent

        /// The URL is not an absolute http or https URL, or leaves the allowed origin.
        public static let invalidURL = Code(rawValue: "invalidURL")
        /// A header field's name is not a token, or its value holds CR, LF or NUL.
        public static let invalidHeader = Code(rawValue: "invalidHeader")
        /// The parameters cannot be encoded.
        public static let invalidParameters = Code(rawValue: "invalidParameters")
        /// The transport's configuration holds a value that it cannot use.
        public static let invalidConfiguration = Code(rawValue: "invalidConfiguration")
        /// A file could not be read or written.
        public static let file = Code(rawValue: "file")
        /// A file or folder that is trusted only as this user's own belongs to another user, can be written by others,
        /// or is a symbolic link.
        public static let untrustedFile = Code(rawValue: "untrustedFile")
        /// The request's body came out longer or shorter than announced.
        public static let bodyLength = Code(rawValue: "bodyLength")
        /// The transport has been shut down.
        public static let shutDown = Code(rawValue: "shutDown")

        /// The machine has no network, by the client's ``Reachability``.
        public static let unreachable = Code(rawValue: "unreachable")

        /// Too many requests to the host have failed: its circuit breaker is open; see ``NetworkError/openCircuit``.
        public static let circuitOpen = Code(rawValue: "circuitOpen")

        // On the way

        /// The host name was not resolved.
        public static let resolve = Code(rawValue: "resolve")
        /// No connection could be made.
        public static let connect = Code(rawValue: "connect")
        /// The proxy did not let the connection through.
        public static let proxy = Code(rawValue: "proxy")
        /// The host leads to an address that is not for everybody, and the transport forbids those.
        public static let forbiddenAddress = Code(rawValue: "forbiddenAddress")
        /// TLS could not be agreed upon, or the server's certificate was not accepted; see
        /// ``NetworkError/tlsFailure``.
        public static let tls = Code(rawValue: "tls")
        /// The connection broke while sending or receiving.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// The server closed the connection without a response.
        public static let emptyReply = Code(rawValue: "emptyReply")
        /// The response ended before its body was complete.
        public static let partialBody = Code(rawValue: "partialBody")
        /// The response is not HTTP, or not decodable.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The request's turn did not come, or no connection was free, within ``Timeouts/queue``.
        public static let queueTimeout = Code(rawValue: "queueTimeout")
        /// There was no connection within ``Timeouts/connect``.
        public static let connectTimeout = Code(rawValue: "connectTimeout")
        /// No response began within ``Timeouts/firstByte``.
        public static let firstByteTimeout = Code(rawValue: "firstByteTimeout")
        /// Nothing moved for as long as ``Timeouts/idle``.
        public static let idleTimeout = Code(rawValue: "idleTimeout")
        /// The attempt took longer than ``Timeouts/attempt``.
        public static let attemptTimeout = Code(rawValue: "attemptTimeout")
        /// Everything together took longer than ``Timeouts/total``.
        public static let totalTimeout = Code(rawValue: "totalTimeout")
        /// The header section or the body is larger than allowed.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// More redirects than allowed.
        public static let tooManyRedirects = Code(rawValue: "tooManyRedirects")
        /// A redirect that must not be followed: from https to http, to another scheme, or without target.
        public static let invalidRedirect = Code(rawValue: "invalidRedirect")

        /// Cancelled through its client. Callbacks of `subscribe` are not called with it.
        public static let cancelled = Code(rawValue: "cancelled")

        // After the response

        /// A status outside 200 to 299.
        public static let status = Code(rawValue: "status")
        /// The content is of a type that is not accepted.
        public static let contentType = Code(rawValue: "contentType")
        /// The envelope says that the request is to be sent again later; see ``NetworkError/retryDelay``.
        public static let retryLater = Code(rawValue: "retryLater")
        /// The envelope says no.
        public static let envelope = Code(rawValue: "envelope")
        /// The login has expired, by what the envelope says, or it could not be renewed.
        public static let loginExpired = Code(rawValue: "loginExpired")
        /// The body does not have the digest that the server sent with it (RFC 9530).
        public static let digestMismatch = Code(rawValue: "digestMismatch")
        /// The body is not what was to be decoded.
        public static let decoding = Code(rawValue: "decoding")
        /// The next page is nowhere: a link in a circle, to another URL than http or https, or to a forbidden place.
        public static let paging = Code(rawValue: "paging")
        /// The response is well-formed but has no useful content: by the envelope, or by a validator.
        public static let noContent = Code(rawValue: "noContent")
    }
}
