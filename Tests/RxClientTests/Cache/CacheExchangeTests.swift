import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// The exchange between cache and server: revalidation, invalidation, redirects.
@Suite struct CacheExchangeTests {
    private static let hour = ("Cache-Control", "max-age=3600")
    private static let tag = ("ETag", "\"a\"")

    private func fields(_ recorder: Recorder<Response, NetworkError>) throws -> HTTPFields {
        try #require(recorder.values.first).head.headerFields
    }

    // MARK: - Revalidation

    @Test func aConfirmedAnswerIsFreshAgain() throws {
        let stage = CacheStage([.fields([Self.hour, Self.tag]), .fields([Self.tag], status: 304, body: "")])
        try stage.send()
        try stage.wait(3600)
        let confirmed = try #require(try stage.send().values.first)
        #expect(confirmed.text == "old" && confirmed.status == .ok)
        #expect(confirmed.cacheUse == .revalidated && confirmed.isFromCache)
        #expect(stage.transport.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
        try stage.wait(3599)
        let kept = try #require(try stage.send().values.first)
        #expect(kept.cacheUse == .fresh && kept.text == "old")
        #expect(stage.asked == 2)
        let statistics = stage.cache.statistics
        #expect(statistics.revalidated == 1 && statistics.hits == 1 && statistics.misses == 1)
        #expect(statistics.stored == 1 && statistics.usage.entries == 1)
    }

    @Test func bothValidatorsAreSent() throws {
        let modified = ("Last-Modified", at(-50))
        let stage = CacheStage([.fields([("Cache-Control", "max-age=1"), ("ETag", "W/\"a\""), modified])])
        try stage.send()
        try stage.wait(2)
        try stage.send()
        let sent = try #require(stage.transport.requests.last).headerFields
        #expect(sent[.ifNoneMatch] == "W/\"a\"")
        #expect(sent[.ifModifiedSince] == at(-50))
    }

