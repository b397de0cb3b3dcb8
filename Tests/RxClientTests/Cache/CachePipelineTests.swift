import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// The cache among the other stages of a request.
@Suite struct CachePipelineTests {
    private typealias Goods = CacheFixture.Goods

    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    // MARK: - Fixed times

    @Test func answersAreKeptForTheirTimeAndDroppedAfterIt() throws {
        let (client, transport) = fixture.client(
            .time(.seconds(60)),
            .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "no-store"]), .json("[2]")))
        #expect(try fixture.run(Goods(), client).values.first?.response.cacheUse == nil)
        try clock.advance(by: .seconds(59))
        let kept = try #require(try fixture.run(Goods(), client).values.first)
        #expect(kept.output == [1] && kept.response.isFromCache)
        #expect(transport.exchanges.count == 1)
        try clock.advance(by: .seconds(1))
        #expect(
            try fixture.run(Goods(options: RequestOptions(cacheMode: .forceCache)), client).values.first?
                .output
                == [2])
        #expect(client.configuration.cache.statistics.usage.entries == 1)
    }

    @Test(arguments: [CachePolicy.time(.seconds(60)), .http])
    func aPostIsNotKept(_ policy: CachePolicy) throws {
        let (client, transport) = fixture.client(
            policy, .when(.post, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { try fixture.run(Goods(method: .post), client) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func theModeOfOneRequest() throws {
        let (client, transport) = fixture.client(
            .time(.seconds(60)), .when(.get, "/goods", .json("[1]"), .json("[2]"), .json("[3]"), .json("[4]"))
        )
        func output(_ mode: CacheMode) throws -> [Int]? {
            try fixture.run(Goods(options: RequestOptions(cacheMode: mode)), client).values.first?.output
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
        let (client, transport) = fixture.client(.http)
        let recorder = try fixture.run(Goods(options: RequestOptions(cacheMode: .onlyIfCached)), client)
        #expect(recorder.failure?.code == .status && recorder.failure?.status == .gatewayTimeout)
        #expect(transport.exchanges.isEmpty)
        #expect(clock.now == .zero)
    }

    @Test func anEndpointHasItsOwnPolicy() throws {
        let (client, transport) = fixture.client(.never, .when(.get, "/goods", .json("[1]")))
        for _ in 0..<2 {
            try fixture.run(Goods(options: RequestOptions(cachePolicy: .time(.seconds(9)))), client)
        }
        #expect(transport.exchanges.count == 1)
        for _ in 0..<2 { try fixture.run(Goods(), client) }
        #expect(transport.exchanges.count == 3)
    }

    /// Not the time of an attempt before it, and not the wait between them (RFC 9111 §4.2.3).
    @Test(arguments: [(1.0, 2), (2.0, 3)])
    func theTimeOfTheLastAttemptIsAge(_ wait: Double, _ requests: Int) throws {
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods", .status(.serviceUnavailable, after: .seconds(20)),
                .json("[1]", headers: [.cacheControl: "max-age=10"], after: .seconds(8)), .json("[2]")))
        try fixture.run(Goods(), client)
        try clock.advance(by: .seconds(wait))
        try fixture.run(Goods(), client)
        #expect(transport.exchanges.count == requests)
    }

    // MARK: - Keys with parameters

    static let parameters: [(Parameters, Parameters, Bool)] = [
        (.json(["a": 1, "b": "x"]), .json(["b": "x", "a": 1]), true),
        (.json(["a": 1]), .json(["a": 2]), false), (.json(["a": 1]), .json(["a": "1"]), false),
        (.json(["a": 1]), .form(["a": 1]), false), (.form(["a": 1, "b": 2]), .form(["b": 2, "a": 1]), true),
        (.form(["a": [1, 2]]), .form(["a": [2, 1]]), false), (.text("a"), .text("a"), true),
        (.text("a"), .text("b"), false), (.none, .none, true),
    ]

    @Test(arguments: parameters)
    func aPostIsFoundByItsParameters(_ first: Parameters, _ second: Parameters, _ isSame: Bool) throws {
        let (client, transport) = fixture.client(
            .post(.seconds(60)), .when(.post, "/goods", .json("[1]"), .json("[2]")))
        try fixture.run(Goods(method: .post, parameters: first), client)
        let answer = try fixture.run(Goods(method: .post, parameters: second), client).values.first
        #expect(answer?.response.isFromCache == isSame)
        #expect(transport.exchanges.count == (isSame ? 1 : 2))
        #expect(client.configuration.cache.statistics.usage.entries == (isSame ? 1 : 2))
    }

    @Test func aPostInAnotherOrderOfMembersIsTheSame() throws {
        let encoder = JSONEncoder()
        let (client, transport) = fixture.client(.post(.seconds(60)), .when(.post, "/goods", .json("[1]"))) {
            $0.encoder = encoder
        }
        for text in [#"{"a":1,"b":[2]}"#, #"{ "b" : [2], "a" : 1 }"#] {
            try fixture.run(
                Goods(method: .post, parameters: .body(.text(text), contentType: "application/json")), client)
        }
        #expect(transport.exchanges.count == 1)
    }

    @Test func aPostIsOverAfterItsTimeAndAGetIsNotKept() throws {
        let (client, transport) = fixture.client(.post(.seconds(60)), .when(nil, "/goods", .json("[1]")))
        try fixture.run(Goods(method: .post), client)
        try clock.advance(by: .seconds(60))
        try fixture.run(Goods(method: .post), client)
        for _ in 0..<2 { try fixture.run(Goods(), client) }
        #expect(transport.exchanges.count == 4)
    }

    @Test func whatIsStreamedIsNotKept() throws {
        let (client, transport) = fixture.client(.post(.seconds(60)), .when(.post, "/goods", .json("[1]")))
        let body = Body.stream(.just([1]), length: 1, isReplayable: true)
        for _ in 0..<2 {
            try fixture.run(Goods(method: .post, parameters: .body(body, contentType: "text/plain")), client)
        }
        #expect(transport.exchanges.count == 2)
    }

    // MARK: - Failures

    @Test func anEnvelopeThatSaysNoIsNotKept() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, transport) = fixture.client(
            .time(.seconds(60)),
            .when(
                .get, "/goods", .json(#"{"code":7,"msg":"no","data":null}"#), .json(#"{"code":0,"data":[1]}"#)
            )
        ) { $0.options.envelope = envelope }
        #expect(try fixture.run(Goods(), client).failure?.envelopeCode == "7")
        #expect(try fixture.run(Goods(), client).values.first?.output == [1])
        #expect(try fixture.run(Goods(), client).values.first?.output == [1])
        #expect(transport.exchanges.count == 2)
    }

    @Test func anAnswerThatCannotBeDecodedIsNotKept() throws {
        let (client, transport) = fixture.client(
            .http, .when(.get, "/goods", .json("{}", headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { #expect(try fixture.run(Goods(), client).failure?.code == .decoding) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func aStatusThatIsNoSuccessIsNotKept() throws {
        let (client, transport) = fixture.client(
            .http,
            .when(.get, "/goods", .json("[]", status: .notFound, headers: [.cacheControl: "max-age=60"])))
        for _ in 0..<2 { #expect(try fixture.run(Goods(), client).failure?.status == .notFound) }
        #expect(transport.exchanges.count == 2)
    }

    @Test func aKeptAnswerGoesThroughTheStagesOfWhoAsks() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, _) = fixture.client(
            .time(.seconds(60)), .when(.get, "/goods", .json(#"{"code":7,"msg":"no","data":[1]}"#)))
        _ = Recorder(client.request(.get("/goods")), on: clock)
        try clock.run()
        let recorder = try fixture.run(Goods(options: RequestOptions(envelope: envelope)), client)
        #expect(recorder.failure?.code == .envelope)
    }

    // MARK: - Statistics and removal

    @Test func whoListensIsTold() throws {
        let (client, _) = fixture.client(
            .http, .when(.get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60"])))
        try fixture.run(Goods(), client)
        let traffic = Recorder(client.traffic, on: clock)
        try fixture.run(Goods(), client)
        let words = traffic.values.map { $0.description.split(separator: ":")[0].drop { $0 != " " } }
        #expect(words == [" started", " response from the cache (fresh)", " ended"])
        guard case .ended(let summary) = traffic.values.last?.kind else { throw NothingEnded() }
        #expect(summary.status == .ok && summary.attempts == 0 && summary.bytesReceived == 0)
    }

    struct NothingEnded: Error {}

    @Test func clearing() throws {
        let (client, _) = fixture.client(.time(.seconds(60)), .when(nil, "*", .json("[1]")))
        let cache = client.configuration.cache
        func fill() throws {
            try fixture.run(Goods(options: RequestOptions(tags: ["list"])), client)
            try fixture.run(
                Goods(parameters: .query(["page": 2]), options: RequestOptions(tags: ["list"])), client)
            try fixture.run(Goods(path: "/cart"), client)
        }
        let selections: [CacheSelection] = [
            .tag("list"), .anyQuery(of: "http://shop.test/goods"), .url("http://shop.test/cart"), .all,
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
        let (client, transport) = fixture.client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.cache = ResponseCache(store: BrokenStore())
        }
        for _ in 0..<2 { #expect(try fixture.run(Goods(), client).values.first?.output == [1]) }
        #expect(transport.exchanges.count == 2)
        #expect(client.configuration.cache.statistics.storeFailures == 4)
        #expect(client.configuration.cache.statistics.misses == 2)
    }

    /// A store of the app that looks only at the URL of a key.
    @Test func aStoreThatMixesUpKeysIsNotBelieved() throws {
        let store = URLStore()
        let rules: ScriptedTransport.Rule = .when(
            .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=60"]),
            .json("[2]", headers: [.cacheControl: "max-age=60"]))
        let (timed, transport) = fixture.client(.time(.seconds(60)), rules) {
            $0.cache = ResponseCache(store: store)
        }
        #expect(try fixture.run(Goods(), timed).values.first?.output == [1])
        #expect(try fixture.run(Goods(), timed).values.first?.response.isFromCache == true)
        let byHTTP = Goods(options: RequestOptions(cachePolicy: .http))
        let other = try fixture.run(byHTTP, timed).values.first
        #expect(other?.output == [2] && other?.response.isFromCache == false)
        #expect(transport.exchanges.count == 2)
    }

    private final class URLStore: CacheStore {
        private let entries = Mutex<[String: CacheEntry]>([:])

        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
            .just(entries.withLock { $0[key.url] }.map { [$0] } ?? [])
        }
        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
            entries.withLock { $0[entry.metadata.key.url] = entry }
            return .just(())
        }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> { .just(()) }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { .just(0) }
        var usage: CacheUsage { CacheUsage() }
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
}
