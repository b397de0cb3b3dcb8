#if Logging
import FoundationEssentials
import HTTPTypes
import InMemoryLogging
import Logging
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// The lines of a log.
@Suite struct TrafficLogTests {
    private let clock = VirtualScheduler()
    private let store = InMemoryLogHandler()

    private func client(_ rules: [ScriptedTransport.Rule]) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50)))
        return Client(configuration: configuration, transport: ScriptedTransport(on: clock, rules))
    }

    private func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = level
        return logger
    }

    private var lines: [String] { store.entries.map { "\($0.level): \($0.message)" } }

    @Test func aRequestFromItsStartToItsEnd() throws {
        let client = client([
            .when(
                .get, "/x", .failure(.connectionLost), .status(.found, headers: [.location: "/y?token=s7"])),
            .when(.get, "/y", .json("[1,2]", after: .milliseconds(34))),
        ])
        client.traffic.log(to: logger(.debug))
        let answer = Recorder(client.get("/x", query: ["a": 1, "token": "s7"]), on: clock)
        try clock.run()
        let id = try #require(answer.values.first).request.id
        #expect(
            lines == [
                "debug: GET https://a.test/x?a=1&token=… begins",
                "debug: GET https://a.test/x?a=1&token=… was sent",
                "debug: the exchange failed: connectionLost GET https://a.test/x \(id): as scripted",
                "notice: retrying in 0.05 seconds after: connectionLost GET https://a.test/x \(id): as scripted",
                "debug: GET https://a.test/x?a=1&token=… was sent",
                "debug: redirected to GET https://a.test/y?token=…",
                "debug: GET https://a.test/y?token=… was sent",
                "info: GET https://a.test/y?token=… succeeded: 200, 5 bytes in 0.084 seconds",
            ])
        #expect(store.entries.allSatisfy { $0.metadata["request-id"] == "\(id)" })
        #expect(store.entries.map { $0.metadata["attempt"] } == ["1", "1", "1", "1", "2", "2", "2", "2"])
        let metadata = try #require(store.entries.last).metadata
        #expect(metadata["status"] == "200")
        #expect(metadata["bytes"] == "5")
        #expect(metadata["attempts"] == "2")
        #expect(metadata["duration-ms"] == "84.0")
    }

    @Test func endsHaveTheirLevels() throws {
        let client = client([.when(.get, "/no", .status(.notFound)), .when(.get, "/wait", .stall)])
        client.traffic.log(to: logger(.debug))
        _ = Recorder(client.get("/no"), on: clock)
        let unlimited = RequestOptions(timeouts: .unlimited)
        let waiting = Recorder(client.get("/wait", options: unlimited), on: clock)
        try clock.run()
        waiting.cancel()
        let ends = lines.filter { $0.contains(" failed ") || $0.contains(" cancelled ") }
        #expect(ends.count == 2)
        #expect(
            ends.first?.hasPrefix(
                "warning: GET https://a.test/no failed after 0 bytes in 0.0 seconds: status") == true)
        #expect(ends.last == "debug: GET https://a.test/wait was cancelled after 0 bytes in 0.0 seconds")
        #expect(store.entries.contains { $0.metadata["error"] == "status" && $0.level == .warning })
    }

    @Test func levelsCanBeChosen() throws {
        let client = client([.when(.get, "/x", .failure(.tls))])
        var style = TrafficLog()
        style.failureLevel = .critical
        client.traffic.log(to: logger(.critical), as: style)
        _ = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("critical: GET https://a.test/x failed"))
    }

    @Test func bodiesAndFieldsAreShownOnRequestOnly() throws {
        let client = client([.when(.post, "/x", .json(#"{"a":"answer"}"#))])
        client.traffic.log(to: logger(.trace))
        _ = Recorder(client.post("/x", .json(["b": "question"])), on: clock)
        try clock.run()
        #expect(!store.entries.isEmpty)
        #expect(!store.entries.contains { "\($0)".contains("answer") || "\($0)".contains("question") })
        #expect(!store.entries.contains { $0.metadata["headers"] != nil })
    }

    @Test func bodiesAreBoundedAndTextsOnly() throws {
        let client = client([
            .when(
                .post, "/x",
                .steps(
                    .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/plain"])),
                    .chunk(Array("0123".utf8)),
                    .chunk(Array("456789abc".utf8)), .finish)),
            .when(.get, "/png", .bytes([1, 2, 3], headers: [.contentType: "image/png"])),
        ])
        var style = TrafficLog()
        style.bodyLimit = 8
        style.showsHeaders = true
        client.traffic.log(to: logger(.trace), as: style)
        _ = Recorder(client.post("/x", .text("0123456789")), on: clock)
        _ = Recorder(client.get("/png"), on: clock)
        try clock.run()
        let bodies = store.entries.compactMap { $0.metadata["body"] }
        #expect(bodies.count == 3)
        #expect(bodies.contains("01234567 … of 10 bytes"))
        #expect(bodies.contains("01234567 … of 13 bytes"))
        #expect(bodies.contains("binary"))
        #expect(
            store.entries.contains {
                $0.metadata["headers"]
                    == .array([
                        "User-Agent: RxNetworking/1.0", "Content-Type: text/plain; charset=utf-8",
                    ])
            })
    }

    @Test func theServersWordsAreShownWithTheBodiesOnly() throws {
        for limit in [0, 100] {
            let client = client([.when(.get, "/x", .json(#"{"message":"you are s7"}"#, status: .badRequest))])
            var style = TrafficLog()
            style.bodyLimit = limit
            let store = InMemoryLogHandler()
            client.traffic.log(to: Logger(label: "test") { _ in store }, as: style)
            _ = Recorder(client.get("/x"), on: clock)
            try clock.run()
            #expect(store.entries.contains { "\($0.message)".contains("you are s7") } == (limit > 0))
        }
    }

    @Test func cancellingEndsTheLog() throws {
        let client = client([.when(.get, "/x", .json("[]"))])
        let log = client.traffic.log(to: logger(.trace))
        log.cancel()
        _ = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(store.entries.isEmpty)
    }
}
#endif
