extension NetworkError.Code {
    /// The possible remedies for a kind of failure. Statuses and the request itself decide the rest.
    package struct Remedies: OptionSet {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Another attempt, if the request may be sent twice or nothing of it was sent.
        package static let retry = Remedies(rawValue: 1 << 0)
        /// Another attempt, only if the request may be sent twice.
        package static let retryIfIdempotent = Remedies(rawValue: 1 << 1)
        /// The other server of the service, if nothing was sent.
        package static let otherServer = Remedies(rawValue: 1 << 2)
        /// A stale stored response (`stale-if-error`, RFC 5861 §4).
        package static let staleResponse = Remedies(rawValue: 1 << 3)
        /// A new connection for an event stream.
        package static let reconnection = Remedies(rawValue: 1 << 4)
        /// No remedy, but the failure counts against the host in its circuit breaker.
        package static let circuitBreaker = Remedies(rawValue: 1 << 5)
    }

    /// The only table of failures that have remedies.
    package var remedies: Remedies {
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
