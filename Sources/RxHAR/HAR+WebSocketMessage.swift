extension HAR {
    /// A message of a WebSocket.
    public struct WebSocketMessage: Codable, Sendable, Equatable {
        /// The direction of a message.
        public enum Direction: String, Codable, Sendable {
            /// From this side to the server.
            case send
            /// From the server to this side.
            case receive
        }

        /// The direction.
        public var type: Direction
        /// The time, in seconds since 1970.
        public var time: Double
        /// 1 for text, 2 for bytes (RFC 6455 §5.2).
        public var opcode: Int
        /// The text, or the bytes in base64; empty if bodies are not recorded.
        public var data: String
    }
}
