import RxNetworking
import RxTesting
import Testing

struct Price: Codable, Sendable { let euro: Int }

func watchPrices(_ client: Client) async throws {
    for try await price in client.webSocket("/prices").messages(of: Price.self) {
        print(price.euro)
    }
}

func sharePrices(_ client: Client) {
    let prices = client.webSocket("/prices").messages(of: Price.self).share()
    prices.subscribe(onNext: { price in print(price.euro) })
    prices.filter { $0.euro > 100 }.subscribe(onNext: { price in print("expensive: \(price.euro)") })
}

func chat(_ client: Client) async throws {
    let sink = WebSocketSink()
    for try await line in client.webSocket("/chat", sending: sink).texts() {
        try await sink.send("You said: \(line)").value()
    }
}

func sendTwice(_ sink: WebSocketSink) {
    sink.send("hello").subscribe()
    sink.send(.binary([0x01, 0x02])).subscribe(onFailure: { error in print(error) })
}

func watchEverythingLive(_ client: Client) {
    client.webSocket("/live").subscribe(
        onNext: { event in
            switch event {
            case .opened(_, let subprotocol, _): print("connected", subprotocol ?? "")
            case .text(let text): print(text)
            case .binary(let bytes): print(bytes.count)
            case .ping, .pong: break
            case .closing(let code, let reason): print("closed with \(code) \(reason)")
            case .reconnecting(let delay, _): print("again in \(delay)")
            }
        }, onFailure: { error in print(error) })
}

func keepWatching(_ client: Client, _ sink: WebSocketSink) -> Observable<Price, NetworkError> {
    let subscribe = WebSocketMessage.text(#"{"subscribe": "prices"}"#)
    var settings = WebSocketSettings()
    settings.reconnection = .always(resumption: { _ in [subscribe] })
    let prices = client.webSocket("/prices", sending: sink, settings: settings).messages(of: Price.self)
    sink.send(subscribe).subscribe()
    return prices
}

func agreeOnMore() -> WebSocketSettings {
    var settings = WebSocketSettings()
    settings.subprotocols = ["chat.v2", "chat.v1"]
    settings.compression = .off
    settings.messageLimit = 64 << 20
    return settings
}

@Test func theChatGreets() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/chat", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))
        ])
    let client = Client(baseURL: "https://test", transport: transport)

    let sink = WebSocketSink()
    let lines = Recorder(client.webSocket("/chat", sending: sink).texts(), on: clock)
    let sent = Recorder(sink.send("hi"), on: clock)
    try clock.run()
    #expect(lines.values == ["hello"])
    #expect(lines.isFinished)
    #expect(sent.isFinished)
    #expect(transport.exchanges.map(\.messages) == [[.text("hi")]])
    #expect(transport.exchanges.map(\.closeCode) == [.normalClosure])
}
