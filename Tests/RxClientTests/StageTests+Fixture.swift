import FoundationEssentials
import HTTPTypes
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

extension StageTests {
    /// One way to make the request, with everything that the stages need.
    struct Fixture: Sendable {
        let clock = VirtualScheduler()
        let transport: ScriptedTransport
        let session: Session
        let jar: CookieJar
        let reachability: ScriptedReachability
        let log = Log()

        init(_ answers: [Reply]) {
            let left = Mutex(answers[...])
            transport = ScriptedTransport(on: clock) { _ in
                left.withLock { $0.popFirst() } ?? .failure(.connectionLost)
            }
            session = Session(credential: Credential(token: "old"), clock: clock) {
                .just(Credential(token: "new"))
            }
            jar = CookieJar(publicSuffixes: PublicSuffixes { $0 == "test" }, clock: clock)
            reachability = ScriptedReachability()
        }

        /// A client that does nothing by default.
        func client(_ configure: (inout ClientConfiguration) -> Void = { _ in }) -> Client {
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            configure(&configuration)
            return Client(configuration: configuration, transport: transport)
        }

        /// The start of a chain made by hand.
        var exchange: Observable<Response, NetworkError> { exchange(.get) }

        func exchange(
            _ method: HTTPRequest.Method, following redirects: RedirectPolicy? = nil,
            _ configure: (inout ClientConfiguration) -> Void = { _ in }
        ) -> Observable<Response, NetworkError> {
            let client = client(configure)
            return .deferred { () throws(NetworkError) in
                let request = try client.serialized(InlineEndpoint(method, "/x", query: ["a": 1]))
                return client.exchange(request, following: redirects).response(to: request)
            }
        }

        /// The sent requests with their times, and the result.
        func run(_ stream: Observable<String, NetworkError>) throws -> [String] {
            let recorder = Recorder(stream, on: clock)
            try clock.run()
            let sent = transport.exchanges.map { exchange in
                let request = exchange.request
                let secret = request.headerFields[.authorization] ?? request.headerFields[.cookie] ?? "-"
                return "\(exchange.startedAt) \(request.method) \(request.url.absoluteString) \(secret)"
            }
            let outcome = recorder.failure.map { error in
                "\(error.code.rawValue) \(error.status?.code ?? 0) \(error.message) \(error.envelopeCode ?? "-") "
                    + String(decoding: error.body, as: UTF8.self)
            }
            return sent + recorder.values + [outcome ?? "finished \(recorder.isFinished)"] + log.lines
        }
    }

    final class Log: Sendable {
        private let contents = Mutex<[String]>([])
        var lines: [String] { contents.withLock { $0 } }
        func add(_ line: String) { contents.withLock { $0.append(line) } }

        var accessory: Accessory {
            Accessory(
                willStart: { request in self.add("willStart \(request.method)") },
                willStop: { _, outcome in self.add("willStop \(outcome.name)") },
                didStop: { _, outcome in self.add("didStop \(outcome.name)") })
        }
    }

    struct Stage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answers: [Reply]
        let endpoint: @Sendable (Fixture) -> Observable<String, NetworkError>
        let byHand: @Sendable (Fixture) -> Observable<String, NetworkError>

        init(
            _ name: String, _ answers: Reply...,
            endpoint: @escaping @Sendable (Fixture) -> Observable<String, NetworkError>,
            byHand: @escaping @Sendable (Fixture) -> Observable<String, NetworkError>
        ) {
            self.init(name, answers, endpoint: endpoint, byHand: byHand)
        }

        init(
            _ name: String, _ answers: [Reply],
            endpoint: @escaping @Sendable (Fixture) -> Observable<String, NetworkError>,
            byHand: @escaping @Sendable (Fixture) -> Observable<String, NetworkError>
        ) {
            testDescription = name
            self.answers = answers
            self.endpoint = endpoint
            self.byHand = byHand
        }
    }
}

extension RequestOutcome {
    fileprivate var name: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}