    @Test func fieldsOfA304TakeThePlaceOfThoseOfTheirNames() throws {
        let stage = CacheStage([
            .fields([
                Self.tag, ("Cache-Control", "max-age=1"), ("A", "1"), ("A", "2"), ("B", "1"),
                ("Content-Type", "text/plain"), ("Content-Encoding", "gzip"),
            ]),
            .fields(
                [
                    Self.tag, Self.hour, ("A", "3"), ("C", "4"), ("Content-Type", "text/html"),
                    ("Content-Encoding", "br"), ("Content-Length", "0"), ("Connection", "C"),
                ], status: 304, body: ""),
        ])
        try stage.send()
        try stage.wait(1)
        for recorder in [try stage.send(), try stage.send()] {
            let fields = try fields(recorder)
            let names: [String] = [
                "A", "B", "C", "Content-Type", "Content-Encoding", "Content-Length", "Cache-Control",
            ]
            let values = try names.map { fields[try #require(HTTPField.Name($0))] }
            #expect(values == ["3", "1", nil, "text/html", "gzip", nil, "max-age=3600"])
        }
        #expect(stage.asked == 2)
    }

    @Test func a304AboutAnotherBodyIsNotBelieved() throws {
        let stage = CacheStage([
            .fields([Self.hour, Self.tag]), .fields([("ETag", "\"b\"")], status: 304, body: ""),
        ])
        try stage.send()
        let recorder = try stage.send(mode: .noCache)
        #expect(recorder.values.map(\.text) == ["new"])
        #expect(stage.asked == 3)
        #expect(stage.transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(try stage.send(mode: .onlyIfCached).values.map(\.text) == ["new"])
    }

    @Test func a304WithTheWeakFormOfTheTagIsBelieved() throws {
        let stage = CacheStage([
            .fields([Self.hour, Self.tag]), .fields([("ETag", "W/\"a\"")], status: 304, body: ""),
        ])
        try stage.send()
        #expect(try stage.send(mode: .noCache).values.map(\.text) == ["old"])
    }

    @Test func a304ThatForbidsKeepingIsTheLastUse() throws {
        let stage = CacheStage([
            .fields([Self.hour, Self.tag]),
            .fields([Self.tag, ("Cache-Control", "no-store")], status: 304, body: ""),
        ])
        try stage.send()
        #expect(try stage.send(mode: .noCache).values.map(\.text) == ["old"])
        #expect(stage.cache.statistics.usage.entries == 0)
    }

    @Test func a304WithoutDateIsOfNow() throws {
        let stage = CacheStage([
            .fields([("Cache-Control", "max-age=60"), Self.tag, ("Date", at(0))]),
            .fields([Self.tag], status: 304, body: ""),
        ])
        try stage.send()
        try stage.wait(1000)
        try stage.send()
        try stage.wait(59)
        #expect(try stage.send().values.first?.cacheUse == .fresh)
    }

    @Test func anotherAnswerTakesThePlace() throws {
        let stage = CacheStage([
            .fields([("Cache-Control", "max-age=1"), Self.tag]), .fields([Self.hour], body: "newer"),
        ])
        try stage.send()
        try stage.wait(1)
        #expect(try stage.send().values.first?.cacheUse == nil)
        #expect(try stage.send().values.map(\.text) == ["newer"])
        #expect(stage.asked == 2)
        #expect(stage.cache.statistics.usage.entries == 1)
    }

    static let told: [(CacheMode, String?, String?)] = [
        (CacheMode.reload, "no-cache", "no-cache"), (.noStore, "no-cache", "no-cache"),
        (.noCache, "max-age=0", nil),
        (.standard, nil, nil),
    ]

    @Test(arguments: told)
    func cachesOnTheWayAreTold(_ mode: CacheMode, _ control: String?, _ pragma: String?) throws {
        let stage = CacheStage([])
        try stage.send(mode: mode)
        let sent = try #require(stage.transport.requests.last).headerFields
        #expect(sent[.cacheControl] == control)
        #expect(sent[HTTPField.Name("Pragma")!] == pragma)
    }

    // MARK: - Delivery

    @Test func theAgeIsToldAndNothingElseChanges() throws {
        let stage = CacheStage([.fields([Self.hour, ("Date", at(0)), ("Age", "30"), ("X", "1")])])
        try stage.send()
        try stage.wait(12)
        let fields = try fields(try stage.send())
        #expect(fields[values: .age] == ["42"])
        #expect(fields[.date] == at(0))
        #expect(fields[HTTPField.Name("X")!] == "1")
    }

    @Test func whatEndsWithTheConnectionIsNotKept() throws {
        let stage = CacheStage([
            .fields([
                Self.hour, ("Connection", "a, B"), ("a", "1"), ("b", "2"), ("c", "3"), ("Keep-Alive", "x"),
                ("Upgrade", "x"), ("Proxy-Authenticate", "x"), ("Set-Cookie", "d=4"),
                ("Cache-Control", "no-cache=\"e, F\""), ("e", "5"), ("f", "6"),
            ])
        ])
        try stage.send()
        let names = try fields(try stage.send()).map(\.name.canonicalName)
        #expect(names == ["cache-control", "c", "set-cookie", "cache-control", "age"])
    }

    @Test func aHeadIsAnsweredByTheKeptGet() throws {
        let stage = CacheStage([.fields([Self.hour])])
        try stage.send()
        let response = try #require(try stage.send(.head).values.first)
        #expect(response.cacheUse == .fresh && response.body.isEmpty)
        #expect(stage.asked == 1)
    }

    @Test func aHeadsAnswerIsNotKept() throws {
        let stage = CacheStage([.fields([Self.hour, Self.tag], body: "")])
        try stage.send(.head)
        #expect(try stage.send().values.map(\.text) == ["new"])
    }

    @Test func theFragmentDoesNotCountAndTheQueryDoes() throws {
        let stage = CacheStage([.fields([Self.hour])])
        try stage.send(.get, CacheStage.url + "#top")
        try stage.send(.get, CacheStage.url + "#end")
        #expect(stage.asked == 1)
        try stage.send(.get, CacheStage.url + "?a=1")
        #expect(stage.asked == 2)
    }

    @Test func whatRedirectsLedToIsNotKeptAsTheAnswerToTheFirstURL() throws {
        let stage = CacheStage([.fields([("Location", "/other")], status: 302), .fields([Self.hour])])
        let recorder = try stage.send()
        #expect(recorder.values.first?.isRedirected == true)
        #expect(stage.cache.statistics.usage.entries == 0)
    }

    @Test func aClockThatWasSetBackMakesNothingFresh() throws {
        let store = MemoryCacheStore()
        let entry = CacheEntry(
            .init(
                key: CacheKey(rules: .http, url: CacheStage.url), head: ResponseHead(status: .ok),
                freshness: CacheFreshness(date: .start + 10, lifetime: 3600)), body: [1])
        store.store(entry).subscribe()
        let stage = CacheStage([], store: store)
        #expect(try stage.send().values.map(\.text) == ["new"])
    }

    // MARK: - Changes

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .patch, HTTPRequest.Method("M-SEARCH")!])
    func aChangeRemovesWhatIsKeptOfItsURL(_ method: HTTPRequest.Method) throws {
        let stage = CacheStage([.fields([Self.hour]), .fields([]), .fields([], status: 303)])
        try stage.send(.get, CacheStage.url, [("Authorization", "a")])
        try stage.send(method)
        #expect(stage.cache.statistics.usage.entries == 0)
    }

    @Test(arguments: [(201, true), (204, true), (400, false), (404, false), (500, false)])
    func onlyAChangeThatSucceedsDoes(_ status: Int, _ removes: Bool) throws {
        let stage = CacheStage([.fields([Self.hour]), .fields([], status: status)])
        try stage.send()
        try stage.send(.post)
        #expect(stage.cache.statistics.usage.entries == (removes ? 0 : 1))
    }

    @Test(arguments: [HTTPRequest.Method.head, .options, .trace])
    func aSafeMethodChangesNothing(_ method: HTTPRequest.Method) throws {
        let stage = CacheStage([.fields([Self.hour]), .fields([])])
        try stage.send()
        try stage.send(method, mode: .reload)
        #expect(stage.cache.statistics.usage.entries == 1)
    }

    @Test(arguments: [
        ("Location", "/goods/7", true), ("Content-Location", "goods/7", true),
        ("Location", "http://shop.test:80/goods/7", true), ("Location", "http://other.test/goods/7", false),
        ("Location", "https://shop.test/goods/7", false), ("Location", "http://[", false),
    ])
    func whatTheAnswerNamesIsRemovedOfTheSameOrigin(_ name: String, _ value: String, _ removes: Bool) throws {
        let stage = CacheStage([.fields([Self.hour]), .fields([(name, value)], status: 201)])
        let url = value.hasPrefix("http://shop.test:80") ? value : "http://shop.test/goods/7"
        try stage.send(.get, url)
        try stage.send(.post)
        #expect(stage.cache.statistics.usage.entries == (removes ? 0 : 1))
    }
}
