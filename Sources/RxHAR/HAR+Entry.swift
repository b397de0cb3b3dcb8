extension HAR {
    /// One exchange: a request as sent, and its response.
    public struct Entry: Codable, Sendable, Equatable {
        /// The start time, in ISO 8601.
        public var startedDateTime: String
        /// The duration in milliseconds: the sum of the timings.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response. The status is 0 if there was no response.
        public var response: Response
        /// The state of the cache; not recorded.
        public var cache = Cache()
        /// The phases.
        public var timings: Timings
        /// The address of the server, or of the proxy.
        public var serverIPAddress: String?
        /// The local port, which identifies the connection.
        public var connection: String?
        /// A comment.
        public var comment: String?
        /// The id of the request in logs and errors.
        public var requestID: String
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// The reason for a missing or incomplete response.
        public var error: String?
        /// `websocket` for a WebSocket, as in archives of Chrome.
        public var resourceType: String?
        /// The messages of a WebSocket, as in archives of Chrome.
        public var webSocketMessages: [WebSocketMessage]?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection,
                comment
            case requestID = "_requestId"
            case attempt = "_attempt"
            case error = "_error"
            case resourceType = "_resourceType"
            case webSocketMessages = "_webSocketMessages"
        }
    }

    /// The state of a cache.
    public struct Cache: Codable, Sendable, Equatable {}

    /// The phases of an exchange in milliseconds; −1 for phases that did not occur.
    public struct Timings: Codable, Sendable, Equatable {
        /// Waiting for a connection.
        public var blocked: Double = -1
        /// Resolving the name.
        public var dns: Double = -1
        /// Connecting, including TLS.
        public var connect: Double = -1
        /// Sending the request.
        public var send: Double
        /// From the last byte of the request to the first byte of the response.
        public var wait: Double
        /// From the first to the last byte of the response.
        public var receive: Double
        /// The TLS handshake; also part of `connect`.
        public var ssl: Double = -1

        /// The sum of all phases; `ssl` is part of `connect`.
        var total: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}
