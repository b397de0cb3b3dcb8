import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting

/// A client of a service with two servers, main.test and standby.test, with scripted responses, in virtual
/// time.
struct ResilienceFixture {
    typealias Reply = ScriptedTransport.Reply

    let clock = VirtualScheduler()

    func callAsFunction(
        _ configure: (inout ClientConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (Request) -> Reply
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: answer)
        var configuration = ClientConfiguration(baseURL: "https://main.test/v1")
        configuration.options.retry = .never
        configure(&configuration)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    func callAsFunction(
        _ configure: (inout ClientConfiguration) -> Void = { _ in }, _ answers: [Reply]
    ) -> (Client, ScriptedTransport) {
        let book = Script(answers)
        return self(configure) { _ in book.next() }
    }

    /// The end of `stream`, which must come while time runs.
    @discardableResult
    func outcome<T: Sendable>(
        _ stream: Observable<T, NetworkError>, within time: Duration = .seconds(600)
    ) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.advance(by: time)
        return recorder
    }

    /// Whether each of `count` requests of `stream`, begun at once, succeeded.
    func burst<T: Sendable>(
        _ count: Int, _ stream: Observable<T, NetworkError>
    ) throws -> [Recorder<T, NetworkError>] {
        let recorders = (0..<count).map { _ in Recorder(stream, on: clock) }
        try clock.advance(by: .zero)
        return recorders
    }
}

extension ScriptedTransport {
    /// The hosts of the requests, in order.
    var hosts: [String] { requests.map { $0.url.host() ?? "" } }
    /// The start of each exchange.
    var starts: [Duration] { exchanges.map(\.startedAt) }
}
