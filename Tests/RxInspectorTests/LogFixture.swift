#if Inspector
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization

@testable import RxInspector

/// A client with scripted responses, and the messages that a front end would receive.
final class LogFixture: Sendable {
    let clock = VirtualScheduler()
    let client: Client
    private let log: Mutex<NetworkLog>
    private let items = Mutex<[TrafficInbox.Item]>([])
    private let sent = Mutex<[JSON]>([])
    private let subscription = Mutex<Subscription?>(nil)

    /// - Parameter isBatched: whether all events are one batch, as if the recorder had been behind.
    init(
        _ rules: [ScriptedTransport.Rule], settings: Inspector.Settings = Inspector.Settings(),
        isBatched: Bool = false, configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .never
        configure(&configuration)
        client = Client(configuration: configuration, transport: ScriptedTransport(on: clock, rules))
        log = Mutex(NetworkLog(settings))
        let subscription = client.traffic.subscribe(onNext: { [weak self] event in
            self?.items.withLock { $0.append(.event(event)) }
            if !isBatched { self?.takeBatch() }
        })
        self.subscription.withLock { $0 = subscription }
    }

    private func takeBatch() {
        let batch = items.withLock { items in
            defer { items = [] }
            return items
        }
        take(batch)
    }

    func take(_ batch: [TrafficInbox.Item]) {
        let messages = log.withLock { $0.take(batch) }
        sent.withLock { $0 += messages.compactMap { JSON(parsing: String(decoding: $0, as: UTF8.self)) } }
    }

    /// Runs the stream to its end.
    func run<T>(_ stream: Observable<T, NetworkError>) throws {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        takeBatch()
        recorder.cancel()
        takeBatch()
    }

    /// All messages so far.
    var messages: [JSON] { sent.withLock { $0 } }

    /// The messages for a front end that comes now.
    func replay(limit: Int = .max) -> [JSON] {
        log.withLock { $0.replay(limit: limit) }.compactMap {
            JSON(parsing: String(decoding: $0, as: UTF8.self))
        }
    }

    func row(_ id: String) -> NetworkRow? { log.withLock { $0.row(id) } }

    /// The names of the messages, without the domain.
    var names: [String] { Self.names(messages) }

    static func names(_ messages: [JSON]) -> [String] {
        messages.map { String(($0["method"]?.string ?? "?").dropFirst("Network.".count)) }
    }

    /// The parameters of the messages with the name.
    func params(_ name: String) -> [JSON] {
        messages.filter { $0["method"]?.string == "Network.\(name)" }.compactMap { $0["params"] }
    }
}
#endif
