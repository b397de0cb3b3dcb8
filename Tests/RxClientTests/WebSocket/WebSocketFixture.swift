import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket

/// A WebSocket in virtual time, before scripted servers: one reply for each connection.
struct WebSocketFixture {
    let clock = VirtualScheduler()
    let sink: WebSocketSink
    let transport: ScriptedTransport
    let client: Client

    init(
        _ replies: ScriptedTransport.Reply..., limit: Int = 1024,
        dropsOldest: Bool = false, session: Session? = nil
    ) {
        transport = ScriptedTransport(on: clock, replies: replies)
        sink = WebSocketSink(limit: limit, dropsOldest: dropsOldest)
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.session = session
        client = Client(configuration: configuration, transport: transport)
    }

    /// Subscribes, with the events as texts.
    func open(_ settings: WebSocketSettings = WebSocketSettings()) -> Recorder<String, NetworkError> {
        Recorder(
            client.webSocket("/live", sending: sink, settings: settings).map { event in
                switch event {
                case .opened(_, let subprotocol, let isCompressed):
                    "opened" + (subprotocol.map { " \($0)" } ?? "") + (isCompressed ? " compressed" : "")
                case .text(let text): text
                case .binary(let bytes): "\(bytes)"
                case .ping(let bytes): "ping \(bytes)"
                case .pong(let bytes): "pong \(bytes)"
                case .closing(let code, let reason): "closing \(code.rawValue) \(reason)"
                case .reconnecting(let delay, let error):
                    "again in \(delay / .milliseconds(1)): \(error?.code.rawValue ?? "closed")"
                }
            }, on: clock)
    }

    /// Sends a text now.
    func send(_ text: String) -> Recorder<Void, NetworkError> { Recorder(sink.send(text), on: clock) }
}
