public import FoundationEssentials
package import HTTPTypes
package import RxHTTP
package import RxWebSocket

/// Recorded exchanges, in a file in the HTTP Archive format 1.2.
///
/// ```swift
/// let cassette = try Cassette(contentsOf: "Tests/ShopTests/Cassettes/login.har")
/// let clock = VirtualScheduler(startingAt: cassette.startedAt)
/// let client = Client(
///     configuration: ClientConfiguration(baseURL: "https://shop.test"),
///     transport: ReplayTransport(cassette, on: clock))
/// ```
///
/// ``RecordingTransport`` makes one and ``ReplayTransport`` answers from it. Members that the format lacks have names
/// with an underscore, which the format allows: the bounds and times of chunks, informational responses, trailers, the
/// end or the failure, and the messages of WebSockets and event streams. Archives of browsers and proxies can be read,
/// too; without these members a body arrives in one chunk.
public struct Cassette: Sendable {
    /// The exchanges, in the order in which they began.
    package var exchanges: [Exchange]
    /// The file that the cassette was read from; `nil` if it was not read from one.
    public internal(set) var file: String?

    /// Creates a cassette without exchanges.
    public init() { exchanges = [] }

    package init(_ exchanges: [Exchange]) { self.exchanges = exchanges }

    /// The number of exchanges.
    public var count: Int { exchanges.count }

    /// When the first exchange began; 1970 without exchanges. As the origin of a `VirtualScheduler` it makes the
    /// dates of the responses fit the clock.
    public var startedAt: Date { exchanges.first?.startedAt ?? Date(timeIntervalSince1970: 0) }

    /// The largest file that is read by default: 128 MiB.
    public static let sizeLimit = 128 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - limit: the maximum size in bytes, at most 256 MiB; a larger file is not read. Default ``sizeLimit``.
    /// - Throws: a ``FixtureError`` that names the place in the file.
    public init(contentsOf path: String, limit: Int = Cassette.sizeLimit) throws(FixtureError) {
        try self.init(bytes: FixtureDocument.bytes(of: path, limit: limit), file: path)
    }

    /// Reads a file if there is one; otherwise the cassette is empty.
    init(ifExists path: String) throws(FixtureError) {
        if FileManager.default.fileExists(atPath: path) {
            try self.init(contentsOf: path)
        } else {
            self.init()
        }
    }

    /// Reads the content of a file.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text, in UTF-8.
    ///   - file: the name of the file for errors. Default none.
    /// - Throws: a ``FixtureError`` that names the place in the text.
    public init(bytes: [UInt8], file: String? = nil) throws(FixtureError) {
        exchanges = try CassetteReader(bytes, file: file).exchanges()
        self.file = file
    }

    /// The content of the file: JSON, in UTF-8. The same exchanges give the same bytes.
    public var encoded: [UInt8] { CassetteWriter.document(of: exchanges) }

    /// Writes the file atomically: a reader, or a process that is interrupted, leaves the previous file or the complete
    /// new one. Folders that do not exist are created.
    ///
    /// - Throws: a ``FixtureError`` if the file cannot be written, or would be larger than ``sizeLimit``, and so could not
    ///   be read.
    public func write(to path: String) throws(FixtureError) { try write(to: path, limit: Self.sizeLimit) }

    func write(to path: String, limit: Int) throws(FixtureError) {
        let bytes = encoded
        guard bytes.count <= limit else {
            throw FixtureError(.tooLarge(bytes: bytes.count, limit: limit), file: path)
        }
        do {
            let url = URL(filePath: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url, options: .atomic)
        } catch {
            throw FixtureError(.unwritable("\(error)"), file: path)
        }
    }
}

