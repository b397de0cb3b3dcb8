import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// A store whose entries are at hand, without waiting, and their invalidation.
struct CacheAtHandTests {
    private typealias Goods = CacheFixture.Goods

    /// The same as a store in memory, with no entry at hand.
    private struct Remote: CacheStore {
        let memory = MemoryCacheStore()

        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> { memory.entries(for: key) }
        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { memory.store(entry) }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
            memory.update(metadata)
        }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { memory.remove(selection) }
        var usage: CacheUsage { memory.usage }
    }

    /// The same responses and the same counts, whether the entries are at hand or looked up.
    @Test(arguments: [false, true])
    func isNoOtherCache(isAtHand: Bool) throws {
        let fixture = CacheFixture()
        let store: any CacheStore = isAtHand ? MemoryCacheStore() : Remote()
        let (client, transport) = fixture.client(
            .time(.seconds(60)), .when(.get, "/goods", .json("[1]"), .json("[2]"))
        ) { configuration in
            configuration.cache = ResponseCache(store: store, currentDate: configuration.cache.date)
        }
        var outputs: [[Int]] = []
        for mode in [CacheMode.standard, .standard, .onlyIfCached, .reload, .standard] {
            let answer = try #require(
                try fixture.run(Goods(options: RequestOptions(cacheMode: mode)), client).values.first)
            outputs.append(answer.output)
        }
        #expect(outputs == [[1], [1], [1], [2], [2]])
        #expect(transport.exchanges.count == 2)
        let statistics = client.configuration.cache.statistics
        #expect(statistics.hits == 3)
        #expect(statistics.misses == 1)
        #expect(statistics.stored == 2)
    }

    /// Listeners are told of the start before the cache responds.
    @Test(arguments: [false, true])
    func startComesFirst(isAtHand: Bool) throws {
        let fixture = CacheFixture()
        let store: any CacheStore = isAtHand ? MemoryCacheStore() : Remote()
        let (client, _) = fixture.client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.cache = ResponseCache(store: store, currentDate: $0.cache.date)
        }
        try fixture.run(Goods(), client)
        let kinds = MutableProperty<[String]>([])
        client.traffic.subscribe { event in
            switch event.kind {
            case .started: kinds.update { $0.append("started") }
            case .cached: kinds.update { $0.append("cached") }
            case .ended: kinds.update { $0.append("ended") }
            default: kinds.update { $0.append("other") }
            }
        }
        try fixture.run(Goods(), client)
        #expect(kinds.value == ["started", "cached", "ended"])
    }

    /// A change removes stored responses, also through a redirect that is not followed.
    @Test(arguments: [(201, true), (303, true), (400, false), (500, false)])
    func changes(status: Int, forgets: Bool) throws {
        let fixture = CacheFixture()
        let (client, _) = fixture.client(
            .time(.seconds(60)), .when(.get, "/goods", .json("[1]")),
            .when(.post, "/goods", .json("[2]", status: HTTPResponse.Status(code: status))))
        try fixture.run(Goods(), client)
        try fixture.run(Goods(method: .post), client)
        #expect(client.configuration.cache.statistics.usage.entries == (forgets ? 0 : 1))
    }
}
