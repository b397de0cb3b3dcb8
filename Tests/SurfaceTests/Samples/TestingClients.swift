import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxTesting
import RxTestingSupport
import Testing

// The samples of the article Testing clients are tests, and run as such.

private struct CartContent: Decodable, Sendable, Equatable {
    let goods: [String]
}

private struct Token: Decodable, Sendable {
    let token: String
}

@Test func theCartIsEmptyAtFirst() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(on: clock, [.when(.get, "/cart", .json(#"{"goods": []}"#))])
    let client = Client(
        configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)

    let cart = Recorder(client.get("/cart").decode(CartContent.self), on: clock)
    try clock.run()
    #expect(cart.values == [CartContent(goods: [])])
}

@Test(.usesEveryRule) func rulesSelectRequests() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/goods", query: ["page": "2"], .json(#"{"goods": ["salt"]}"#)),
            .when(.post, "/cart", body: .json(#"{"id": 7}"#), .json(#"{"goods": ["tea"]}"#)),
            .when(.get, "/cart", if: { $0.headerFields[.accept] == "text/html" }, .status(.notAcceptable)),
        ])
    let client = Client(
        configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)

    let page = Recorder(client.get("/goods", query: ["page": 2]).decode(CartContent.self), on: clock)
    let cart = Recorder(client.post("/cart", .json(["id": 7])).decode(CartContent.self), on: clock)
    let html = Recorder(client.get("/cart", headers: ["Accept": "text/html"]), on: clock)
    try clock.run()
    #expect(page.values == [CartContent(goods: ["salt"])])
    #expect(cart.values == [CartContent(goods: ["tea"])])
    #expect(!html.isFinished)
}

@Test func theFirstFailureIsRetried() {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock, [.when(.get, "/cart", .status(.serviceUnavailable), .json(#"{"goods": ["tea"]}"#))])
    var configuration = ClientConfiguration(baseURL: "https://shop.test")
    configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(500)))
    let client = Client(configuration: configuration, transport: transport)

    let goods = client.get("/cart").decode(CartContent.self).map { $0.goods.joined() }
    expect(goods, emits: " 500ms (a|)", values: ["a": "tea"], on: clock)
}

@Test func aRecordingReplays() throws {
    let clock = VirtualScheduler()
    let server = ScriptedTransport(
        on: clock,
        [
            .when(.post, "/login", .json(#"{"token": "4-real-token"}"#, after: .seconds(2))),
            .when(.get, "/cart", .json(#"{"goods": ["tea"]}"#, after: .milliseconds(300))),
        ])
    let recording = RecordingTransport(server)
    #expect(try cart(through: recording, on: clock) == [CartContent(goods: ["tea"])])
    let file = recording.cassette.encoded
    #expect(!String(decoding: file, as: UTF8.self).contains("4-real-token"))

    let later = VirtualScheduler()
    let replay = ReplayTransport(try Cassette(bytes: file), on: later)
    #expect(try cart(through: replay, on: later) == [CartContent(goods: ["tea"])])
    #expect(later.now == .milliseconds(2300))
    try replay.verify()
}

private func cart(through transport: any Transport, on clock: VirtualScheduler) throws -> [CartContent] {
    let client = Client(
        configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
    let login = client.post("/login", .json(["password": "open sesame"])).decode(Token.self)
    let cart = Recorder(
        login.flatMap {
            client.get("/cart", headers: ["Authorization": "Bearer \($0.token)"]).decode(CartContent.self)
        },
        on: clock)
    try clock.run()
    return cart.values
}

@Test(.cassette("cart")) func theCartIsShown() async throws {
    let cassette = try TestCassette.current
    let client = Client(
        configuration: ClientConfiguration(baseURL: "https://shop.test"),
        transport: try cassette.transport(network: CurlTransport.shared))
    let carts = try await cassette.values(of: client.get("/cart").decode(CartContent.self))
    #expect(carts == [CartContent(goods: ["tea", "salt"])])
}
