import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// Fields that select a variant are compared as sent (RFC 9111 §4.1), under every policy.
@Suite struct CacheVariantTests {
    private typealias Goods = CacheFixture.Goods

    private let fixture = CacheFixture()
    private let jar = CookieJar(publicSuffixes: .unknown)
    private var clock: VirtualScheduler { fixture.clock }
    private static let byCookie: HTTPFields = [.cacheControl: "max-age=600", .vary: "Cookie"]

    private func set(_ cookie: String) throws {
        try jar.set(cookie + "; Path=/", from: try #require(URL(string: "http://shop.test/")))
    }

    private func client(
        _ policy: CachePolicy, _ rules: ScriptedTransport.Rule...
    ) -> (Client, ScriptedTransport) {
        let clock = clock
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.cache = ResponseCache { Date.start + clock.now / .seconds(1) }
        configuration.options.cachePolicy = policy
        configuration.cookies = jar
        let transport = ScriptedTransport(on: clock, rules)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    static let policies: [(CachePolicy, HTTPRequest.Method)] = [
        (.http, .get), (.time(.seconds(600)), .get), (.post(.seconds(600)), .post),
    ]

    @Test(arguments: policies)
    func cookiesThatChangeWhileTheResponseIsOnItsWay(_ policy: CachePolicy, _ method: HTTPRequest.Method)
        throws
    {
        let (client, transport) = client(
            policy,
            .when(
                method, "/goods", .json("[1]", headers: Self.byCookie, after: .seconds(2)),
                .json("[2]", headers: Self.byCookie)))
        try set("user=1")
        let first = Recorder(client.request(Goods(method: method)), on: clock)
        try clock.advance(by: .seconds(1))
        try set("user=2")
        try clock.run()
        #expect(first.values == [[1]])
        #expect(try fixture.run(Goods(method: method), client).values.map(\.output) == [[2]])
        try set("user=1")
        #expect(try fixture.run(Goods(method: method), client).values.map(\.output) == [[1]])
        #expect(transport.exchanges.count == 2)
    }

    @Test(arguments: policies)
    func cookiesThatTheResponseItselfSets(_ policy: CachePolicy, _ method: HTTPRequest.Method) throws {
        var fields = Self.byCookie
        fields[.setCookie] = "user=1; Path=/"
        let (client, _) = client(
            policy,
            .when(method, "/goods", .json("[1]", headers: fields), .json("[2]", headers: Self.byCookie)))
        try fixture.run(Goods(method: method), client)
        #expect(try fixture.run(Goods(method: method), client).values.map(\.output) == [[2]])
        #expect(try fixture.run(Goods(method: method), client).values.map(\.output) == [[2]])
    }

    @Test(arguments: policies)
    func otherFields(_ policy: CachePolicy, _ method: HTTPRequest.Method) throws {
        let (client, transport) = client(
            policy,
            .when(
                method, "/goods",
                .json("[1]", headers: [.cacheControl: "max-age=600", .vary: "Accept-Language"])))
        for language in ["de", "en", "de", "en"] {
            client.request(InlineEndpoint(method, "/goods", headers: ["Accept-Language": language]))
                .subscribe()
            try clock.run()
        }
        #expect(transport.exchanges.count == 2)
    }

    /// The cookies for the target of the redirect are not known beforehand.
    @Test func whatRedirectsLedToIsNotKeptByCookies() throws {
        let (client, transport) = client(
            .time(.seconds(600)),
            .when(.get, "/goods", .status(.found, headers: [.location: "/there/goods"])),
            .when(.get, "/there/goods", .json("[1]", headers: Self.byCookie)))
        for _ in 0..<2 { try fixture.run(Goods(), client) }
        #expect(transport.exchanges.count == 4)
    }

    @Test func aRenewedTokenThatSelectsIsAnother() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) {
            .just(Credential(token: "b"))
        }
        let fields: HTTPFields = [.cacheControl: "max-age=600", .vary: "Authorization"]
        let (client, transport) = fixture.client(
            .http, .when(.get, "/goods", .json("[1]", headers: fields), .json("[2]", headers: fields)),
            .when(.get, "/cart", .status(.unauthorized), .json("[3]"))
        ) { $0.session = session }
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[1]])
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[1]])
        try fixture.run(Goods(path: "/cart"), client)
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[2]])
        #expect(transport.requests.last?.headerFields[.authorization] == "Bearer b")
    }

    @Test(
        arguments: [CachePolicy.http, .time(.seconds(600))],
        ["Cookie", "Authorization", "Proxy-Authorization"])
    func fieldsThatSayWhoAsksKeepApart(_ policy: CachePolicy, _ name: String) throws {
        let (client, transport) = client(
            policy, .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=600"])))
        for value in ["user=1", "user=2", "user=1"] {
            client.request(.get("/goods", headers: [name: value])).subscribe()
            try clock.run()
        }
        client.get("/goods").subscribe()
        try clock.run()
        #expect(transport.exchanges.count == 3)
    }

    @Test(arguments: ["Cookie", "Authorization"])
    func soTheyDoByHand(_ name: String) throws {
        let stage = CacheStage([.fields([("Cache-Control", "max-age=600")])])
        for value in ["user=1", "user=2", "user=1"] {
            try stage.send(.get, CacheStage.url, [(name, value)])
        }
        #expect(stage.asked == 2)
    }
}
