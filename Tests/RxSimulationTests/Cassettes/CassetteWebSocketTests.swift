import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import RxWebSocket
import Testing

@Suite struct CassetteWebSocketTests {
    /// The messages of a chat by their times, the code of its end, and the errors.
    private static func chat(
        _ transport: any Transport, on clock: VirtualScheduler, until end: Duration
    ) throws -> (messages: [String], times: [Duration], end: String) {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = RetryPolicy.never
        let client = Client(configuration: configuration, transport: transport)
        let sink = WebSocketSink()
        let messages = Recorder(client.webSocket("/chat", sending: sink), on: clock)
        let sent = Recorder(sink.send(#"{"token": "tok-1234567890"}"#), on: clock)
        try clock.advance(by: end)
        // The opening has a random key.
        let texts = messages.values.map { "\($0)" }.filter { !$0.hasPrefix("opened") }
        let completion =
            messages.failure.map { "\($0.code) \($0.closeCode ?? 0)" } ?? "\(messages.isFinished)"
        messages.cancel()
        sent.cancel()
        try clock.advance(by: .seconds(30))
        return (texts, messages.events.map(\.time), completion)
    }

    /// A WebSocket is recorded message by message, and replayed at the same times.
    @Test(arguments: [
        ScriptedWebSocket([
            .receive, .wait(.milliseconds(20)), .send(.text("hello")), .wait(.seconds(2)),
            .send(.binary([1, 2, 255])), .close(.normalClosure, reason: "done"),
        ]),
        ScriptedWebSocket([.receive, .wait(.milliseconds(5)), .close(.goingAway, reason: "bye")]),
        ScriptedWebSocket([
            .wait(.milliseconds(5)), .send(.text("a")), .fail(NetworkError(.connectionLost, "x")),
        ]),
        ScriptedWebSocket([.wait(.milliseconds(5)), .send(.text("a")), .end]),
        ScriptedWebSocket([.echo]),
        ScriptedWebSocket(
            [.receive, .send(.text(String(repeating: "long ", count: 100)))],
            compression: .permessageDeflate),
    ])
    func replaysMessages(script: ScriptedWebSocket) throws {
        let shop = RecordedShop([.when(.get, "/chat", .webSocket(script))])
        let live = try Self.chat(shop.recording, on: shop.clock, until: .seconds(10))
        let cassette = try shop.cassette()
        let text = String(decoding: cassette.encoded, as: UTF8.self)
        #expect(!text.contains("tok-1234567890"))
        #expect(text.contains("websocket"))

        let clock = VirtualScheduler()
        let replay = ReplayTransport(cassette, on: clock)
        let replayed = try Self.chat(replay, on: clock, until: .seconds(10))
        let expected = live.messages.map { $0.replacing("tok-1234567890", with: "secret-1") }
        #expect(replayed.messages == expected)
        #expect(replayed.times == live.times)
        #expect(replayed.end == live.end)
        try replay.verify()
    }

    // MARK: - The client's side

    private static func exchange(_ events: [Cassette.Event.Kind]) -> Cassette.Exchange {
        let head = Cassette.Event.Kind.head(ResponseHead(status: .switchingProtocols))
        return Cassette.Exchange(
            url: "https://shop.test/chat",
            events: ([head] + events).enumerated().map {
                Cassette.Event(.milliseconds($0.offset), $0.element)
            },
            isWebSocket: true)
    }

    /// An action of a client on its WebSocket.
    enum Action: Sendable {
        case send(WebSocketMessage)
        case close(WebSocketCloseCode)
    }

    /// Opens a WebSocket and performs the actions.
    ///
    /// - Returns: the failure of the connection.
    private static func converse(
        _ actions: [Action], over replay: ReplayTransport, on clock: VirtualScheduler
    ) throws -> NetworkError? {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = RetryPolicy.never
        let client = Client(configuration: configuration, transport: replay)
        let sink = WebSocketSink()
        let events = Recorder(client.webSocket("/chat", sending: sink), on: clock)
        // A sink that is closed before the connection opens sends nothing.
        try clock.advance(by: .milliseconds(10))
        var sendings: [Recorder<Void, NetworkError>] = []
        for action in actions {
            let sending =
                switch action {
                case .send(let message): sink.send(message)
                case .close(let code): sink.close(code)
                }
            sendings.append(Recorder(sending, on: clock))
            try clock.advance(by: .milliseconds(10))
        }
        try clock.advance(by: .seconds(30))
        for sending in sendings { sending.cancel() }
        return events.failure
    }

    private static func text(_ text: String) -> Action { .send(.text(text)) }

    /// The recorded events of a client, the actions of another one, and a part of the expected difference.
    struct Comparison: Sendable {
        let recorded: [Cassette.Event.Kind]
        let actions: [Action]
        let difference: String?

        init(_ recorded: [Cassette.Event.Kind], _ actions: [Action], _ difference: String?) {
            self.recorded = recorded
            self.actions = actions
            self.difference = difference
        }
    }

    static let comparisons: [Comparison] = [
        Comparison([.message(.text("a b"), .client)], [text("a b")], nil),
        Comparison(
            [.message(.text("a b"), .client)], [text("a  b")], #"message 1: recorded "a b", sent "a  b""#),
        Comparison(
            [.message(.text(#"{"a": 1, "b": "ü"}"#), .client)], [text(#"{"b":"\u00fc","a":1.0}"#)], nil),
        Comparison(
            [.message(.text(#"{"user": {"name": "ann"}, "n": 1}"#), .client)],
            [text(#"{"user": {"name": "bob"}}"#)], "message 1.n: recorded 1, sent nothing"),
        Comparison(
            [.message(.text(#"{"user": {"name": "ann"}}"#), .client)], [text(#"{"user": {"name": "bob"}}"#)],
            #"message 1.user.name: recorded "ann", sent "bob""#),
        Comparison(
            [.message(.text(String(repeating: "a", count: 500) + "b"), .client)],
            [text(String(repeating: "a", count: 500) + "c")], #"aab", sent "#),
        Comparison([.message(.binary([1, 2, 255]), .client)], [.send(.binary([1, 2, 255]))], nil),
        Comparison(
            [.message(.binary([1, 2, 255]), .client)], [.send(.binary([1, 2, 10]))],
            "message 1: recorded 3 bytes, at 2 0xFF, sent 3 bytes, at 2 0x0A"),
        Comparison(
            [.message(.binary([1, 2, 3]), .client)], [.send(.binary([1, 2]))],
            "message 1: recorded 3 bytes, sent 2 bytes"),
        Comparison(
            [.message(.binary([65]), .client)], [text("A")], #"message 1: recorded 1 bytes, sent "A""#),
        Comparison(
            [.message(.text("one"), .client), .message(.text("two"), .client)], [text("two"), text("one")],
            #"message 1: recorded "one", sent "two""#),
        Comparison(
            [.message(.text("one"), .client), .message(.text("a"), .server)], [text("one"), text("two")],
            #"message 2: recorded nothing, sent "two""#),
        Comparison(
            [
                .message(.text("one"), .client), .message(.text("two"), .client),
                .close(.normalClosure, reason: "", .client),
            ], [text("one")], #"message 2: recorded "two", sent nothing"#),
        Comparison(
            [.message(.text("one"), .client), .close(.goingAway, reason: "", .client)], [text("one")],
            "close: recorded close 1001 (going away), sent nothing"),
        Comparison(
            [.message(.text("one"), .client), .close(.normalClosure, reason: "", .client)],
            [.close(.normalClosure)], #"message 1: recorded "one", sent close 1000 (normal closure)"#),
        Comparison(
            [.close(.normalClosure, reason: "bye", .client)], [.close(.goingAway)],
            "close: recorded 1000 (normal closure), sent 1001 (going away)"),
        Comparison(
            [
                .close(.normalClosure, reason: "bye", .client), .close(.normalClosure, reason: "", .server),
                .finished,
            ], [.close(.normalClosure)], nil),
        Comparison(
            [.close(.goingAway, reason: "", .server), .close(.goingAway, reason: "", .client), .finished], [],
            nil),
        Comparison(
            [
                .close(.goingAway, reason: "", .server), .close(.normalClosure, reason: "", .client),
                .finished,
            ], [], "close: recorded 1000 (normal closure), sent 1001 (going away)"),
        // The recorder did not see the end.
        Comparison(
            [.message(.text("one"), .client), .cancelled], [text("one"), .close(.normalClosure)], nil),
        Comparison(
            [.message(.text("one"), .client), .finished], [], #"message 1: recorded "one", sent nothing"#),
    ]

    /// Messages of the client are compared with the recording.
    @Test(arguments: comparisons)
    func comparesMessages(item: Comparison) throws {
        let clock = VirtualScheduler()
        let replay = ReplayTransport(Cassette([Self.exchange(item.recorded)]), on: clock)
        _ = try Self.converse(item.actions, over: replay, on: clock)
        guard let difference = item.difference else { return try replay.verify() }
        let error = #expect(throws: ReplayMismatch.self) { try replay.verify() }
        let lines = try #require(error).differences
        #expect(lines.contains { $0.contains(difference) }, "\(lines)")
    }

    /// A message that differs breaks the connection and is named by its exchange.
    @Test func breaksTheConnection() throws {
        let clock = VirtualScheduler()
        let recorded = Self.exchange([.message(.text("one"), .client), .message(.text("reply"), .server)])
        let replay = ReplayTransport(Cassette([recorded]), on: clock)
        let error = try #require(try Self.converse([Self.text("two")], over: replay, on: clock))
        #expect(error.code == .unrecorded)
        let mismatch = try #require(replay.unmatched.first)
        #expect(error.message == "\(mismatch)")
        #expect(mismatch.nearest == 1)
        #expect(
            "\(mismatch)" == """
                the client of GET https://shop.test/chat does not fit exchange 1 of the cassette
                  message 1: recorded "one", sent "two"
                """)
    }

    /// Placeholders fit any secret, and no placeholder of another one.
    @Test(arguments: [
        (
            #"{"token": "secret-1", "password": 2}"#, #"{"password": 4711, "token": "tok-1234567890"}"#,
            true
        ),
        (#"{"token": "secret-1"}"#, #"{"token": "secret-1"}"#, true),
        (#"{"token": "secret-1"}"#, #"{"token": "secret-2"}"#, false),
        (#"{"token": "secret-1"}"#, #"{"token": null}"#, false),
        (#"{"line": "AUTH secret-1 now"}"#, #"{"line": "AUTH tok-1234567890 now"}"#, true),
        (#"{"line": "AUTH secret-1 now"}"#, #"{"line": "AUTH tok-1234567890 later"}"#, false),
        ("AUTH secret-1 by secret-2", "AUTH tok-1234567890 by p4ssw0rd", true),
        ("AUTH secret-1 by secret-2", "AUTH tok-1234567890 by ", false),
        ("AUTH secret-1", "AUTH two words", false), ("secret-1", "tok-1234567890", true),
        ("AUTH secret-1", "AUTH secret-2", false),
    ])
    func placeholders(recorded: String, sent: String, fits: Bool) throws {
        for (recorded, sent) in [
            (WebSocketMessage.text(recorded), WebSocketMessage.text(sent)),
            (.binary(Array(recorded.utf8)), .binary(Array(sent.utf8))),
        ] {
            // The bytes of binary messages are not taken for JSON.
            if case .binary(let bytes) = recorded, bytes.first == UInt8(ascii: "{") { continue }
            let clock = VirtualScheduler()
            let exchange = Self.exchange([.message(recorded, .client)])
            let replay = ReplayTransport(Cassette([exchange]), on: clock)
            _ = try Self.converse([.send(sent)], over: replay, on: clock)
            #expect(replay.unmatched.isEmpty == fits, "\(replay.unmatched)")
        }
    }

    /// Each connection is compared with its own recording.
    @Test func reconnections() throws {
        func replay(_ messages: [String], isStrict: Bool = true) throws -> ReplayTransport {
            let clock = VirtualScheduler()
            let exchanges = ["one", "two"].map { text in
                Self.exchange([
                    .message(.text(text), .client),
                    .failed(Cassette.Failure(.connectionLost, "broke", phase: .response)),
                ])
            }
            var rules = ReplayRules()
            rules.isStrict = isStrict
            let replay = ReplayTransport(Cassette(exchanges), on: clock, rules: rules)
            for message in messages {
                _ = try Self.converse(message.isEmpty ? [] : [Self.text(message)], over: replay, on: clock)
            }
            return replay
        }
        try replay(["one", "two"]).verify()
        let swapped = try replay(["one", "one"])
        #expect(swapped.unmatched.map(\.nearest) == [2])
        let silent = try replay(["one", ""])
        #expect(throws: ReplayMismatch.self) { try silent.verify() }
        try replay(["one", ""], isStrict: false).verify()
    }

    /// A client that connects again is compared on both connections.
    @Test(arguments: ["two", "other"])
    func reconnects(second: String) throws {
        let clock = VirtualScheduler()
        let lost = Cassette.Failure(.connectionLost, "broke", phase: .response)
        let replay = ReplayTransport(
            Cassette([
                Self.exchange([.message(.text("one"), .client), .failed(lost)]),
                Self.exchange([.message(.text("two"), .client), .message(.text("done"), .server)]),
            ]), on: clock)
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: replay)
        let sink = WebSocketSink()
        var settings = WebSocketSettings()
        settings.reconnection = .always(resumption: { _ in [.text(second)] })
        let texts = Recorder(client.webSocket("/chat", sending: sink, settings: settings).texts(), on: clock)
        let sent = Recorder(sink.send("one"), on: clock)
        try clock.advance(by: .seconds(5))
        texts.cancel()
        sent.cancel()
        try clock.advance(by: .seconds(30))
        #expect(texts.values == (second == "two" ? ["done"] : []))
        guard second == "other" else { return try replay.verify() }
        let error = #expect(throws: ReplayMismatch.self) { try replay.verify() }
        #expect(error?.nearest == 2)
    }

    /// Without comparing contents, the number of messages and the close code count.
    @Test func looseContents() throws {
        var rules = ReplayRules()
        rules.comparesBodies = false
        for (actions, fits) in [
            ([Self.text("x"), .close(.normalClosure)], true), ([Self.text("x"), Self.text("y")], false),
            ([Self.text("x"), .close(.goingAway)], false),
        ] as [([Action], Bool)] {
            let clock = VirtualScheduler()
            let recorded = Self.exchange([
                .message(.text("one"), .client), .close(.normalClosure, reason: "", .client),
            ])
            let replay = ReplayTransport(Cassette([recorded]), on: clock, rules: rules)
            _ = try Self.converse(actions, over: replay, on: clock)
            #expect(replay.unmatched.isEmpty == fits)
        }
    }
}
