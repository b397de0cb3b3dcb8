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

/// Responses stored for one account are not delivered to another.
@Suite struct CacheAccountTests {
    private typealias Goods = CacheFixture.Goods

    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    @Test func accountsAreKeptApart() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) { .never() }
        let (client, transport) = fixture.client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]"), .json("[2]"), .json("[3]"))
        ) { $0.session = session }
        #expect(try fixture.run(Goods(), client).values.first?.output == [1])
        session.logIn(with: Credential(token: "b"))
        #expect(try fixture.run(Goods(), client).values.first?.output == [2])
        session.logOut()
        #expect(try fixture.run(Goods(), client).values.first?.output == [3])
        #expect(try fixture.run(Goods(), client).values.first?.output == [3])
        #expect(transport.exchanges.count == 3)
    }

    @Test func aNewTokenOfTheSameAccountFindsWhatIsKept() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) {
            .just(Credential(token: "b"))
        }
        let (client, _) = fixture.client(
            .time(.seconds(600)),
            .when(.get, "/goods", .json("[1]")),
            .when(.get, "/cart", .status(.unauthorized), .json("[2]"))
        ) { $0.session = session }
        try fixture.run(Goods(), client)
        #expect(try fixture.run(Goods(path: "/cart"), client).values.first?.output == [2])
        #expect(session.credential?.token == "b")
        #expect(try fixture.run(Goods(), client).values.first?.response.isFromCache == true)
    }

    @Test func whatNobodyGotIsNotGivenToWhoLogsInByTheClosure() throws {
        let session = Session(clock: clock) { .just(Credential(token: "a")) }
        let (client, transport) = fixture.client(
            .time(.seconds(600)),
            .when(.get, "/goods", .json("[1]"), .json("[2]")),
            .when(.get, "/cart", .status(.unauthorized), .json("[3]"))
        ) { $0.session = session }
        #expect(try fixture.run(Goods(), client).values.first?.output == [1])
        #expect(try fixture.run(Goods(path: "/cart"), client).values.first?.output == [3])
        #expect(session.credential?.token == "a")
        #expect(try fixture.run(Goods(), client).values.first?.output == [2])
        #expect(try fixture.run(Goods(), client).values.first?.response.isFromCache == true)
        #expect(transport.exchanges.count == 4)
    }

    @Test func aNamedAccountIsFoundAgainByAnotherSession() throws {
        let store = MemoryCacheStore()
        func outputs(_ credential: Credential) throws -> [[Int]?] {
            let session = Session(credential: credential, clock: clock) { .never() }
            let (client, _) = fixture.client(
                .time(.seconds(600)), .when(.get, "/goods", .json("[\(credential.token)]"))
            ) {
                $0.session = session
                $0.cache = ResponseCache(store: store, currentDate: $0.cache.date)
            }
            return [try fixture.run(Goods(), client).values.first?.output]
        }
        #expect(try outputs(Credential(token: "1", account: "anna")) == [[1]])
        #expect(try outputs(Credential(token: "2", account: "anna")) == [[1]])
        #expect(try outputs(Credential(token: "3", account: "bert")) == [[3]])
        #expect(try outputs(Credential(token: "4")) == [[4]])
        #expect(try outputs(Credential(token: "5")) == [[5]])
    }

    /// The account's name is in the store of its credential, which is read first.
    @Test func theFirstRequestOfTheNextProcessFindsWhatIsKept() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
        let file = CredentialFile("/credential", on: files)
        file.save(Credential(token: "a", account: "anna")).subscribe()
        try clock.run()
        let store = MemoryCacheStore()
        for process in 1...2 {
            let session = Session(store: file, clock: clock) { .never() }
            let (client, transport) = fixture.client(
                .time(.seconds(600)), .when(.get, "/goods", .json("[\(process)]"))
            ) {
                $0.session = session
                $0.cache = ResponseCache(store: store, currentDate: $0.cache.date)
            }
            #expect(try fixture.run(Goods(), client).values.first?.output == [1])
            #expect(transport.exchanges.count == (process == 1 ? 1 : 0))
        }
    }

    /// The account changes while the request is under way: its response must not be stored for the other
    /// account.
    @Test func anAnswerToAnAccountThatHasGoneIsNotTheNextOnes() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) { .never() }
        let (client, _) = fixture.client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]", after: .seconds(1)), .json("[2]"))
        ) { $0.session = session }
        let first = Recorder(client.request(Goods()), on: clock)
        try clock.advance(by: .milliseconds(500))
        session.logIn(with: Credential(token: "b"))
        try clock.run()
        #expect(first.values == [[1]])
        #expect(try fixture.run(Goods(), client).values.first?.output == [2])
    }

    /// The requests of a login carry no credential, so their responses are those for anybody.
    @Test func anAnswerToARequestOfTheLoginIsNotTheAccounts() throws {
        let made = MutableProperty<Client?>(nil)
        let session = Session(credential: Credential(token: "a"), clock: clock) {
            guard let client = made.value else { return .fail(NetworkError(.connect, "no client")) }
            return client.request(Goods()).map { _ in Credential(token: "b") }
        }
        let (client, transport) = fixture.client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]"), .json("[2]")),
            .when(.get, "/cart", .status(.unauthorized), .json("[3]"))
        ) { $0.session = session }
        made.value = client
        #expect(try fixture.run(Goods(path: "/cart"), client).values.first?.output == [3])
        #expect(try fixture.run(Goods(), client).values.first?.output == [2])
        let credentials = transport.requests.map { $0.headerFields[.authorization] }
        #expect(credentials == ["Bearer a", nil, "Bearer b", "Bearer b"])
        made.value = nil
    }

    @Test func aSecretFieldKeepsApart() throws {
        let (client, transport) = fixture.client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.secretFields = [HTTPField.Name("X-Key")!]
        }
        for key in ["a", "b", "a"] {
            client.request(.get("/goods", headers: ["X-Key": key])).subscribe()
            try clock.run()
        }
        #expect(transport.exchanges.count == 2)
    }

    @Test func cookiesThatTheServerChoseByCount() throws {
        let jar = CookieJar(publicSuffixes: .unknown)
        let (client, transport) = fixture.client(
            .http,
            .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60", .vary: "Cookie"]))
        ) { $0.cookies = jar }
        let url = try #require(URL(string: "http://shop.test/"))
        for line in ["a=1", "a=1", "a=2"] {
            try jar.set(line, from: url)
            try fixture.run(Goods(), client)
        }
        #expect(transport.exchanges.count == 2)
    }
}
