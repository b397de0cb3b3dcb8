import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// The cache among the other stages of a request.
@Suite struct CachePipelineTests {
    private let clock = VirtualScheduler()

    private struct Goods: Endpoint {
        typealias Output = [Int]
        var path = "/goods"
        var method = HTTPRequest.Method.get
        var parameters: Parameters = .none
        var envelope = EnvelopeChoice.client
        var cachePolicy: CachePolicy?
        var cacheMode = CacheMode.standard
        var tags: Set<String> = []
        var isSigned = true
        var presentation = Presentation.all
    }

    private func client(
        _ policy: CachePolicy = .time(.seconds(60)), _ rules: ScriptedTransport.Rule...,
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        let clock = clock
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.cache = ResponseCache { Date.start + clock.now / .seconds(1) }
        configuration.cachePolicy = policy
        configuration.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        configure(&configuration)
        let transport = ScriptedTransport(on: clock, rules)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    @discardableResult
    private func run<E: Endpoint>(
        _ endpoint: E, _ client: Client
    ) throws -> Recorder<Answer<E.Output>, NetworkError> {
        let recorder = Recorder(client.answer(endpoint), on: clock)
        try clock.run()
        return recorder
    }

    // MARK: - For a time

    @Test func answersAreKeptForTheirTimeAndDroppedAfterIt() throws {
        let (client, transport) = client(
            .time(.seconds(60)),
            .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "no-store"]), .json("[2]")))
        #expect(try run(Goods(), client).values.first?.response.cacheUse == nil)
        try clock.advance(by: .seconds(59))
        let kept = try #require(try run(Goods(), client).values.first)
        #expect(kept.output == [1] && kept.response.isFromCache)
        #expect(transport.exchanges.count == 1)
        try clock.advance(by: .seconds(1))
        #expect(try run(Goods(cacheMode: .forceCache), client).values.first?.output == [2])
        #expect(client.configuration.cache.statistics.usage.entries == 1)
    }

    @Test(arguments: [CachePolicy.time(.seconds(60)), .http])
    func aPostIsNotKept(_ policy: CachePolicy) throws {
        let (client, transport) = client(
            policy, .when(.post, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { try run(Goods(method: .post), client) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func theModeOfOneRequest() throws {
        let (client, transport) = client(
            .time(.seconds(60)), .when(.get, "/goods", .json("[1]"), .json("[2]"), .json("[3]"), .json("[4]"))
        )
        func output(_ mode: CacheMode) throws -> [Int]? {
            try run(Goods(cacheMode: mode), client).values.first?.output
        }
        #expect(try output(.onlyIfCached) == nil)
        #expect(try output(.noStore) == [1])
        #expect(try output(.standard) == [2])
        #expect(try output(.noStore) == [3])
        #expect(try output(.onlyIfCached) == [2])
        #expect(try output(.noCache) == [4])
        #expect(try output(.forceCache) == [4])
        #expect(transport.exchanges.count == 4)
    }

    @Test func onlyIfCachedFailsAsA504DoesAndIsNotTriedAgain() throws {
        let (client, transport) = client(.http)
        let recorder = try run(Goods(cacheMode: .onlyIfCached), client)
        #expect(recorder.failure?.code == .status && recorder.failure?.status == .gatewayTimeout)
        #expect(transport.exchanges.isEmpty)
        #expect(clock.now == .zero)
    }

    @Test func anEndpointHasItsOwnPolicy() throws {
        let (client, transport) = client(.none, .when(.get, "/goods", .json("[1]")))
        for _ in 0..<2 { try run(Goods(cachePolicy: .time(.seconds(9))), client) }
        #expect(transport.exchanges.count == 1)
        for _ in 0..<2 { try run(Goods(), client) }
        #expect(transport.exchanges.count == 3)
    }

    // MARK: - By parameters

    static let parameters: [(Parameters, Parameters, Bool)] = [
        (.json(["a": 1, "b": "x"]), .json(["b": "x", "a": 1]), true),
        (.json(["a": 1]), .json(["a": 2]), false), (.json(["a": 1]), .json(["a": "1"]), false),
        (.json(["a": 1]), .form(["a": 1]), false), (.form(["a": 1, "b": 2]), .form(["b": 2, "a": 1]), true),
        (.form(["a": [1, 2]]), .form(["a": [2, 1]]), false), (.text("a"), .text("a"), true),
        (.text("a"), .text("b"), false), (.none, .none, true),
    ]

    @Test(arguments: parameters)
    func aPostIsFoundByItsParameters(_ first: Parameters, _ second: Parameters, _ isSame: Bool) throws {
        let (client, transport) = client(
            .post(.seconds(60)), .when(.post, "/goods", .json("[1]"), .json("[2]")))
        try run(Goods(method: .post, parameters: first), client)
        let answer = try run(Goods(method: .post, parameters: second), client).values.first
        #expect(answer?.response.isFromCache == isSame)
        #expect(transport.exchanges.count == (isSame ? 1 : 2))
        #expect(client.configuration.cache.statistics.usage.entries == (isSame ? 1 : 2))
    }

    @Test func aPostInAnotherOrderOfMembersIsTheSame() throws {
        let encoder = JSONEncoder()
        let (client, transport) = client(.post(.seconds(60)), .when(.post, "/goods", .json("[1]"))) {
            $0.encoder = encoder
        }
        for text in [#"{"a":1,"b":[2]}"#, #"{ "b" : [2], "a" : 1 }"#] {
            try run(
                Goods(method: .post, parameters: .body(.text(text), contentType: "application/json")), client)
        }
        #expect(transport.exchanges.count == 1)
    }

    @Test func aPostIsOverAfterItsTimeAndAGetIsNotKept() throws {
        let (client, transport) = client(.post(.seconds(60)), .when(nil, "/goods", .json("[1]")))
        try run(Goods(method: .post), client)
        try clock.advance(by: .seconds(60))
        try run(Goods(method: .post), client)
        for _ in 0..<2 { try run(Goods(), client) }
        #expect(transport.exchanges.count == 4)
    }

    @Test func whatIsStreamedIsNotKept() throws {
        let (client, transport) = client(.post(.seconds(60)), .when(.post, "/goods", .json("[1]")))
        let body = Body.stream(.just([1]), length: 1, isReplayable: true)
        for _ in 0..<2 {
            try run(Goods(method: .post, parameters: .body(body, contentType: "text/plain")), client)
        }
        #expect(transport.exchanges.count == 2)
    }

    // MARK: - Nothing that failed

    @Test func anEnvelopeThatSaysNoIsNotKept() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, transport) = client(
            .time(.seconds(60)),
            .when(
                .get, "/goods", .json(#"{"code":7,"msg":"no","data":null}"#), .json(#"{"code":0,"data":[1]}"#)
            )
        ) { $0.envelope = envelope }
        #expect(try run(Goods(), client).failure?.envelopeCode == "7")
        #expect(try run(Goods(), client).values.first?.output == [1])
        #expect(try run(Goods(), client).values.first?.output == [1])
        #expect(transport.exchanges.count == 2)
    }

    @Test func anAnswerThatCannotBeDecodedIsNotKept() throws {
        let (client, transport) = client(
            .http, .when(.get, "/goods", .json("{}", headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { #expect(try run(Goods(), client).failure?.code == .decoding) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func aStatusThatIsNoSuccessIsNotKept() throws {
        let (client, transport) = client(
            .http,
            .when(.get, "/goods", .json("[]", status: .notFound, headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { #expect(try run(Goods(), client).failure?.status == .notFound) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func aKeptAnswerGoesThroughTheStagesOfWhoAsks() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, _) = client(
            .time(.seconds(60)), .when(.get, "/goods", .json(#"{"code":7,"msg":"no","data":[1]}"#)))
        _ = Recorder(client.request(Call(.get, "/goods")), on: clock)
        try clock.run()
        let recorder = try run(Goods(envelope: .custom(envelope)), client)
        #expect(recorder.failure?.code == .envelope)
    }

    // MARK: - With the server

    @Test func aConfirmedAnswerIsOpenedAndDecoded() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, transport) = client(
            .http,
            .when(
                .get, "/goods",
                .json(#"{"code":0,"data":[1]}"#, headers: [.cacheControl: "max-age=9", .eTag: "\"a\""]),
                .status(.serviceUnavailable), .status(.notModified))
        ) { $0.envelope = envelope }
        try run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let answer = try #require(try run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .revalidated)
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"a\"", "\"a\""])
        #expect(try run(Goods(), client).values.first?.response.cacheUse == .fresh)
    }

    @Test func afterTheRetriesWhatIsStaleIsUsed() throws {
        let (client, transport) = client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9, stale-if-error=99"]),
                .failure(.connectionLost)))
        try run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let answer = try #require(try run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .stale)
        #expect(transport.exchanges.count == 4)
    }

    @Test func soItIsWhenTheTimeIsUp() throws {
        let (client, _) = client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9, stale-if-error=99"]), .stall
            )
        ) { $0.timeouts.total = .seconds(5) }
        try run(Goods(), client)
        try clock.advance(by: .seconds(9))
        #expect(try run(Goods(), client).values.first?.response.cacheUse == .stale)
        #expect(clock.now == .seconds(14))
    }

    @Test func aRenewalInTheBackgroundShowsNothing() throws {
        let stopped = State(0)
        let (client, transport) = client(
            .http,
            .when(
                .get, "/goods",
                .json("[1]", headers: [.cacheControl: "max-age=9, stale-while-revalidate=99"]),
                .json("[2]", headers: [.cacheControl: "max-age=99"], after: .seconds(1)))
        ) { $0.accessories = [Accessory(didStop: { _, _ in stopped.update { $0 += 1 } })] }
        try run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let shown = Recorder(client.activity.observable, on: clock)
        let answer = try #require(try run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .stale)
        #expect(shown.values == [0, 1, 0] && stopped.value == 2)
        #expect(transport.exchanges.count == 2)
        #expect(try run(Goods(), client).values.first?.output == [2])
        #expect(transport.exchanges.count == 2)
    }

    @Test(arguments: [CachePolicy.http, .time(.seconds(60)), .none])
    func aChangeRemovesWhatIsKept(_ policy: CachePolicy) throws {
        let (client, _) = client(.none, .when(nil, "/goods", .json("[1]")))
        try run(Goods(cachePolicy: .time(.seconds(60))), client)
        #expect(client.configuration.cache.statistics.usage.entries == 1)
        try run(Goods(method: .post, cachePolicy: policy), client)
        #expect(client.configuration.cache.statistics.usage.entries == 0)
    }

    @Test func aSearchByPostRemovesNothing() throws {
        let (client, _) = client(.none, .when(nil, "/goods", .json("[1]")))
        try run(Goods(cachePolicy: .time(.seconds(60))), client)
        try run(Goods(method: .post, cachePolicy: .post(.seconds(60))), client)
        #expect(client.configuration.cache.statistics.usage.entries == 2)
    }

    @Test func aSignatureDoesNotCount() throws {
        let count = State(0)
        let (client, transport) = client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.signature = Signature { _ in
                count.update { $0 += 1 }
                return .parameters(["nonce": count.value])
            }
        }
        for _ in 0..<2 { try run(Goods(), client) }
        #expect(transport.exchanges.count == 1)
        #expect(transport.requests.first?.url.absoluteString.contains("nonce") == true)
    }

    // MARK: - Whose

    @Test func accountsAreKeptApart() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) { .never() }
        let (client, transport) = client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]"), .json("[2]"), .json("[3]"))
        ) { $0.session = session }
        #expect(try run(Goods(), client).values.first?.output == [1])
        session.logIn(with: Credential(token: "b"))
        #expect(try run(Goods(), client).values.first?.output == [2])
        session.logOut()
        #expect(try run(Goods(), client).values.first?.output == [3])
        #expect(try run(Goods(), client).values.first?.output == [3])
        #expect(transport.exchanges.count == 3)
    }

    @Test func aNewTokenOfTheSameAccountFindsWhatIsKept() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) {
            .just(Credential(token: "b"))
        }
        let (client, _) = client(
            .time(.seconds(600)),
            .when(.get, "/goods", .json("[1]")),
            .when(.get, "/cart", .status(.unauthorized), .json("[2]"))
        ) { $0.session = session }
        try run(Goods(), client)
        #expect(try run(Goods(path: "/cart"), client).values.first?.output == [2])
        #expect(session.credential?.token == "b")
        #expect(try run(Goods(), client).values.first?.response.isFromCache == true)
    }

    @Test func aNamedAccountIsFoundAgainByAnotherSession() throws {
        let store = MemoryCacheStore()
        func outputs(_ credential: Credential) throws -> [[Int]?] {
            let session = Session(credential: credential, clock: clock) { .never() }
            let (client, _) = client(
                .time(.seconds(600)), .when(.get, "/goods", .json("[\(credential.token)]"))
            ) {
                $0.session = session
                $0.cache = ResponseCache(store: store, currentDate: $0.cache.date)
            }
            return [try run(Goods(), client).values.first?.output]
        }
        #expect(try outputs(Credential(token: "1", account: "anna")) == [[1]])
        #expect(try outputs(Credential(token: "2", account: "anna")) == [[1]])
        #expect(try outputs(Credential(token: "3", account: "bert")) == [[3]])
        #expect(try outputs(Credential(token: "4")) == [[4]])
        #expect(try outputs(Credential(token: "5")) == [[5]])
    }

    /// The account changes while the request is on its way: what comes must not be kept as the other's.
    @Test func anAnswerToAnAccountThatHasGoneIsNotTheNextOnes() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) { .never() }
        let (client, _) = client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]", after: .seconds(1)), .json("[2]"))
        ) { $0.session = session }
        let first = Recorder(client.request(Goods()), on: clock)
        try clock.advance(by: .milliseconds(500))
        session.logIn(with: Credential(token: "b"))
        try clock.run()
        #expect(first.values == [[1]])
        #expect(try run(Goods(), client).values.first?.output == [2])
    }

    @Test func aSecretFieldKeepsApart() throws {
        let (client, transport) = client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.secretFields = [HTTPField.Name("X-Key")!]
        }
        for key in ["a", "b", "a"] {
            client.request(Call(.get, "/goods", headers: ["X-Key": key])).subscribe()
            try clock.run()
        }
        #expect(transport.exchanges.count == 2)
    }

    @Test func cookiesThatTheServerChoseByCount() throws {
        let jar = CookieJar(publicSuffixes: .unknown)
        let (client, transport) = client(
            .http,
            .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60", .vary: "Cookie"]))
        ) { $0.cookies = jar }
        let url = try #require(URL(string: "http://shop.test/"))
        for line in ["a=1", "a=1", "a=2"] {
            try jar.set(line, from: url)
            try run(Goods(), client)
        }
        #expect(transport.exchanges.count == 2)
    }

    // MARK: - Seeing and clearing

    @Test func whoListensIsTold() throws {
        let (client, _) = client(
            .http, .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60"])))
        try run(Goods(), client)
        let traffic = Recorder(client.traffic, on: clock)
        try run(Goods(), client)
        let words = traffic.values.map { $0.description.split(separator: ":")[0].drop { $0 != " " } }
        #expect(words == [" started", " answered from the cache (fresh)", " ended"])
        guard case .ended(let summary) = traffic.values.last?.kind else { throw NothingEnded() }
        #expect(summary.status == .ok && summary.attempts == 0 && summary.bytesReceived == 0)
    }

    struct NothingEnded: Error {}

    @Test func clearing() throws {
        let (client, _) = client(.time(.seconds(60)), .when(nil, "*", .json("[1]")))
        let cache = client.configuration.cache
        func fill() throws {
            try run(Goods(tags: ["list"]), client)
            try run(Goods(parameters: .query(["page": 2]), tags: ["list"]), client)
            try run(Goods(path: "/cart"), client)
        }
        let selections: [CacheSelection] = [
            .tag("list"), .place("http://shop.test/goods"), .url("http://shop.test/cart"), .all,
        ]
        let removed = try selections.map { selection in
            try fill()
            let recorder = Recorder(cache.remove(selection), on: clock)
            try clock.run()
            return recorder.values
        }
        #expect(removed == [[2], [2], [1], [3]])
        #expect(cache.statistics.usage.entries == 0 && cache.statistics.usage.bytes == 0)
        #expect(cache.statistics.stored == 8)
    }

    @Test func aStoreThatFailsIsAMiss() throws {
        let (client, transport) = client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.cache = ResponseCache(store: BrokenStore())
        }
        for _ in 0..<2 { #expect(try run(Goods(), client).values.first?.output == [1]) }
        #expect(transport.exchanges.count == 2)
        #expect(client.configuration.cache.statistics.storeFailures == 4)
        #expect(client.configuration.cache.statistics.misses == 2)
    }

    private struct BrokenStore: CacheStore {
        private func fail<T>() -> Observable<T, NetworkError> {
            .fail(NetworkError(.file, "the disk is gone"))
        }
        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> { fail() }
        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { fail() }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> { fail() }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { fail() }
        var usage: CacheUsage { CacheUsage() }
    }

    // MARK: - By hand

    /// The same server, over the endpoint's way and by hand: what is sent and what comes out is the same.
    @Test(arguments: [CacheMode.standard, .noCache, .reload, .noStore, .forceCache])
    func byHandItIsTheSame(_ mode: CacheMode) throws {
        let rule = ScriptedTransport.Rule.when(
            .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9", .eTag: "\"a\""]),
            .status(.notModified),
            .json("[2]"))
        let url = try #require(URL(string: "http://shop.test/goods"))
        let runs = try [true, false].map { isByHand in
            let (client, transport) = client(.http, rule)
            var seen: [String] = []
            for wait in [0, 5, 9] {
                try clock.advance(by: .seconds(wait))
                let responses =
                    isByHand
                    ? client.configuration.cache.response(to: Request(url: url), mode: mode) { request in
                        client.exchange(request).response(to: request)
                    } : client.answer(Goods(cacheMode: mode)).map(\.response)
                let recorder = Recorder(responses, on: clock)
                try clock.run()
                seen += recorder.values.map { "\($0.text) \($0.cacheUse?.rawValue ?? "-")" }
            }
            let sent = transport.requests.map { $0.headerFields[.ifNoneMatch] ?? "-" }
            return (seen, sent)
        }
        #expect(runs[0].0 == runs[1].0 || mode == .noStore || mode == .reload)
        #expect(runs[0].1 == runs[1].1)
    }
}

extension ResponseCache {
    /// The clock of the tests.
    fileprivate var date: @Sendable () -> Date { { .start } }
}
