import FoundationEssentials
import RxNetworking
import RxSimulation
import RxTesting
import RxTestingSupport
import Testing

// The samples of the comments of RxTesting and RxTestingSupport. Those that are tests need files and networks that are
// not here; the tutorial's samples run.

@Suite(.disabled("Compiled only: the cassettes do not exist"))
private struct CommentedTests {
    private let clock = VirtualScheduler()

    private struct Cart: Decodable, Sendable {
        let count: Int
    }

    @Test(.cassette("login")) func theCartIsShown() async throws {
        let cassette = try TestCassette.current
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"),
            transport: try cassette.transport(network: CurlTransport.shared))
        let cart = try await cassette.values(of: client.get("/cart").decode(Cart.self))
        #expect(cart.count == 1)
    }

    @Test(.usesEveryRule) func theTokenIsRenewedOnce() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/cart", .status(.unauthorized), .json("{}")),
                .when(.post, "/login", .json(#"{"token": "t"}"#)),
            ])
        let cart = Recorder(client(transport).get("/cart"), on: clock)
        try clock.run()
        #expect(cart.values.count == 1)
    }

    private struct Shop: Sendable {
        var orderCount: Int { 1 }
        func answer(_: SimulatedRequest) -> ScriptedTransport.Reply { .json("{}") }
    }

    @Sendable func orders(_ simulation: Simulation) {
        let shop = Shop()
        simulation.server("https://shop.test") { request in shop.answer(request) }
        simulation.process("app") { process in
            let configuration = ClientConfiguration(baseURL: "https://shop.test")
            let client = Client(configuration: configuration, transport: process.transport)
            process.subscribe("order", to: client.post("/orders", ["item": 1]))
        }
        simulation.invariant("one order") { _ in shop.orderCount <= 1 ? [] : ["\(shop.orderCount) orders"] }
    }

    @Test func ordersSurvive() async throws {
        try await Simulation.explore(seeds: 1...200, name: "orders", orders)
    }

    private func client(_ transport: ScriptedTransport) -> Client {
        Client(baseURL: "https://shop.test", transport: transport)
    }
}

func recording(_ configuration: ClientConfiguration) throws {
    let recording = RecordingTransport(CurlTransport.shared)
    let client = Client(configuration: configuration, transport: recording)
    // The calls to record.
    try recording.cassette.write(to: "Tests/ShopTests/Cassettes/login.har")
    show(client)
}

@Statements func replaying(_ configuration: ClientConfiguration) throws -> [Any] {
    let cassette = try Cassette(contentsOf: "Tests/ShopTests/Cassettes/login.har")
    let clock = VirtualScheduler(startingAt: cassette.startedAt)
    let client = Client(
        configuration: ClientConfiguration(baseURL: "https://shop.test"),
        transport: ReplayTransport(cassette, on: clock))
    client
}

func verifying(_ configuration: ClientConfiguration) throws {
    let cassette = try Cassette(contentsOf: "Tests/ShopTests/Cassettes/login.har")
    let clock = VirtualScheduler(startingAt: cassette.startedAt)
    let replay = ReplayTransport(cassette, on: clock)
    let client = Client(configuration: configuration, transport: replay)
    // The calls to test.
    try clock.run()
    try replay.verify()
    show(client)
}

func replayingOrRecording(_ configuration: ClientConfiguration, _ clock: VirtualScheduler) throws {
    let transport = try CassetteTransport(
        "Cassettes/login.har", mode: .replayOrRecord, on: clock, network: CurlTransport.shared)
    let client = Client(configuration: configuration, transport: transport)
    // The calls to test.
    try transport.finish()
    show(client)
}

func documented(_ clock: VirtualScheduler) throws -> ScriptedTransport {
    let shop = try OpenAPIDocument("Fixtures/shop.json")
    let transport = ScriptedTransport(
        on: clock,
        try [.when(.get, "/goods/{id}", shop.reply(to: .get, "/goods/{id}", status: 404))] + shop.rules())
    return transport
}

func scriptedReachability(_ configuration: inout ClientConfiguration) {
    let reachability = ScriptedReachability(.wifi)
    configuration.reachability = reachability
    reachability.set(.unreachable)
}

func memoryFiles(_ clock: VirtualScheduler) -> MemoryFileSystem {
    let files = MemoryFileSystem(on: clock)
    files["/tmp/note"] = Array("text".utf8)
    files.fail(.write, of: "/tmp/note", "disk full")
    return files
}

func virtualTime() throws {
    func schedules() throws {
        let clock = VirtualScheduler()
        let ticks = Recorder(Observable<Void, Never>.timer(.seconds(3600), on: clock), on: clock)
        try clock.advance(by: .seconds(3600))
        show(ticks.values.count)
    }
    func clocks() {
        let clock = VirtualScheduler()
        let task = Task { try await Task.sleep(for: .seconds(3600), clock: clock.clock) }
        task.cancel()
    }
    try schedules()
    clocks()
}

func rules() throws -> [ScriptedTransport.Rule] {
    [
        .when(.get, "/goods", query: ["page": "2"], .json("[3, 4]")),
        .when(.post, "/login", body: .json(#"{"user": "ann"}"#), .json(#"{"token": "t"}"#)),
        .when(.get, "/cart", if: { $0.headerFields[.authorization] == nil }, .status(.unauthorized)),
    ] + [
        .when(.get, "/goods", try .fixture("Fixtures/goods.json"))
    ]
}

func scripts(_ clock: VirtualScheduler) -> ScriptedTransport {
    let transport = ScriptedTransport(on: clock, replies: [.failure(.connect), .json("[1, 2]")])
    return transport
}

func scriptedWebSocket(_ clock: VirtualScheduler) -> ScriptedTransport {
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/chat", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))
        ])
    return transport
}

func scriptedServer() -> ScriptedTransport {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/goods", .failure(.connect), .json("[1, 2]", after: .milliseconds(30))),
            .when(.post, "/login", .json(#"{"token": "t"}"#)),
        ])
    return transport
}

func contracts() async {
    let violations = await ContractChecker.violations { source, clock in
        source.debounce(.seconds(1), on: clock)
    }
    #expect(violations.isEmpty)
}

private func inVirtualTime(_ clock: VirtualScheduler, _ client: Client) async throws {
    let cart = try await clock.run { try await client.get("/cart").decode(Cart.self).value() }
    show(cart)
}

func marbles(_ clock: VirtualScheduler, _ letters: Observable<Int, Never>) throws {
    func sources() throws -> MarbleSource<Int, Never> {
        let goods: MarbleSource<Int, Never> = try clock.cold("--a--(bc|)", values: ["a": 1, "b": 2, "c": 3])
        return goods
    }
    let goods = try sources().observable
    let recorder = Recorder(goods.map { $0 * 10 }, on: clock)
    try clock.run()
    try recorder.expect("--a--b|", values: ["a": 10, "b": 20])
}

func expectations() throws {
    let clock = VirtualScheduler()
    let typed: MarbleSource<String, Never> = try clock.hot("-a-b-----c|")
    expect(typed.observable.debounce(.milliseconds(3)), emits: "------b---(c|)", on: clock)
}
