import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct StreamTests {
    private let clock = VirtualScheduler()

    private func client(
        session: Session? = nil, _ rules: ScriptedTransport.Rule...
    ) -> (Client, ScriptedTransport) {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.session = session
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        let transport = ScriptedTransport(on: clock, rules)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    private func lines(
        _ client: Client, _ call: InlineEndpoint = InlineEndpoint(.get, "/log")
    ) throws -> Recorder<String, NetworkError> {
        let recorder = Recorder(client.stream(call).lines(), on: clock)
        try clock.run()
        return recorder
    }

    private static let ok = ScriptedTransport.Step.head(ResponseHead(status: .ok))

    /// Before the response a failure is retried, and so is a transient status.
    @Test func retries() throws {
        let (client, transport) = client(
            .when(
                .get, "/log", .failure(.connectionLost), .status(.serviceUnavailable),
                .bytes(Array("a\nb".utf8))))
        let recorder = try lines(client)
        #expect(recorder.values == ["a", "b"])
        #expect(recorder.isFinished)
        #expect(transport.requests.map(\.attempt) == [1, 2, 3])
        #expect(Set(transport.requests.map(\.id)).count == 1)
    }

    /// Once the response has begun a failure is final.
    @Test func failsAfterHead() throws {
        let (client, transport) = client(
            .when(
                .get, "/log",
                .steps(Self.ok, .chunk(Array("a\nb".utf8)), .fail(NetworkError(.connectionLost, "cut")))))
        let recorder = try lines(client)
        #expect(recorder.values == ["a"])
        #expect(recorder.failure?.code == .connectionLost)
        #expect(transport.exchanges.count == 1)
    }

    /// A status that is not a success is an error with the server's message, and nothing is delivered.
    @Test func status() throws {
        let (client, _) = client(
            .when(
                .get, "/log",
                .steps(
                    .interim(ResponseHead(status: .continue)),
                    .head(ResponseHead(status: .notFound)), .chunk(Array(#"{"mess"#.utf8)),
                    .chunk(Array(#"age":"no log"}"#.utf8)), .finish)))
        let recorder = Recorder(client.stream(.get("/log")), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.status == .notFound)
        #expect(recorder.failure?.message == "no log")
        #expect(recorder.failure?.body.count == 20)
        #expect(recorder.values.allSatisfy { if case .interim = $0 { true } else { false } })
    }

    /// An error body that is incomplete, or too long, is reported as far as it was received.
    @Test(arguments: [false, true])
    func brokenStatus(isEndless: Bool) throws {
        let head = ScriptedTransport.Step.head(ResponseHead(status: .notFound))
        let end: ScriptedTransport.Step = isEndless ? .stall : .fail(NetworkError(.partialBody, "cut"))
        let transport = ScriptedTransport(on: clock) { _ in
            .steps(head, .chunk(Array(repeating: 1, count: 11)), end)
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.bodyLimit = isEndless ? 10 : 20
        configuration.options.retry = .never
        let recorder = try lines(Client(configuration: configuration, transport: transport))
        #expect(recorder.failure?.code == (isEndless ? .tooLarge : .partialBody))
        #expect(transport.runningCount == 0)
    }

    /// An expired login is renewed and the request sent once more, before the response.
    @Test func relogin() throws {
        let session = Session(credential: Credential(token: "old"), clock: clock) {
            .just(Credential(token: "new"))
        }
        let (client, transport) = client(
            session: session,
            .when(.get, "/log", .status(.unauthorized), .bytes(Array("a".utf8))))
        let recorder = try lines(client)
        #expect(recorder.values == ["a"])
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    /// The total timeout counts to the end of the body.
    @Test func total() throws {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.timeouts = Timeouts(total: .seconds(5))
        let transport = ScriptedTransport(on: clock) { _ in .steps(Self.ok, .chunk([0x61, 0x0A]), .stall) }
        let recorder = try lines(Client(configuration: configuration, transport: transport))
        #expect(recorder.values == ["a"])
        #expect(recorder.failure?.code == .totalTimeout)
        #expect(transport.exchanges.map(\.outcome) == [.cancelled])
    }

    /// Cancelling closes the transfer.
    @Test func cancel() throws {
        let (client, transport) = client(.when(.get, "/log", .steps(Self.ok, .chunk([0x61, 0x0A]), .stall)))
        let recorder = Recorder(client.stream(.get("/log")).lines(), on: clock)
        try clock.advance(by: .seconds(1))
        recorder.cancel()
        #expect(recorder.values == ["a"])
        #expect(transport.exchanges.map(\.outcome) == [.cancelled])
    }

    /// Lines are decoded by the client's decoder by default.
    @Test func linesByTheClientsDecoder() throws {
        struct Item: Decodable, Equatable { let unitPrice: Int }
        let configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.decoder.keyDecodingStrategy = .convertFromSnakeCase
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .get, "/items", .bytes(Array(#"{"unit_price":1}"#.utf8)),
                    .bytes(Array(#"{"unitPrice":2}"#.utf8)))
            ])
        let client = Client(configuration: configuration, transport: transport)
        let own = Recorder(client.stream(.get("/items")).jsonLines(Item.self), on: clock)
        try clock.run()
        #expect(own.values == [Item(unitPrice: 1)])
        let other = Recorder(
            client.stream(.get("/items")).jsonLines(Item.self, decoder: JSONDecoder()), on: clock)
        try clock.run()
        #expect(other.values == [Item(unitPrice: 2)])
    }
}
