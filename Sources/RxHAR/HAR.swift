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
    package var log: Log

    /// The exchanges and the program that recorded them.
    package struct Log: Codable, Sendable, Equatable {
        /// The version of the format.
        package var version = "1.2"
        /// The recording program.
        package var creator = Creator()
        /// The exchanges, in the order in which they began.
        package var entries: [Entry]
        /// A comment.
        package var comment: String?
    }

    /// A program.
    package struct Creator: Codable, Sendable, Equatable {
        /// The name of the program.
        package var name = "RxNetworking"
        /// The version of the program.
        package var version = "1.0"
    }

    package init(_ entries: [Entry]) { log = Log(entries: entries) }

    /// The document in JSON, as UTF-8.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

// The names of the properties here and below are those of the members in the file; see ``HAR``.

extension HAR {
    /// One exchange: a request as sent, and its response.
    package struct Entry: Codable, Sendable, Equatable {
        /// The start time, in ISO 8601.
        package var startedDateTime: String
        /// The duration in milliseconds: the sum of the timings.
        package var time: Double
        /// The request.
        package var request: Request
        /// The response. The status is 0 if there was no response.
        package var response: Response
        /// The state of the cache; not recorded.
        package var cache = Cache()
        /// The phases.
        package var timings: Timings
        /// The address of the server, or of the proxy.
        package var serverIPAddress: String?
        /// The local port, which identifies the connection.
        package var connection: String?
        /// A comment.
        package var comment: String?
        /// The id of the request in logs and errors.
        package var requestID: String
        /// The number of the attempt, from 1.
        package var attempt: Int
        /// The reason for a missing or incomplete response.
        package var error: String?
        /// `websocket` for a WebSocket, as in archives of Chrome.
        package var resourceType: String?
        /// The messages of a WebSocket, as in archives of Chrome.
        package var webSocketMessages: [WebSocketMessage]?

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
    package struct Cache: Codable, Sendable, Equatable {}

    /// The phases of an exchange in milliseconds; −1 for phases that did not occur.
    package struct Timings: Codable, Sendable, Equatable {
        /// Waiting for a connection.
        package var blocked: Double = -1
        /// Resolving the name.
        package var dns: Double = -1
        /// Connecting, including TLS.
        package var connect: Double = -1
        /// Sending the request.
        package var send: Double
        /// From the last byte of the request to the first byte of the response.
        package var wait: Double
        /// From the first to the last byte of the response.
        package var receive: Double
        /// The TLS handshake; also part of `connect`.
        package var ssl: Double = -1

        /// The sum of all phases; `ssl` is part of `connect`.
        var total: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
    }
}

extension HAR {
    // The names of the properties are those of the format's members.

    /// A request as sent.
    package struct Request: Codable, Sendable, Equatable {
        /// The method.
        package var method: String
        /// The absolute URL.
        package var url: String
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        package var httpVersion: String
        /// The cookies that were sent with the request.
        package var cookies: [Cookie]
        /// The header fields of the request. Fields added by the transport are not recorded.
        package var headers: [Pair]
        /// The parameters in the URL.
        package var queryString: [Pair]
        /// The body, if there was one.
        package var postData: PostData?
        /// The size of the head in bytes; always −1, that is, unknown.
        package var headersSize = -1
        /// The size of the body in bytes; −1 if unknown.
        package var bodySize: Int
    }

    /// A response as received.
    package struct Response: Codable, Sendable, Equatable {
        /// The status; 0 without a response.
        package var status = 0
        /// The reason phrase.
        package var statusText = ""
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        package var httpVersion = "unknown"
        /// The cookies that the response set.
        package var cookies: [Cookie] = []
        /// The header fields.
        package var headers: [Pair] = []
        /// The body.
        package var content: Content
        /// The `Location` field; empty if there is none.
        package var redirectURL = ""
        /// The size of the head in bytes; −1 if unknown.
        package var headersSize = -1
        /// The size of the received body in bytes, before decoding; −1 if unknown.
        package var bodySize = -1
    }

