import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// The effect of a change of a resource on responses requested before it (RFC 9111 §4.4).
@Suite struct CacheChangeTests {
    private typealias Goods = CacheFixture.Goods

    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private static let fresh: HTTPFields = [.cacheControl: "max-age=600"]

    /// The content for a request that begins so many seconds after the start.
    private func output(at seconds: Double, _ client: Client) throws -> Recorder<[Int], NetworkError> {
        try clock.advance(to: .seconds(seconds))
        return Recorder(client.request(Goods()), on: clock)
    }

    @Test(arguments: [CachePolicy.http, .time(.seconds(600))])
    func aRequestThatBeginsAfterAChangeJoinsNoneFromBefore(_ policy: CachePolicy) throws {
        let (client, transport) = fixture.client(
            policy,
            .when(
                .get, "/goods", .json("[1]", headers: Self.fresh, after: .seconds(10)),
                .json("[2]", headers: Self.fresh, after: .seconds(7)),
                .json("[3]", headers: Self.fresh, after: .seconds(1)), .json("[4]")),
            .when(.put, "/goods", .json("[]", after: .seconds(2))))
        let before = try output(at: 0, client)
        try clock.advance(to: .seconds(1))
        client.request(Goods(method: .put)).subscribe()
        let meanwhile = try output(at: 2, client)
        let after = try output(at: 4, client)
        let with = try output(at: 4.5, client)
        try clock.run()
        #expect(before.values == [[1]] && meanwhile.values == [[2]])
        #expect(after.values == [[3]] && with.values == [[3]])
        #expect(transport.requests.map(\.method) == [.get, .put, .get, .get])
        // A response requested before the change has not replaced a later one.
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[3]])
        #expect(client.configuration.cache.statistics.stored == 1)
    }

    /// The ways to send the change of the resource.
    enum Way: CaseIterable {
        case request, response, stream, download, events, exchange
    }

    private func change(_ way: Way, _ client: Client) throws {
        let call = InlineEndpoint(.put, "/goods")
        switch way {
        case .request: client.request(call).subscribe(onNext: { _ in }, onFailure: { _ in })
        case .response: client.response(call).subscribe(onNext: { _ in }, onFailure: { _ in })
        case .stream: client.stream(call).subscribe(onNext: { _ in }, onFailure: { _ in })
        case .download:
            client.download(call, to: "/file", in: MemoryFileSystem(on: clock))
                .subscribe(onNext: { _ in }, onFailure: { _ in })
        case .events:
            client.events(call).take(for: .seconds(2), on: clock)
                .subscribe(onNext: { _ in }, onFailure: { _ in })
        case .exchange:
            let request = Request(method: .put, url: try #require(URL(string: "http://shop.test/goods")))
            client.exchange(request).subscribe(onNext: { _ in }, onFailure: { _ in })
        }
    }

    @Test(arguments: Way.allCases, [200, 204, 303, 400, 503])
    func everyWayOfSendingItCounts(_ way: Way, _ status: Int) throws {
        let answer = ScriptedTransport.Reply.status(.init(code: status))
        let (client, _) = fixture.client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]"), .json("[2]")),
            .when(.put, "/goods", answer)
        ) { $0.options.retry = .never }
        try fixture.run(Goods(), client)
        try change(way, client)
        try clock.run()
        let isForgotten = status < 400
        #expect(try fixture.run(Goods(), client).values.map(\.output) == (isForgotten ? [[2]] : [[1]]))
    }

    @Test(arguments: Way.allCases)
    func everyWayEndsTheJoining(_ way: Way) throws {
        let (client, _) = fixture.client(
            .http,
            .when(.get, "/goods", .json("[1]", headers: Self.fresh, after: .seconds(60)), .json("[2]")),
            .when(.put, "/goods", .status(.noContent, after: .seconds(1))))
        let before = try output(at: 0, client)
        try change(way, client)
        try clock.advance(by: .seconds(2))
        let after = try fixture.run(Goods(), client)
        #expect(before.values == [[1]] && after.values.map(\.output) == [[2]])
    }

    @Test func eachHopOfAChangeCounts() throws {
        let (client, _) = fixture.client(
            .time(.seconds(600)), .when(.get, "*", .json("[1]")),
            .when(.post, "/a", .status(.temporaryRedirect, headers: [.location: "/b"])),
            .when(.post, "/b", .status(.seeOther, headers: [.location: "/c", .contentLocation: "/d"])))
        for path in ["/a", "/b", "/c", "/d", "/e"] { try fixture.run(Goods(path: path), client) }
        client.request(Goods(path: "/a", method: .post)).subscribe()
        try clock.run()
        let kept = try ["/a", "/b", "/c", "/d", "/e"].map { path in
            try fixture.run(Goods(path: path, options: RequestOptions(cacheMode: .onlyIfCached)), client)
                .values
                .count
        }
        #expect(kept == [0, 0, 0, 0, 1])
    }

    @Test func aChangeAtTheOtherServerCountsAtBoth() throws {
        let (client, _) = fixture.client(
            .time(.seconds(600)), .when(.get, "*", .json("[1]")),
            .when(.post, "*", .status(.created, headers: [.location: "http://standby.test/goods/7"]))
        ) { $0.standbyURL = "http://standby.test" }
        for path in ["/goods", "/goods/7"] { try fixture.run(Goods(path: path), client) }
        var call = InlineEndpoint(.post, "/goods")
        call.options.server = .standby
        client.request(call).subscribe()
        try clock.run()
        #expect(client.configuration.cache.statistics.usage.entries == 0)
    }

    @Test func aCredentialOrASignatureInTheURLDoesNotHideTheChange() throws {
        let session = Session(credential: Credential(token: "t"), placement: .query("key"), clock: clock) {
            .never()
        }
        let (client, transport) = fixture.client(.time(.seconds(600)), .when(nil, "/goods", .json("[1]"))) {
            $0.session = session
            $0.signature = .parameters { _ in ["sign": "s"] }
        }
        try fixture.run(Goods(), client)
        #expect(client.configuration.cache.statistics.usage.entries == 1)
        client.request(.put("/goods")).subscribe()
        try clock.run()
        #expect(client.configuration.cache.statistics.usage.entries == 0)
        #expect(transport.requests.allSatisfy { $0.url.absoluteString.contains("key=t") })
    }

    @Test func aRenewalFromBeforeTheChangeIsNotKept() throws {
        let terms: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=500", .eTag: "\"1\""]
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: terms),
                .json("[2]", headers: Self.fresh, after: .seconds(10)), .json("[3]")),
            .when(.put, "/goods", .status(.noContent)))
        try fixture.run(Goods(), client)
        let stale = try output(at: 20, client)
        try clock.advance(by: .seconds(5))
        client.request(.put("/goods")).subscribe()
        try clock.run()
        #expect(stale.values == [[1]])
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[3]])
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test func aConfirmationFromBeforeTheChangeConfirmsNothing() throws {
        let terms: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: terms),
                .status(.notModified, headers: Self.fresh, after: .seconds(10)), .json("[3]")),
            .when(.put, "/goods", .status(.noContent)))
        try fixture.run(Goods(), client)
        let confirmed = try output(at: 20, client)
        try clock.advance(by: .seconds(5))
        client.request(.put("/goods")).subscribe()
        try clock.run()
        #expect(confirmed.values == [[1]])
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[3]])
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test func afterAChangeNothingFromBeforeStandsInForAFailure() throws {
        let terms: HTTPFields = [.cacheControl: "max-age=10, stale-if-error=500"]
        let (client, _) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: terms), .failure(.connectionLost, after: .seconds(10))),
            .when(.put, "/goods", .status(.noContent)))
        try fixture.run(Goods(), client)
        let failed = try output(at: 20, client)
        try clock.advance(by: .seconds(5))
        client.request(.put("/goods")).subscribe()
        try clock.run()
        #expect(failed.failure?.code == .connectionLost)
    }

    @Test(arguments: [
        CacheSelection.all, .url("http://shop.test/goods"), .anyQuery(of: "http://shop.test/goods"),
        .tag("list"),
        .tag("other"),
    ])
    func whatIsRemovedWhileItIsOnItsWayIsNotKept(_ selection: CacheSelection) throws {
        let (client, _) = fixture.client(
            .time(.seconds(600)), .when(.get, "/goods", .json("[1]", after: .seconds(2)), .json("[2]")))
        let before = Recorder(client.request(Goods(options: RequestOptions(tags: ["list"]))), on: clock)
        try clock.advance(by: .seconds(1))
        client.configuration.cache.remove(selection).subscribe()
        try clock.run()
        #expect(before.values == [[1]])
        let isKept = selection == .tag("other")
        #expect(try fixture.run(Goods(), client).values.map(\.output) == (isKept ? [[1]] : [[2]]))
    }

    /// A store that takes a second for each lookup, and ten until a response is written, which lookups find at once.
    private struct SlowStore: CacheStore {
        let store = MemoryCacheStore()
        let clock: VirtualScheduler
        var usage: CacheUsage { store.usage }
        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
            store.entries(for: key).delay(.seconds(1), on: clock)
        }
        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> {
            store.store(entry).delay(.seconds(10), on: clock)
        }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
            store.update(metadata)
        }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> { store.remove(selection) }
    }

    /// A lookup that began before the change still finds the response.
    @Test func aResponseThatAChangeOvertakesWhileItIsWrittenIsNotUsed() throws {
        let clock = clock
        let store = SlowStore(clock: clock)
        let (client, _) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: Self.fresh), .json("[2]", headers: Self.fresh),
                .json("[3]", headers: Self.fresh)),
            .when(.put, "/goods", .status(.noContent))
        ) { $0.cache = ResponseCache(store: store) { Date.start + clock.now / .seconds(1) } }
        let first = try output(at: 0, client)
        let second = try output(at: 5, client)
        try clock.advance(to: .seconds(5.5))
        client.request(.put("/goods")).subscribe()
        try clock.run()
        #expect(first.values == [[1]] && second.values == [[2]])
        // The request for the second response began before the change.
        #expect(try fixture.run(Goods(), client).values.map(\.output) == [[3]])
    }

    /// A store that fails the first of its removals, and delays some lookups.
    private struct ReluctantStore: CacheStore {
        let store = MemoryCacheStore()
        let failures: MutableProperty<Int>
        var delays = MutableProperty<[Observable<Void, NetworkError>]>([])
        var usage: CacheUsage { store.usage }
        func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError> {
            .deferred {
                guard let delay = delays.value.first else { return store.entries(for: key) }
                delays.update { $0.removeFirst() }
                return store.entries(for: key).flatMap(.concat) { entries in delay.map { entries } }
            }
        }
        func entriesInMemory(for key: CacheKey) -> [CacheEntry]? {
            delays.value.isEmpty ? store.entriesInMemory(for: key) : nil
        }
        func store(_ entry: CacheEntry) -> Observable<Void, NetworkError> { store.store(entry) }
        func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError> {
            store.update(metadata)
        }
        func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError> {
            .deferred {
                failures.update { $0 -= 1 }
                return failures.value >= 0
                    ? .fail(NetworkError(.file, "the disk is gone")) : store.remove(selection)
            }
        }
    }

    /// A response that the store could not remove is not used, and is removed later.
    @Test(arguments: [1, 2, 3])
    func removalsThatFail(_ count: Int) throws {
        let clock = clock
        let store = ReluctantStore(failures: MutableProperty(count))
        let (client, _) = fixture.client(
            .http,
            .when(.get, "/goods", .json("[1]", headers: Self.fresh), .json("[2]", headers: Self.fresh)),
            .when(.put, "/goods", .status(.noContent))
        ) { $0.cache = ResponseCache(store: store) { Date.start + clock.now / .seconds(1) } }
        try fixture.run(Goods(), client)
        client.request(.put("/goods")).subscribe()
        try clock.run()
        for _ in 0..<4 { #expect(try fixture.run(Goods(), client).values.map(\.output) == [[2]]) }
        #expect(try fixture.run(Goods(), client).values.first?.response.cacheUse == .fresh)
        #expect(store.usage.entries == 1)
    }

    /// A response that the store could not remove is not used by a lookup that began before it was removed.
    @Test func removalsThatSucceedDuringALookup() throws {
        let clock = clock
        let store = ReluctantStore(failures: MutableProperty(1))
        let (client, _) = fixture.client(
            .http,
            .when(.get, "/goods", .json("[1]", headers: Self.fresh), .json("[2]", headers: Self.fresh)),
            .when(.put, "/goods", .status(.noContent))
        ) { $0.cache = ResponseCache(store: store) { Date.start + clock.now / .seconds(1) } }
        try fixture.run(Goods(), client)
        client.request(.put("/goods")).subscribe()
        try clock.run()
        store.delays.value = [.timer(.seconds(5), on: clock).map { _ in }]
        let recorders = (0..<2).map { _ in Recorder(client.typedResponse(Goods()), on: clock) }
        try clock.run()
        #expect(recorders.map { $0.values.map(\.output) } == [[[2]], [[2]]])
    }
}
