import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// Lines, values and parts that continue over new connections.
@Suite struct ResumedStreamTests {
    private struct Goods: Codable, Equatable { var id: Int }

    private let clock = VirtualScheduler()

    private static func lines(
        _ text: String, then end: ScriptedTransport.Step = .fail(NetworkError(.connectionLost, "cut"))
    ) -> ScriptedTransport.Reply {
        .steps(.head(ResponseHead(status: .ok)), .chunk(Array(text.utf8)), end)
    }

    private func setting(_ replies: ScriptedTransport.Reply...) -> (Client, ScriptedTransport) {
        setting(replies)
    }

    private func setting(_ replies: [ScriptedTransport.Reply]) -> (Client, ScriptedTransport) {
        let book = Script(replies)
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.retry = .never
        return (Client(configuration: configuration, transport: transport), transport)
    }

    private func targets(_ transport: ScriptedTransport) -> [String] {
        transport.requests.map { $0.url.path() + ($0.url.query().map { "?" + $0 } ?? "") }
    }

    @Test func valuesContinueAfterTheLastOne() throws {
        let (client, transport) = setting(
            Self.lines("{\"id\":1}\n{\"id\":2}\n{\"id\""), .failure(.connect),
            Self.lines("{\"id\":3}\n", then: .finish))
        let recorder = Recorder(
            client.stream(
                .get("/goods"),
                resumption: .next(keeping: 1) { received in
                    .get("/goods", query: ["after": received.items.last?.id])
                },
                reading: { $0.jsonLines(Goods.self) }), on: clock)
        try clock.run()
        #expect(recorder.values == [1, 2, 3].map(Goods.init))
        #expect(recorder.isFinished)
        #expect(targets(transport) == ["/goods", "/goods?after=2", "/goods?after=2"])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(3), .seconds(6)])
    }

    @Test func aLastLineEndsIt() throws {
        let (client, transport) = setting(
            Self.lines("a\nb\n", then: .finish), Self.lines("c\nbye\nlate\n", then: .stall))
        let recorder = Recorder(
            client.stream(
                .get("/log"), until: { $0 == "bye" },
                resumption: .next { received in .get("/log", query: ["skip": received.count]) },
                backoff: .exponential(base: .seconds(1)), reading: { $0.lines() }), on: clock)
        try clock.run()
        #expect(recorder.values == ["a", "b", "c"])
        #expect(recorder.isFinished)
        #expect(targets(transport) == ["/log", "/log?skip=2"])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(1)])
        #expect(transport.runningCount == 0)
    }

    /// A gateway ends the response normally, in the middle of a line.
    @Test func aResponseThatEndsInMidLineContinuesAfterTheLastWholeLine() throws {
        let texts = [
            "{\"id\":1}\n{\"id\":2}\n{\"id\":3", "{\"id\":3}\n{\"id\":4", "4}\n", "{\"id\":99}\n",
        ]
        @Sendable func endpoint(_ received: Int) -> InlineEndpoint {
            .get("/goods", query: ["skip": received])
        }
        func replies() -> [ScriptedTransport.Reply] { texts.map { Self.lines($0, then: .finish) } }

        let (client, transport) = setting(replies())
        let lines = Recorder(
            client.stream(
                endpoint(0), until: { $0 == "{\"id\":99}" },
                resumption: .next(keeping: 0) { endpoint($0.count) }, reading: { $0.lines() }), on: clock)
        try clock.run()
        #expect(lines.values == ["{\"id\":1}", "{\"id\":2}", "{\"id\":3}", "4}"])
        #expect(lines.isFinished)
        #expect(targets(transport) == [0, 2, 3, 4].map { "/goods?skip=\($0)" })

        let (second, again) = setting([replies()[0], replies()[1], replies()[3]])
        let reasons = Box<[NetworkError.Code?]>()
        reasons.value = []
        let goods = Recorder(
            second.stream(
                endpoint(0), until: { $0.id == 99 },
                resumption: .next(keeping: 0) { received in
                    reasons.value?.append(received.error?.code)
                    return endpoint(received.count)
                }, reading: { $0.jsonLines(Goods.self) }), on: clock)
        try clock.run()
        #expect(goods.values == [1, 2, 3].map(Goods.init))
        #expect(goods.isFinished)
        #expect(targets(again) == [0, 2, 3].map { "/goods?skip=\($0)" })
        #expect(reasons.value == [.partialBody, .partialBody])
    }

