import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
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

    @Test(
        "A WebSocket is recorded message by message, and replayed at the same times",
        arguments: [
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
}
