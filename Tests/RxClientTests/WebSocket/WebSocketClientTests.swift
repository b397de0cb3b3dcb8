import FoundationEssentials
import HTTPTypes
import RxClient
import RxHAR
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Testing

/// WebSockets go through the same stages as the other requests of a client.
@Suite struct WebSocketClientTests {
    @Test func otherMethodsThanGetAreRefused() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let recorder = Recorder(fixture.client.webSocket(InlineEndpoint(.post, "/live")), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidConfiguration)
        #expect(fixture.transport.exchanges.isEmpty)
    }

    @Test func typedMessages() throws {
        struct Price: Codable, Equatable, Sendable { let euro: Int }
        let fixture = WebSocketFixture(
            .webSocket(
                .receive, .send(.text(#"{"euro": 2}"#)), .send(.binary(Array(#"{"euro": 3}"#.utf8))),
                .send(.text("nonsense"))))
        let recorder = Recorder(
            fixture.client.webSocket("/live", sending: fixture.sink).messages(of: Price.self),
            on: fixture.clock)
        _ = Recorder(fixture.sink.send(json: Price(euro: 1)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values == [Price(euro: 2), Price(euro: 3)])
        #expect(recorder.failure?.code == .decoding)
        #expect(recorder.failure?.body == Array("nonsense".utf8))
        #expect(fixture.transport.exchanges[0].messages == [.text(#"{"euro":1}"#)])
    }

    @Test func anExpiredLoginIsRenewedInTheHandshake() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { request in
            switch (request.url.path, request.headerFields[.authorization]) {
            case ("/login", _): .json(#"{"token": "new"}"#)
            case (_, "Bearer new"): .webSocket(.send(.text("in")))
            default: .status(.unauthorized)
            }
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        let loginClient = Client(configuration: configuration, transport: transport)
        configuration.session = Session(credential: Credential(token: "old")) {
            loginClient.post("/login").decode([String: String].self).map {
                Credential(token: $0["token"] ?? "")
            }
        }
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.webSocket("/live").texts(), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(recorder.values == ["in"])
        #expect(transport.requests.map(\.url.path) == ["/live", "/login", "/live"])
    }

    @Test func trafficAndArchivesShowMessages() throws {
        let fixture = WebSocketFixture(
            .webSocket(.receive, .send(.text(#"{"token": "secret"}"#)), .send(.binary([1]))))
        let recording = HARRecording(of: fixture.client.traffic, bodyLimit: 1000)
        let traffic = Recorder(
            fixture.client.traffic.compactMap { event in
                if case .webSocket(let message, let isSent) = event.kind {
                    "\(isSent ? "sent" : "received") \(message.count)"
                } else {
                    nil
                }
            }, on: fixture.clock)
        let recorder = fixture.open()
        _ = fixture.send("hi")
        try fixture.clock.advance(by: .seconds(1))
        #expect(traffic.values == ["sent 2", "received 19", "received 1"])
        recorder.cancel()
        try fixture.clock.advance(by: .seconds(6))
        let entry = try #require(recording.archive.log.entries.first)
        #expect(entry.resourceType == "websocket")
        #expect(entry.response.status == 101)
        #expect(entry.webSocketMessages?.map(\.type) == [.send, .receive, .receive])
        #expect(entry.webSocketMessages?.map(\.opcode) == [1, 1, 2])
        #expect(entry.webSocketMessages?.first?.data == "hi")
        #expect(entry.webSocketMessages?[1].data.contains("secret") == false)
        #expect(entry.webSocketMessages?.last?.data == "AQ==")
    }

    @Test func webSocketSchemesAreThoseOfHTTP() throws {
        let fixture = WebSocketFixture(.webSocket(.echo))
        let recorder = Recorder(fixture.client.webSocket("ws://shop.test/live"), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(recorder.values.count == 1)
        #expect(fixture.transport.requests.first?.url.absoluteString == "http://shop.test/live")
    }
}