    // As above, the names of the properties are those of the format's members.

    /// A name and its value.
    package struct Pair: Codable, Sendable, Equatable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String
    }

    /// A cookie. Its value is never recorded.
    package struct Cookie: Codable, Sendable, Equatable {
        /// The name.
        package var name: String
        /// A placeholder for the value.
        package var value: String
        /// The path below which the cookie is sent.
        package var path: String?
        /// The domain that the cookie is sent to.
        package var domain: String?
        /// The expiry, in ISO 8601.
        package var expires: String?
        /// Whether the cookie is hidden from scripts.
        package var httpOnly: Bool?
        /// Whether the cookie is sent over TLS only.
        package var secure: Bool?
    }

    /// The body of a request.
    package struct PostData: Codable, Sendable, Equatable {
        /// The media type.
        package var mimeType: String
        /// The parameters of a form, recorded instead of the text.
        package var params: [Pair]?
        /// The text.
        package var text: String?
        /// Records that the body is truncated, or why it is missing.
        package var comment: String?
    }

    /// The body of a response, by the names of the format.
    package struct Content: Codable, Sendable, Equatable {
        /// The size of the decoded body, in bytes.
        package var size: Int
        /// The number of bytes that compression saved.
        package var compression: Int?
        /// The media type.
        package var mimeType: String
        /// The text, or binary data in the format of `encoding`.
        package var text: String?
        /// `base64` for binary data.
        package var encoding: String?
        /// Records that the body is truncated, or why it is missing.
        package var comment: String?
    }
}

extension HAR.Timings {
    /// Computes the phases; each begins at the end of the previous one, so their sum is the total time.
    init(_ metrics: TransferMetrics) {
        // `ResourceTiming` of RxInspector divides the time in the same way; change both.
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
        text.parts(at: "&").map { pair in
            let (name, value) = pair.cut(at: "=")
            return HAR.Pair(name: name.decodedAsForm, value: value?.decodedAsForm ?? "")
        }
    }
}

extension HAR.Cookie {
    /// The cookies of a `Cookie` field. The text of a cookie without a name is its value.
    static func sent(in field: String) -> [HAR.Cookie] {
        field.parts(at: ";").map { HAR.Cookie(name: name(in: $0) ?? "", value: Redaction.mark) }
    }

    /// Parses the cookie of a `Set-Cookie` field (RFC 6265 §5.2); `nil` for a cookie without a name.
    init?(set field: String) {
        let parts = field.parts(at: ";", omittingEmpty: false)
        guard let name = parts.first.flatMap({ Self.name(in: $0) }), !name.isEmpty else { return nil }
        self.init(name: name, value: Redaction.mark)
        for part in parts.dropFirst() {
            let (attribute, text) = part.cut(at: "=")
            let value = String((text ?? "").trimmingBlanks())
            switch attribute.trimmingBlanks().lowercased() {
            case "path": path = value
            case "domain": domain = value
            case "expires": expires = Date(httpDate: value)?.iso8601
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
    }

    private static func name(in pair: Substring) -> String? {
        let (name, value) = pair.cut(at: "=")
        return value == nil ? nil : String(name.trimmingBlanks())
    }
}

extension HAR {
    /// A message of a WebSocket. The names of properties and cases are those in archives of Chrome, which
    /// `CassetteReader` reads.
    package struct WebSocketMessage: Codable, Sendable, Equatable {
        /// The direction of a message.
        package enum Direction: String, Codable, Sendable {
            /// From this side to the server.
            case send
            /// From the server to this side.
            case receive
        }

        /// The direction.
        package var type: Direction
        /// The time, in seconds since 1970.
        package var time: Double
        /// 1 for text, 2 for bytes (RFC 6455 §5.2).
        package var opcode: Int
        /// The text, or the bytes in base64; empty if bodies are not recorded.
        package var data: String
    }
}
