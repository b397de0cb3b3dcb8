import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The faults of a server of uploads, for its requests with content in their order.
public enum UploadFault: Sendable {
    /// Ends the connection after so many bytes of the content, with a reset unless the request may create the upload.
    case cut(after: Int)
    /// Stops reading after so many bytes of the content, until the client leaves.
    case hold(after: Int)
    /// Processes the content and closes the connection without a response.
    case unanswered
    /// Responds with this status, and processes nothing.
    case status(Int, [String: String] = [:])
    /// Sends no informational response.
    case silent
    /// Sends informational responses of this interop version.
    case interop(String)
    /// Names another place in the final response than in the informational one.
    case wandering
    /// Keeps the content to this size, although it confirms all of it.
    case corrupted
    /// No fault.
    case none
}

/// The requests that a server of uploads has seen.
public struct UploadLog: Sendable {
    /// One request.
    public struct Entry: Sendable {
        /// The method.
        public let method: String
        /// The path.
        public let target: String
        /// The fields, with names in lower case.
        public let fields: [String: String]
        /// The bytes of the body that have arrived.
        public internal(set) var received = 0
    }

    /// All requests, in their order.
    public internal(set) var entries: [Entry] = []
    /// The number of requests that came while another one for the same upload was being processed.
    public internal(set) var overlaps = 0

    /// The bytes of all bodies.
    public var received: Int { entries.reduce(0) { $0 + $1.received } }
    /// The methods of all requests.
    public var methods: [String] { entries.map(\.method) }
}

/// Waits a little for the request before, which may have ended for the client, and not yet on its thread of the server.
func awaitEnd(of isProcessed: () -> Bool) {
    for _ in 0..<50 where isProcessed() { usleep(2000) }
}

extension RawServer.Request {
    /// The fields with names in lower case.
    var plainFields: [String: String] {
        Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
    }

    /// The path without its query.
    var path: String { String(target.prefix { $0 != "?" }) }
}
