import FoundationEssentials
public import HTTPTypes
public import RxHTTP
import Synchronization

extension ScriptedTransport {
    /// One step of a scripted response.
    public enum Step: Sendable {
        /// Time passes, even while the subscriber is paused.
        case wait(Duration)
        /// The bytes of the request body sent so far.
        case uploaded(bytes: Int64, of: Int64?)
        /// An informational response.
        case interim(ResponseHead)
        /// The status line and header fields.
        case head(ResponseHead)
        /// A chunk of the body.
        case chunk([UInt8])
        /// The fields after the body.
        case trailers(HTTPFields)
        /// The end of the response.
        case finish
        /// The exchange fails. Until then a request whose `error` says that it is unsent counts as connecting. An `error`
        /// without a request is attributed to the request of the exchange.
        case fail(NetworkError)
        /// Neither another event nor an end; the exchange runs until a time limit of its request passes (`Timeouts`), or
        /// until it is cancelled.
        case stall
    }

    /// The scripted response to one request, step by step. A script that ends without ``Step/finish``,
    /// ``Step/fail(_:)`` or ``Step/stall`` fails with `NetworkError.Code.unscripted`.
    public struct Reply: Sendable {
        /// The steps, in order.
        public var steps: [Step]
        /// Set if the reply is a WebSocket, which has its own steps.
        package var webSocket: ScriptedWebSocket?

        /// Creates a reply from its steps.
        public init(_ steps: [Step]) { self.steps = steps }
    }
}

extension ScriptedTransport.Reply {
    /// A reply with the given steps.
    public static func steps(_ steps: ScriptedTransport.Step...) -> Self { Self(steps) }

    /// A complete response: head, body in one chunk unless it is empty, end.
    public static func bytes(
        _ body: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> Self {
        let head = ResponseHead(status: status, headerFields: headers)
        return Self([.wait(delay), .head(head)] + (body.isEmpty ? [] : [.chunk(body)]) + [.finish])
    }

    /// A complete response with a JSON text as its body. `Content-Type` is `application/json` unless `headers` has
    /// another.
    public static func json(
        _ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        after delay: Duration = .zero
    ) -> Self {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return .bytes(Array(text.utf8), status: status, headers: headers, after: delay)
    }

    /// A complete response without a body.
    public static func status(
        _ status: HTTPResponse.Status, headers: HTTPFields = [:], after delay: Duration = .zero
    ) -> Self {
        .bytes([], status: status, headers: headers, after: delay)
    }

    /// A failure of the transport.
    ///
    /// - Parameters:
    ///   - code: the kind. `resolve`, `connect`, `proxy`, `connectTimeout` and `tls` are marked as unsent.
    ///   - message: the description of the failure.
    ///   - delay: the time since the subscription.
    public static func failure(
        _ code: NetworkError.Code, _ message: String = "as scripted", after delay: Duration = .zero
    ) -> Self {
        var error = NetworkError(code, message)
        error.isUnsent = [.resolve, .connect, .proxy, .connectTimeout, .tls].contains(code)
        return Self([.wait(delay), .fail(error)])
    }

    /// No response. The exchange ends by a time limit of its request; with `Timeouts.unlimited`, never.
    public static let stall = Self([.stall])
}

extension NetworkError.Code {
    /// A ``ScriptedTransport`` has no rule for the request, or a script without an end.
    public static let unscripted = NetworkError.Code(rawValue: "unscripted")
}

extension ScriptedTransport {
    /// Replies in their order; the last one repeats. Thread-safe.
    package final class Script: Sendable {
        private let replies: Mutex<[Reply]>

        /// Creates a script. Without any replies it stalls.
        package init(_ replies: [Reply]) { self.replies = Mutex(replies) }

        /// The next reply.
        package func next() -> Reply {
            replies.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
        }
    }
}

extension ScriptedTransport.Reply {
    /// A complete response whose body is a file, such as one saved from a server.
    ///
    /// ```swift
    /// .when(.get, "/goods", try .fixture("Fixtures/goods.json"))
    /// ```
    ///
    /// - Parameters:
    ///   - path: the path of the file, absolute or relative to the folder of `source`.
    ///   - status: the status. Default 200.
    ///   - headers: the header fields. `Content-Type` follows from the extension of the file unless it is among them.
    ///   - delay: the time since the subscription. Default none.
    ///   - source: the source file that the path is relative to. Default the caller's.
    /// - Throws: the error of Foundation if the file cannot be read.
    public static func fixture(
        _ path: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        after delay: Duration = .zero, beside source: String = #filePath
    ) throws -> Self {
        let file = URL(fixture: path, beside: source)
        let body = [UInt8](try Data(contentsOf: file))
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = types[file.pathExtension.lowercased()] }
        return .bytes(body, status: status, headers: headers, after: delay)
    }

    private static let types = [
        "json": "application/json", "txt": "text/plain; charset=utf-8", "html": "text/html; charset=utf-8",
        "xml": "application/xml", "csv": "text/csv", "jsonl": "application/x-ndjson",
        "pdf": "application/pdf",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "svg": "image/svg+xml",
    ]
}

extension URL {
    /// The file at a path, absolute or relative to the folder of `source`.
    package init(fixture path: String, beside source: String) {
        let folder = URL(filePath: source).deletingLastPathComponent()
        self = path.hasPrefix("/") ? URL(filePath: path) : folder.appending(path: path)
    }
}