extension Cassette {
    /// One recorded exchange: a request, and the events of its response.
    package struct Exchange: Sendable {
        /// When the request was sent.
        package var startedAt: Date
        /// The method of the request.
        package var method: HTTPRequest.Method
        /// The absolute URL of the request.
        package var url: String
        /// The header fields of the request.
        package var headerFields: HTTPFields
        /// The content of the request.
        package var body: [UInt8]
        /// The events of the response, in order. Their times do not decrease.
        package var events: [Event]
        /// Whether the exchange is a WebSocket.
        package var isWebSocket: Bool

        /// Creates an exchange.
        package init(
            startedAt: Date = Date(timeIntervalSince1970: 0), method: HTTPRequest.Method = .get, url: String,
            headerFields: HTTPFields = [:], body: [UInt8] = [], events: [Event] = [],
            isWebSocket: Bool = false
        ) {
            self.startedAt = startedAt
            self.method = method
            self.url = url
            self.headerFields = headerFields
            self.body = body
            self.events = events
            self.isWebSocket = isWebSocket
        }
    }

    /// An event of a recorded response.
    package struct Event: Sendable {
        /// The kind of an event.
        package enum Kind: Sendable {
            /// The bytes of the request's content that were sent so far.
            case uploaded(bytes: Int64, of: Int64?)
            /// An informational response.
            case interim(ResponseHead)
            /// The status line and header fields.
            case head(ResponseHead)
            /// A chunk of the decoded body.
            case chunk([UInt8])
            /// The fields after the body.
            case trailers(HTTPFields)
            /// A message of a WebSocket, whole and decompressed.
            case message(WebSocketMessage, Sender)
            /// The close frame of a WebSocket; the code is `nil` if the frame had none.
            case close(WebSocketCloseCode?, reason: String, Sender)
            /// The complete response was received.
            case finished
            /// The exchange failed.
            case failed(Failure)
            /// The client cancelled the exchange. A replay sends nothing more, and does not end.
            case cancelled
        }

        /// The time since the request.
        package var time: Duration
        /// The kind of the event.
        package var kind: Kind

        /// Creates an event.
        package init(_ time: Duration, _ kind: Kind) {
            self.time = time
            self.kind = kind
        }
    }

    /// A side of a WebSocket, by its name in files (`_webSocketMessages`).
    package enum Sender: String, Sendable {
        /// This side.
        case client = "send"
        /// The other side.
        case server = "receive"
    }

    /// The failure of a recorded exchange.
    package struct Failure: Sendable, Equatable {
        /// The part of the exchange in which it failed, by its name in files (`_end`).
        package enum Phase: String, Sendable {
            /// No byte of the request was sent.
            case connect
            /// The request was sent, at least in part; no response had begun.
            case request
            /// The response had begun.
            case response
        }

        /// The kind of failure.
        package var code: NetworkError.Code
        /// The description.
        package var message: String
        /// The part of the exchange in which it failed.
        package var phase: Phase
        /// The reason of a TLS failure, if known.
        package var tlsFailure: NetworkError.TLSFailure?
        /// The result code of libcurl, if libcurl reported the failure.
        package var curlCode: Int?

        /// Creates a failure.
        package init(
            _ code: NetworkError.Code, _ message: String, phase: Phase,
            tlsFailure: NetworkError.TLSFailure? = nil,
            curlCode: Int? = nil
        ) {
            self.code = code
            self.message = message
            self.phase = phase
            self.tlsFailure = tlsFailure
            self.curlCode = curlCode
        }

        /// The error of a replay.
        var error: NetworkError {
            var error = NetworkError(code, message)
            error.isUnsent = phase == .connect
            error.tlsFailure = tlsFailure
            error.curlCode = curlCode
            return error
        }
    }
}

extension Cassette.Exchange {
    /// The head of the response, if one had begun.
    package var head: ResponseHead? {
        for case .head(let head) in events.lazy.map(\.kind) { return head }
        return nil
    }

    /// The body of the response, as far as it was received.
    package var content: [UInt8] {
        events.reduce(into: []) { if case .chunk(let bytes) = $1.kind { $0 += bytes } }
    }
}
