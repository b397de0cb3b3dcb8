public import RxHTTP
public import RxWebSocket

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
        /// The messages that the client has sent over a scripted WebSocket.
        public internal(set) var messages: [WebSocketMessage] = []
        /// The code of the client's close frame, if it has sent one.
        public internal(set) var closeCode: WebSocketCloseCode?
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
