extension HAR {
    /// One exchange: a request as it was sent, and its response.
    public struct Entry: Codable, Sendable, Equatable {
        /// When it began, as in ISO 8601.
        public var startedDateTime: String
        /// How long it took, in milliseconds: the sum of the timings.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response. The status is 0 if nothing did.
        public var response: Response
        /// The cache's state of it: nothing is recorded.
        public var cache = Cache()
        /// The phases.
        public var timings: Timings
        /// The address of the server, or of the proxy.
        public var serverIPAddress: String?
        /// The port at this end, which names the connection.
        public var connection: String?
        /// A remark.
        public var comment: String?
        /// The id that the request has in logs and errors.
        public var requestID: String
        /// Which attempt it was, from 1.
        public var attempt: Int
        /// The reason for a missing or incomplete response.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection,
                comment
            case requestID = "_requestId"
            case attempt = "_attempt"
            case error = "_error"
        }
    }

    /// The state of a cache.
    public struct Cache: Codable, Sendable, Equatable {}

    /// The phases of an exchange in milliseconds; −1 for those that it did not have.
    public struct Timings: Codable, Sendable, Equatable {
        /// Waiting for a connection.
        public var blocked: Double = -1
        /// Resolving the name.
        public var dns: Double = -1
        /// Connecting, TLS included.
        public var connect: Double = -1
        /// Sending the request.
        public var send: Double
        /// From the request's last byte to the response's first.
        public var wait: Double
        /// From the first to the last byte of the response.
        public var receive: Double
        /// Agreeing upon TLS; also part of `connect`.
        public var ssl: Double = -1

        /// All of them; `ssl` is counted in `connect`.
        var total: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}
