extension RawServer {
    /// A request as it was received.
    public struct Request: Sendable {
        /// Which connection it came on, from 0 in the order of their acceptance.
        public let connection: Int
        /// Which request of its connection it is, from 0.
        public let index: Int
        /// The method.
        public let method: String
        /// The request target: path and query, undecoded.
        public let target: String
        /// The header lines in their order, names as they were written.
        public let fields: [(name: String, value: String)]
        /// The body, decoded if it came chunked. Empty until it has been read.
        public internal(set) var body: [UInt8] = []

        /// The value of the first field of that name, in any case.
        public func field(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// The body as text; bytes that are not UTF-8 are replaced.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// How a connection ended.
    public enum End: Error, Hashable {
        /// The client closed in order (FIN).
        case clientClosed
        /// The client reset the connection, or it broke while the server was sending.
        case clientReset
        /// The script closed or reset it, and the client had not closed before.
        case script
        /// The server was stopped first.
        case stopped
        /// What came is not a request, and why.
        case malformedRequest(String)
    }

    /// Everything that a server has seen.
    public struct Record: Sendable {
        /// What happened on one connection.
        public struct Connection: Sendable {
            /// How many bytes the kernel has taken to send.
            public internal(set) var bytesSent = 0
            /// How many times the client's slowness, or its pause, made the server wait before sending more.
            public internal(set) var sendStalls = 0
            /// How many bytes ``Step/waitForClientClose`` has read and dropped.
            public internal(set) var bytesDropped = 0
            /// How it ended; `nil` while it is open.
            public internal(set) var end: End?
        }

        /// The connections in the order of their acceptance.
        public internal(set) var connections: [Connection] = []
        /// The requests whose head, or whose body where there is one to be read, is complete.
        public internal(set) var requests: [Request] = []

        /// The connections that have not ended.
        public var openConnections: Int { connections.count { $0.end == nil } }
    }
}

/// The record of a server, with those who wait for something in it.
typealias RecordBoard = Board<RawServer.Record>
