public import FoundationEssentials
import RxHTTP

/// A recorded session in the HTTP Archive format 1.2, which browsers' developer tools and many other tools
/// read.
///
/// `HARRecording` creates it. The member names are those of the format; names that begin with an underscore
/// are extensions, which the format allows. Specification:
/// <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.
public struct HAR: Codable, Sendable, Equatable {
    /// The only member of the document.
    public var log: Log

    /// The exchanges and the program that recorded them.
    public struct Log: Codable, Sendable, Equatable {
        /// The version of the format.
        public var version = "1.2"
        /// The recording program.
        public var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry]
        /// A comment.
        public var comment: String?
    }

    /// A program.
    public struct Creator: Codable, Sendable, Equatable {
        /// The name of the program.
        public var name = "RxNetworking"
        /// The version of the program.
        public var version = "1.0"
    }

    package init(_ entries: [Entry]) { log = Log(entries: entries) }

    /// The document in JSON, as UTF-8.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

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

extension HAR {
    /// A request as sent.
    public struct Request: Codable, Sendable, Equatable {
        /// The method.
        public var method: String
        /// The absolute URL.
        public var url: String
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        public var httpVersion: String
        /// The cookies that were sent with the request.
        public var cookies: [Cookie]
        /// The header fields of the request. Fields added by the transport are not recorded.
        public var headers: [Pair]
        /// The parameters in the URL.
        public var queryString: [Pair]
        /// The body, if there was one.
        public var postData: PostData?
        /// The size of the head in bytes; always −1, that is, unknown.
        public var headersSize = -1
        /// The size of the body in bytes; −1 if unknown.
        public var bodySize: Int
    }

    /// A response as received.
    public struct Response: Codable, Sendable, Equatable {
        /// The status; 0 without a response.
        public var status = 0
        /// The reason phrase.
        public var statusText = ""
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        public var httpVersion = "unknown"
        /// The cookies that the response set.
        public var cookies: [Cookie] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The body.
        public var content: Content
        /// The `Location` field; empty if there is none.
        public var redirectURL = ""
        /// The size of the head in bytes; −1 if unknown.
        public var headersSize = -1
        /// The size of the received body in bytes, before decoding; −1 if unknown.
        public var bodySize = -1
    }

    /// A name and its value.
    public struct Pair: Codable, Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// A cookie. Its value is never recorded.
    public struct Cookie: Codable, Sendable, Equatable {
        /// The name.
        public var name: String
        /// A placeholder for the value.
        public var value: String
        /// The path below which the cookie is sent.
        public var path: String?
        /// The domain that the cookie is sent to.
        public var domain: String?
        /// The expiry, in ISO 8601.
        public var expires: String?
        /// Whether the cookie is hidden from scripts.
        public var httpOnly: Bool?
        /// Whether the cookie is sent over TLS only.
        public var secure: Bool?
    }

    /// The body of a request.
    public struct PostData: Codable, Sendable, Equatable {
        /// The media type.
        public var mimeType: String
        /// The parameters of a form, recorded instead of the text.
        public var params: [Pair]?
        /// The text.
        public var text: String?
        /// Records that the body is truncated, or why it is missing.
        public var comment: String?
    }

    /// The body of a response.
    public struct Content: Codable, Sendable, Equatable {
        /// The size of the decoded body, in bytes.
        public var size: Int
        /// The number of bytes that compression saved.
        public var compression: Int?
        /// The media type.
        public var mimeType: String
        /// The text, or binary data in the format of `encoding`.
        public var text: String?
        /// `base64` for binary data.
        public var encoding: String?
        /// Records that the body is truncated, or why it is missing.
        public var comment: String?
    }
}

extension HAR.Timings {
    /// Computes the phases; each begins at the end of the previous one, so their sum is the total time.
    init(_ metrics: TransferMetrics) {
        let isNew = !metrics.isConnectionReused
        var reached = Duration.zero
        /// The duration until `mark`, which an early response may have overtaken.
        func phase(until mark: Duration) -> Double {
            let end = min(max(mark, reached), metrics.total)
            defer { reached = end }
            return (end - reached) / .milliseconds(1)
        }
        blocked = metrics.queued / .milliseconds(1)
        if isNew {
            dns = phase(until: metrics.resolved)
            connect = phase(until: max(metrics.connected, metrics.secured))
        }
        if isNew, metrics.secured > metrics.connected {
            ssl = min((metrics.secured - metrics.connected) / .milliseconds(1), connect)
        }
        send = phase(until: metrics.sent)
        wait = phase(until: metrics.firstByte)
        receive = phase(until: metrics.total)
    }

    /// Computes the phases of an exchange without metrics.
    init(from start: Duration, _ respondedAt: Duration?, to end: Duration) {
        send = 0
        wait = ((respondedAt ?? end) - start) / .milliseconds(1)
        receive = (end - (respondedAt ?? end)) / .milliseconds(1)
    }
}

extension HAR.Pair {
    /// The pairs of a query or a form, decoded.
    static func pairs(inForm text: Substring) -> [HAR.Pair] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HAR.Pair(
                name: parts[0].decodedAsForm, value: parts.count > 1 ? parts[1].decodedAsForm : "")
        }
    }
}

extension HAR.Cookie {
    /// The cookies of a `Cookie` field.
    static func sent(in field: String) -> [HAR.Cookie] {
        field.split(separator: ";").map { HAR.Cookie(name: name(in: $0), value: Redaction.mark) }
    }

    /// Parses the cookie of a `Set-Cookie` field (RFC 6265 §5.2); `nil` for a cookie without a name.
    init?(set field: String) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, first.contains("=") else { return nil }
        self.init(name: Self.name(in: first), value: Redaction.mark)
        guard !name.isEmpty else { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? String(pair[1].trimmingBlanks()) : ""
            switch pair[0].trimmingBlanks().lowercased() {
            case "path": path = value
            case "domain": domain = value
            case "expires": expires = Date(httpDate: value)?.iso8601
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
    }

    private static func name(in pair: Substring) -> String {
        String(pair.prefix { $0 != "=" }.trimmingBlanks())
    }
}

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
