import FlyingFox
import FoundationEssentials
import Synchronization

/// A server on loopback that replays recorded responses.
///
/// A request is identified by its method, path and query. If the recording has several responses to it, they are sent
/// in order, and the last one repeats. A request with the field `X-Scenario` is looked up in that scenario only, with
/// a separate order. Links to the recorded servers lead back to this one. A request that was not recorded gets a 404
/// with a JSON message.
public final class RecordingReplay: Sendable {
    private let replay: Replay
    private let server: LoopbackServer

    /// Loads the file, with one JSON object per line, and starts a server on a free port.
    ///
    /// Throws ``InvalidRecording``, which names the line.
    public static func start(file path: String) async throws -> RecordingReplay {
        let replay = Replay(try RecordedExchange.exchanges(inFile: path))
        let server = try await LoopbackServer.start { try replay.answer($0) }
        replay.baseURL.withLock { $0 = server.baseURL }
        return RecordingReplay(replay, server)
    }

    private init(_ replay: Replay, _ server: LoopbackServer) {
        self.replay = replay
        self.server = server
    }

    /// `http://127.0.0.1:port`, with no slash at the end.
    public var baseURL: String { server.baseURL }

    /// The number of exchanges in the recording.
    public var count: Int { replay.count }

    /// Closes all connections and returns when they are gone.
    public func stop() async { await server.stop() }
}

/// The recorded responses, and the number sent of each.
private final class Replay: Sendable {
    /// The origins of links that the recording has responses to.
    private static let origins = [
        "https://api.github.com", "https://uploads.github.com", "https://codeload.github.com",
    ]
    /// Fields about connection and framing, which this server sets itself.
    private static let ownHeaders: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "content-length",
    ]

    let count: Int
    let baseURL = Mutex("")
    private let answers: [String: [RecordedExchange]]
    private let given = Mutex<[String: Int]>([:])

    init(_ exchanges: [RecordedExchange]) {
        count = exchanges.count
        // Scenarios in the order of the file; exchanges in the order of their scenario.
        let scenarios = Dictionary(
            exchanges.enumerated().map { ($1.scenario, $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = exchanges.sorted {
            (scenarios[$0.scenario] ?? 0, $0.order) < (scenarios[$1.scenario] ?? 0, $1.order)
        }
        answers = Dictionary(grouping: ordered, by: \.key)
    }

    func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let key = RecordedExchange.key(method: request.method.rawValue, target: request.target.rawValue)
        let scenario = request.headers[HTTPHeader("X-Scenario")]
        let candidates = (answers[key] ?? []).filter { scenario == nil || $0.scenario == scenario }
        let turn = given.withLock { given in
            let turn = given["\(scenario ?? "") \(key)", default: 0]
            given["\(scenario ?? "") \(key)"] = turn + 1
            return turn
        }
        guard !candidates.isEmpty else {
            let place = scenario.map { " in scenario \($0)" } ?? ""
            return try .json(
                ["message": "Not recorded\(place): \(request.method.rawValue) \(request.target.rawValue)"],
                status: .notFound)
        }
        return response(candidates[min(turn, candidates.count - 1)])
    }

    private func response(_ exchange: RecordedExchange) -> HTTPResponse {
        let base = baseURL.withLock { $0 }
        func rewrite(_ text: String) -> String {
            Self.origins.reduce(text) { $0.replacing($1, with: base) }
        }
        var headers = HTTPHeaders()
        for field in exchange.headers where !Self.ownHeaders.contains(field[0].lowercased()) {
            headers.addValue(rewrite(field[1]), for: HTTPHeader(field[0]))
        }
        return HTTPResponse(
            statusCode: HTTPStatusCode(exchange.status, phrase: "Recorded"), headers: headers,
            body: exchange.bytes(rewrittenBy: rewrite))
    }
}
