import FoundationEssentials
import RxNetworking
import RxTesting
import Testing

// The samples of the article Testing streams are tests, and run as such.

@Test func searchesWhenTheTypingPauses() throws {
    let clock = VirtualScheduler()
    let typed: MarbleSource<String, Never> = try clock.hot("-a-b-----c|")

    let recorder = Recorder(typed.observable.debounce(.milliseconds(3)), on: clock)
    try clock.run()
    try recorder.expect("------b---(c|)")
}

@Test func aDayOfHours() throws {
    let clock = VirtualScheduler()
    let beat = Recorder(Observable<Int, Never>.interval(.seconds(3600), on: clock), on: clock)
    try clock.advance(by: .seconds(86400))
    #expect(beat.values.count == 24)
    beat.cancel()
    #expect(clock.pendingCount == 0)  // no timer is left
}

@Test func lettersWithValues() throws {
    let clock = VirtualScheduler()
    let source: MarbleSource<Int, PortError> = try clock.cold(
        "--a--b 1s #", values: ["a": 80, "b": 443], error: PortError(text: "x"))
    let recorder = Recorder(source.observable.map { port in port * 10 }, on: clock)
    try clock.run()
    try recorder.expect(
        "--a--b 1s #", values: ["a": 800, "b": 4430], error: PortError(text: "x"))
}

@Test func whoWasSubscribedWhen() throws {
    let clock = VirtualScheduler()
    let slow: MarbleSource<String, Never> = try clock.cold("-----x|")
    let queries: MarbleSource<String, Never> = try clock.cold("-a-b---------|")
    let results = Recorder(
        queries.observable.flatMap(.latest) { query in slow.observable.map { query + $0 } }, on: clock)
    try clock.run()
    try results.expect("--------B----|", values: ["B": "bx"])
    #expect(try slow.subscriptions == [SubscriptionSpan("-^-!"), SubscriptionSpan("---^-----!")])
}

@Test func comingLateAndLeavingEarly() throws {
    let clock = VirtualScheduler()
    let source: MarbleSource<String, Never> = try clock.hot("-a-b-c-d-|")
    let visitor = Recorder(source.observable, on: clock, span: try SubscriptionSpan("--^---!"))
    try clock.run()
    try visitor.expect("---b-c")
    #expect(try visitor.span == SubscriptionSpan("--^---!"))
}

extension Observable {
    func everyOther() -> Observable {
        scan((isEven: true, value: Element?.none)) { last, value in (!last.isEven, value) }
            .compactMap { $0.isEven ? nil : $0.value }
    }
}

@Test func everyOtherKeepsTheContract() async {
    let violations = await ContractChecker.violations { source, _ in source.everyOther() }
    #expect(violations.isEmpty)
}

@Test func aTokenIsRenewedBeforeItExpires() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [.when(.post, "/login", .json(#"{"token":"new"}"#)), .when(.get, "/cart", .json("{}"))])
    var configuration = ClientConfiguration(baseURL: "https://test")
    let login = Client(configuration: configuration, transport: transport)
    let expiring = Credential(token: "old", expires: clock.date.addingTimeInterval(20))
    configuration.session = Session(credential: expiring, clock: clock) {
        login.post("/login").decode(Login.self).map { Credential(token: $0.token) }
    }
    let client = Client(configuration: configuration, transport: transport)

    let cart = Recorder(client.get("/cart"), on: clock)
    try clock.run()
    #expect(cart.values.count == 1)
    #expect(transport.requests.map(\.method) == [.post, .get])
}

@Test func theSameChanceInEveryRun() {
    var random = SeededRandom(7)
    let waits = (0..<3).map { retry in
        Backoff.fullJitter().delay(RetryHistory(count: retry), { .random(in: 0..<1, using: &random) })
    }
    var again = SeededRandom(7)
    let same = (0..<3).map { retry in
        Backoff.fullJitter().delay(RetryHistory(count: retry), { .random(in: 0..<1, using: &again) })
    }
    #expect(waits == same)
    #expect(Set(waits).count == 3)
}

@Test func aCartAfterAnHour() async throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(on: clock, [.when(.get, "/cart", .json("[7]", after: .seconds(5)))])
    let client = Client(baseURL: "https://shop.test", transport: transport)

    let cart = try await clock.run {
        try await clock.clock.sleep(for: .seconds(3600))
        return try await client.get("/cart").decode([Int].self).value()
    }
    #expect(cart == [7])
    #expect(clock.now == .seconds(3605))
}
