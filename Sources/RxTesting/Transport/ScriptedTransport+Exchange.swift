public import RxHTTP

extension ScriptedTransport {
    /// One subscription to one request, with its outcome.
    public struct Exchange: Sendable {
        /// The request as it was sent.
        public let request: Request
        /// The virtual time of the subscription.
        public let startedAt: Duration
        /// The virtual time of the end or the cancel; `nil` while it runs.
        public internal(set) var endedAt: Duration?
        /// Its outcome so far.
        public internal(set) var outcome: Outcome = .running
    }
}

extension ScriptedTransport.Exchange {
    /// The outcome of an exchange.
    public enum Outcome: Sendable, Equatable {
        /// Neither ended nor cancelled.
        case running
        /// The complete response was delivered.
        case finished
        /// The exchange failed.
        case failed(NetworkError.Code)
        /// The subscriber cancelled.
        case cancelled
    }
}
