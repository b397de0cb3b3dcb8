import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import RxWebSocket
import Testing

/// The time limits of scripted and replayed exchanges, in virtual time.
@Suite struct ExchangeLimitTests {
    private typealias Reply = ScriptedTransport.Reply

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [ScriptedTransport.Step]
        let timeouts: Timeouts
        let end: String
        var testDescription: String { name }

        init(_ name: String, _ steps: ScriptedTransport.Step..., limits: Timeouts, end: String) {
            self.name = name
            self.steps = steps
            timeouts = limits
            self.end = end
        }
    }

    private static let ok = ResponseHead(status: .ok)
    private static let refusal: NetworkError = {
        var error = NetworkError(.connect, "refused")
        error.isUnsent = true
        return error
    }()

    static let cases: [Case] = [
        Case(
            "late first byte", .wait(.seconds(3600)), .head(ok), .finish,
            limits: Timeouts(firstByte: .seconds(5)), end: "firstByteTimeout 5.0 seconds"),
        Case(
            "a first byte in the last moment", .wait(.seconds(5)), .head(ok), .wait(.seconds(7)), .finish,
            limits: Timeouts(firstByte: .seconds(5), idle: .seconds(7), attempt: .seconds(12)),
            end: "finished 12.0 seconds"),
        Case("silence", .stall, limits: Timeouts(), end: "firstByteTimeout 60.0 seconds"),
        Case(
            "an informational response restarts the wait", .wait(.seconds(4)),
            .interim(ResponseHead(status: .init(code: 102))),
            .wait(.seconds(4)), .head(ok), .finish, limits: Timeouts(firstByte: .seconds(5)),
            end: "finished 8.0 seconds"),
        Case(
            "silence in the body", .wait(.seconds(2)), .head(ok), .wait(.seconds(8)), .chunk([65]), .stall,
            limits: Timeouts(idle: .seconds(10)), end: "idleTimeout 20.0 seconds"),
        Case(
            "silence before the trailers", .head(ok), .wait(.seconds(9)), .trailers([.eTag: "x"]),
            .wait(.seconds(11)), .finish, limits: Timeouts(idle: .seconds(10)),
            end: "idleTimeout 19.0 seconds"),
        Case(
            "a steady upload", .wait(.seconds(9)), .uploaded(bytes: 1, of: 3), .wait(.seconds(9)),
            .uploaded(bytes: 3, of: 3), .wait(.seconds(9)), .head(ok), .finish,
            limits: Timeouts(firstByte: .seconds(10), idle: .seconds(10)), end: "finished 27.0 seconds"),
        Case(
            "an upload that stands still", .uploaded(bytes: 1, of: 3), .wait(.seconds(30)),
            .uploaded(bytes: 3, of: 3), .head(ok), .finish, limits: Timeouts(idle: .seconds(10)),
            end: "idleTimeout 10.0 seconds"),
        Case(
            "no response after the upload", .uploaded(bytes: 3, of: 3), .wait(.seconds(30)), .head(ok),
            .finish, limits: Timeouts(firstByte: .seconds(25), idle: .seconds(10)),
            end: "firstByteTimeout 25.0 seconds"),
        Case(
            "a slow refusal", .wait(.seconds(30)), .fail(refusal), limits: Timeouts(),
            end: "connectTimeout 10.0 seconds unsent"),
        Case(
            "a quick refusal", .wait(.seconds(3)), .fail(refusal), limits: Timeouts(),
            end: "connect 3.0 seconds unsent"),
        Case(
            "a slow response", .head(ok), .wait(.seconds(3)), .chunk([65]), .wait(.seconds(3)), .chunk([66]),
            .finish, limits: Timeouts(attempt: .seconds(5)), end: "attemptTimeout 5.0 seconds"),
        Case(
            "no limits", .wait(.seconds(3600)), .head(ok), .wait(.seconds(3600)), .finish,
            limits: .unlimited, end: "finished 7200.0 seconds"),
    ]

    private static func request(_ timeouts: Timeouts) throws -> Request {
        Request(method: .get, url: try #require(URL(string: "https://shop.test/")), timeouts: timeouts)
    }

    /// The code and the time of an exchange's end.
    private static func end(
        of request: Request, by transport: any Transport, on clock: VirtualScheduler
    ) throws -> String {
        let start = clock.now
        let recorder = Recorder(transport.send(request), on: clock)
        try clock.advance(by: .seconds(10_000))
        let last = try #require(recorder.events.last)
        let text =
            switch last.kind {
            case .next: "open"
            case .end(.finished): "finished \(last.time - start)"
            case .end(.failed(let error)):
                "\(error.code) \(last.time - start)\(error.isUnsent ? " unsent" : "")"
            }
        recorder.cancel()
        #expect(clock.pendingCount == 0)
        return text
    }

    /// A scripted exchange ends by the limits of its request.
    @Test(arguments: cases)
    func scripted(item: Case) throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { _ in Reply(item.steps) }
        #expect(try Self.end(of: Self.request(item.timeouts), by: transport, on: clock) == item.end)
    }

    /// A replayed exchange ends by the limits of its request.
    @Test(arguments: cases)
    func replayed(item: Case) throws {
        let shop = RecordedShop([.when(nil, "*", Reply(item.steps))])
        let recorder = Recorder(shop.recording.send(try Self.request(.unlimited)), on: shop.clock)
        try shop.clock.advance(by: .seconds(10_000))
        recorder.cancel()
        let clock = VirtualScheduler()
        let replay = ReplayTransport(try shop.cassette(), on: clock)
        #expect(try Self.end(of: Self.request(item.timeouts), by: replay, on: clock) == item.end)
    }

    /// No time passes for a phase while the consumer pauses, but for the attempt.
    @Test func pauses() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { _ in .steps(.head(Self.ok), .stall) }
        for (attempt, code, end) in [
            (nil, NetworkError.Code.idleTimeout, Duration.seconds(110)),
            (.seconds(50), .attemptTimeout, .seconds(100)),
        ] as [(Duration?, NetworkError.Code, Duration)] {
            let start = clock.now
            let timeouts = Timeouts(idle: .seconds(10), attempt: attempt)
            let recorder = Recorder(transport.send(try Self.request(timeouts)), on: clock)
            try clock.advance(by: .seconds(5))
            recorder.pause()
            try clock.advance(by: .seconds(95))
            #expect(recorder.failure == nil)
            recorder.resume()
            try clock.run()
            #expect(recorder.failure?.code == code)
            #expect(clock.now - start == end)
        }
    }

    /// A client retries a scripted response that begins too late, and explains which limit passed.
    @Test func retries() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock, [.when(.get, "/", .json("1", after: .seconds(3600)), .json("2"))])
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.timeouts = Timeouts(firstByte: .seconds(5))
        configuration.options.retry = .exponentialBackoff(maxRetries: 1)
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.get("/"), on: clock)
        try clock.run()
        #expect(recorder.values.map { String(decoding: $0.body, as: UTF8.self) } == ["2"])
        #expect(transport.exchanges.map(\.outcome) == [.failed(.firstByteTimeout), .finished])
        #expect(transport.exchanges.first?.endedAt == .seconds(5))
    }

    /// A connection that became a WebSocket may be silent, and its handshake may not.
    @Test func webSockets() throws {
        let shop = RecordedShop([
            .when(
                .get, "/", .webSocket(.wait(.seconds(200)), .send(.text("late")), .close(.normalClosure)))
        ])
        func texts(_ transport: any Transport, on clock: VirtualScheduler, _ timeouts: Timeouts) throws
            -> Recorder<String, NetworkError>
        {
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.timeouts = timeouts
            configuration.options.retry = .never
            let client = Client(configuration: configuration, transport: transport)
            let recorder = Recorder(client.webSocket("/").texts(), on: clock)
            try clock.advance(by: .seconds(1000))
            return recorder
        }
        let limits = Timeouts(firstByte: .seconds(5), idle: .seconds(5), attempt: .seconds(5))
        #expect(try texts(shop.recording, on: shop.clock, limits).values == ["late"])
        var cassette = try shop.cassette()
        let first = VirtualScheduler()
        #expect(try texts(ReplayTransport(cassette, on: first), on: first, limits).values == ["late"])
        for index in cassette.exchanges[0].events.indices {
            cassette.exchanges[0].events[index].time += .seconds(10)
        }
        let clock = VirtualScheduler()
        let late = try texts(
            ReplayTransport(cassette, on: clock), on: clock, Timeouts(firstByte: .seconds(5)))
        #expect(late.failure?.code == .firstByteTimeout)
    }
}
