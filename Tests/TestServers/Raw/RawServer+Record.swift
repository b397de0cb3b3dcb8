extension RawServer {
    /// A request as received.
    public struct Request: Sendable {
        /// The index of its connection in the order of acceptance, from 0.
        public let connection: Int
        /// The index of the request on its connection, from 0.
        public let index: Int
        /// The method.
        public let method: String
        /// The request target: path and query, undecoded.
        public let target: String
        /// The header fields in order, with the names as written.
        public let fields: [(name: String, value: String)]
        /// The body, decoded if it was chunked. Empty until it has been read.
        public internal(set) var body: [UInt8] = []

        /// The value of the first field with this name, ignoring case.
        public func field(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// The body as text; bytes that are not UTF-8 are replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// How a connection ended.
    public enum End: Error, Hashable {
        /// The client closed gracefully (FIN).
        case clientClosed
        /// The client reset the connection, or it failed while the server was sending.
        case clientReset
        /// The script closed or reset the connection, and the client had not closed it before.
        case script
        /// The server was stopped first.
        case stopped
        /// The received data is not a valid request; with the reason.
        case malformedRequest(String)
    }

    /// Everything that a server has observed.
    public struct Record: Sendable {
        /// The observations of one connection.
        public struct Connection: Sendable {
            /// The number of bytes that the kernel has accepted for sending.
            public internal(set) var bytesSent = 0
            /// How often the server had to wait before it could send more, because the client was slow or
            /// paused.
            public internal(set) var sendStalls = 0
            /// The number of bytes that ``Step/waitForClientClose`` has read and discarded.
            public internal(set) var bytesDropped = 0
            /// The bytes that ``Step/keep`` has read.
            public internal(set) var received: [UInt8] = []
            /// Whether ``Step/close`` has told the client that nothing follows (FIN).
            public internal(set) var hasEndedSending = false
            /// How the connection ended; `nil` while it is open.
            public internal(set) var end: End?
        }

        /// The connections in the order of acceptance.
        public internal(set) var connections: [Connection] = []
        /// The requests whose head is complete, and whose body is complete if the script reads it.
        public internal(set) var requests: [Request] = []

        /// The connections that have not ended.
        public var openConnections: Int { connections.count { $0.end == nil } }
    }
}

/// The record of a server, with waiters.
typealias RecordBoard = Board<RawServer.Record>
