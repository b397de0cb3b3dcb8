import RxNetworking
import RxTesting

struct Price: Codable, Sendable { let euro: Int }

func watchPrices(_ client: Client) async throws {
    for try await price in client.webSocket("/prices").messages(of: Price.self) {
        print(price.euro)
    }
}

func chat(_ client: Client) async throws {
    let sink = WebSocketSink()
    for try await line in client.webSocket("/chat", sending: sink).texts() {
        try await sink.send("You said: \(line)").value()
    }
}

func watchEverythingLive(_ client: Client) {
    client.webSocket("/live").subscribe(
        onNext: { event in
            switch event {
            case .opened(let opening): print("connected", opening.subprotocol ?? "")
            case .text(let text): print(text)
            case .binary(let bytes): print(bytes.count)
            case .ping, .pong: break
            case .closing(let code, let reason): print("closed with \(code) \(reason)")
            case .reconnecting(let delay, _): print("again in \(delay)")
            }
        }, onFailure: { error in print(error) })
}

func keepWatching(_ client: Client, _ sink: WebSocketSink) -> Observable<Price, NetworkError> {
    var settings = WebSocketSettings()
    settings.reconnection = .always(resumption: { _ in [.text(#"{"subscribe": "prices"}"#)] })
    let prices = client.webSocket("/prices", sending: sink, settings: settings).messages(of: Price.self)
    return prices
}

func agreeOnMore() -> WebSocketSettings {
    var settings = WebSocketSettings()
    settings.subprotocols = ["chat.v2", "chat.v1"]
    settings.compression = .off
    settings.limits.messageBytes = 64 << 20
    return settings
}

func scriptTheServer() -> ScriptedTransport {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/chat", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))
        ])
    return transport
}