    @Test func theLastItemNeedsNoLineEnd() throws {
        let (client, transport) = setting(
            Self.lines("a\nby", then: .finish), Self.lines("b\nbye", then: .finish))
        let recorder = Recorder(
            client.stream(
                .get("/log"), until: { $0 == "bye" }, deliversEnd: true,
                resumption: .next { _ in .get("/log") }, reading: { $0.lines() }), on: clock)
        try clock.run()
        #expect(recorder.values == ["a", "b", "bye"])
        #expect(recorder.isFinished)
        #expect(transport.exchanges.count == 2)
    }

    @Test func anUnreadableLastLineIsFinalOnlyIfTheBodyIsTheStream() throws {
        let (client, _) = setting(Self.lines("{\"id\":1}\n{\"id\"", then: .finish))
        let recorder = Recorder(
            client.stream(
                .get("/goods"), resumption: .next { _ in .get("/goods") },
                reading: { $0.jsonLines(Goods.self) }), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .decoding)
    }

    @Test func withoutResumptionAMissingEndIsAnError() throws {
        let (client, _) = setting(Self.lines("a\n", then: .finish))
        let recorder = Recorder(
            client.stream(
                .get("/log"), until: { $0 == "bye" }, resumption: .never, reading: { $0.lines() }),
            on: clock)
        try clock.run()
        #expect(recorder.values == ["a"])
        #expect(recorder.failure?.code == .partialBody)
    }

    @Test(arguments: [StreamResumption<ServerSentEvent>.never, .automatic, .lastEventID])
    func withoutAClosureThereIsOneConnection(resumption: StreamResumption<ServerSentEvent>) throws {
        let (client, transport) = setting(Self.lines("id: 1\ndata: a\n\n"))
        let recorder = Recorder(
            client.stream(.get("/prices"), resumption: resumption, reading: { $0.serverSentEvents() })
                .map(\.data), on: clock)
        try clock.run()
        #expect(recorder.values == ["a"])
        #expect(recorder.failure?.code == .connectionLost)
        #expect(transport.exchanges.count == 1)
    }

    @Test func errorsOfTheContentAreFinal() throws {
        let (client, transport) = setting(Self.lines("{\"id\":1}\nx\n"))
        let recorder = Recorder(
            client.stream(
                .get("/goods"), resumption: .next { _ in .get("/goods") },
                reading: { $0.jsonLines(Goods.self) }), on: clock)
        try clock.run()
        #expect(recorder.values == [Goods(id: 1)])
        #expect(recorder.failure?.code == .decoding)
        #expect(transport.exchanges.count == 1)
    }

    @Test func aServerIsNotObeyedForLongerThanADay() throws {
        let (client, transport) = setting(
            .status(.serviceUnavailable, headers: [.retryAfter: "31536000"]), Self.lines("a\n", then: .finish)
        )
        let recorder = Recorder(
            client.stream(.get("/log"), resumption: .next { _ in .get("/log") }, reading: { $0.lines() }),
            on: clock)
        try clock.run()
        #expect(recorder.values == ["a"])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(86_400)])
    }

    @Test func partsContinueToo() throws {
        let head = ResponseHead(
            status: .ok, headerFields: [.contentType: "multipart/mixed; boundary=b"])
        func parts(_ text: String) -> ScriptedTransport.Reply {
            .steps(.head(head), .chunk(Array(text.utf8)), .finish)
        }
        let (client, transport) = setting(
            parts("--b\r\n\r\n{\"id\":1}\r\n--b\r\n\r\n{\"id\":2}"),
            parts("--b\r\n\r\n{\"id\":2}\r\n--b--"))
        let recorder = Recorder(
            client.stream(
                .post("/batch", ["ids": [1, 2]]),
                resumption: .next { received in .post("/batch", ["ids": [2], "done": received.count]) },
                reading: { $0.parts() }
            )
            .map { part throws(NetworkError) in try part.decode(Goods.self) }, on: clock)
        try clock.run()
        #expect(recorder.values == [1, 2].map(Goods.init))
        #expect(recorder.isFinished)
        #expect(transport.exchanges.count == 2)
    }

    @Test func aSlowReaderHoldsTheNextConnectionBack() throws {
        let (client, transport) = setting(Self.lines("a\nb\nc\n"), Self.lines("d\n", then: .finish))
        let recorder = Recorder(
            client.stream(
                .get("/log"), resumption: .next { _ in .get("/log") }, reading: { $0.lines() }
            )
            .slowly(.seconds(10), on: clock), on: clock)
        try clock.run()
        #expect(recorder.values == ["a", "b", "c", "d"])
        #expect(recorder.isFinished)
        #expect(transport.exchanges[1].startedAt >= .seconds(20))
    }
}
