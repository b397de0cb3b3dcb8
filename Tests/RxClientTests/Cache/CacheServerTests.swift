import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// The cache of a client and its server: revalidation, stale responses, changes.
@Suite struct CacheServerTests {
    private typealias Goods = CacheFixture.Goods

    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    // MARK: - In the pipeline

    @Test func aConfirmedAnswerIsOpenedAndDecoded() throws {
        let envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods",
                .json(#"{"code":0,"data":[1]}"#, headers: [.cacheControl: "max-age=9", .eTag: "\"a\""]),
                .status(.serviceUnavailable), .status(.notModified))
        ) { $0.options.envelope = envelope }
        try fixture.run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let answer = try #require(try fixture.run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .revalidated)
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"a\"", "\"a\""])
        #expect(try fixture.run(Goods(), client).values.first?.response.cacheUse == .fresh)
    }

    @Test func afterTheRetriesWhatIsStaleIsUsed() throws {
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9, stale-if-error=99"]),
                .failure(.connectionLost)))
        try fixture.run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let answer = try #require(try fixture.run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .stale)
        #expect(transport.exchanges.count == 4)
    }

    @Test func soItIsWhenTheTimeIsUp() throws {
        let (client, _) = fixture.client(
            .http,
            .when(
                .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9, stale-if-error=99"]), .stall
            )
        ) { $0.options.timeouts = Timeouts(total: .seconds(5)) }
        try fixture.run(Goods(), client)
        try clock.advance(by: .seconds(9))
        #expect(try fixture.run(Goods(), client).values.first?.response.cacheUse == .stale)
        #expect(clock.now == .seconds(14))
    }

    @Test func aRenewalInTheBackgroundShowsNothing() throws {
        let stopped = MutableProperty(0)
        let (client, transport) = fixture.client(
            .http,
            .when(
                .get, "/goods",
                .json("[1]", headers: [.cacheControl: "max-age=9, stale-while-revalidate=99"]),
                .json("[2]", headers: [.cacheControl: "max-age=99"], after: .seconds(1)))
        ) { $0.options.accessories = [Accessory(didStop: { _, _ in stopped.update { $0 += 1 } })] }
        try fixture.run(Goods(), client)
        try clock.advance(by: .seconds(9))
        let shown = Recorder(client.activity.count.observable, on: clock)
        let answer = try #require(try fixture.run(Goods(), client).values.first)
        #expect(answer.output == [1] && answer.response.cacheUse == .stale)
        #expect(shown.values == [0, 1, 0] && stopped.value == 2)
        #expect(transport.exchanges.count == 2)
        #expect(try fixture.run(Goods(), client).values.first?.output == [2])
        #expect(transport.exchanges.count == 2)
    }

    @Test(arguments: [CachePolicy.http, .time(.seconds(60)), .never])
    func aChangeRemovesWhatIsKept(_ policy: CachePolicy) throws {
        let (client, _) = fixture.client(.never, .when(nil, "/goods", .json("[1]")))
        try fixture.run(Goods(options: RequestOptions(cachePolicy: .time(.seconds(60)))), client)
        #expect(client.configuration.cache.statistics.usage.entries == 1)
        try fixture.run(Goods(method: .post, options: RequestOptions(cachePolicy: policy)), client)
        #expect(client.configuration.cache.statistics.usage.entries == 0)
    }

    @Test func aSearchByPostRemovesNothing() throws {
        let (client, _) = fixture.client(.never, .when(nil, "/goods", .json("[1]")))
        try fixture.run(Goods(options: RequestOptions(cachePolicy: .time(.seconds(60)))), client)
        try fixture.run(
            Goods(method: .post, options: RequestOptions(cachePolicy: .post(.seconds(60)))), client)
        #expect(client.configuration.cache.statistics.usage.entries == 2)
    }

    /// One URL often takes searches and commands, as with GraphQL.
    @Test(arguments: [(HTTPRequest.Method.post, 1), (.put, 0), (.patch, 0), (.delete, 0)])
    func aPostWithoutThePolicyKeepsSearches(_ method: HTTPRequest.Method, _ count: Int) throws {
        let (client, transport) = fixture.client(.never, .when(nil, "/goods", .json("[1]")))
        let search = Goods(method: .post, options: RequestOptions(cachePolicy: .post(.seconds(60))))
        try fixture.run(search, client)
        try fixture.run(Goods(options: RequestOptions(cachePolicy: .time(.seconds(60)))), client)
        try fixture.run(Goods(method: method), client)
        #expect(client.configuration.cache.statistics.usage.entries == count)
        try fixture.run(search, client)
        #expect(transport.exchanges.count == 4 - count)
    }

    @Test func aSearchUnderWayDuringAPostIsStored() throws {
        let (client, transport) = fixture.client(
            .never, .when(.post, "/goods", .json("[1]", after: .seconds(2)), .json("[2]")))
        let search = Goods(method: .post, options: RequestOptions(cachePolicy: .post(.seconds(60))))
        let first = Recorder(client.request(search), on: clock)
        try clock.advance(by: .seconds(1))
        client.request(Goods(method: .post)).subscribe()
        let second = Recorder(client.request(search), on: clock)
        try clock.run()
        #expect(first.values == [[1]] && second.values == [[1]])
        #expect(try fixture.run(search, client).values.map(\.output) == [[1]])
        #expect(transport.exchanges.count == 2)
    }

    @Test(arguments: [
        (CacheSelection.url("http://shop.test/goods"), 0), (.anyQuery(of: "http://shop.test/goods"), 0),
        (.tag("list"), 0), (.all, 0), (.tag("other"), 1),
    ])
    func theAppRemovesSearches(_ selection: CacheSelection, _ count: Int) throws {
        let (client, _) = fixture.client(.post(.seconds(60)), .when(.post, "/goods", .json("[1]")))
        try fixture.run(Goods(method: .post, options: RequestOptions(tags: ["list"])), client)
        client.configuration.cache.remove(selection).subscribe()
        #expect(client.configuration.cache.statistics.usage.entries == count)
    }

    @Test func aSignatureDoesNotCount() throws {
        let count = MutableProperty(0)
        let (client, transport) = fixture.client(.time(.seconds(60)), .when(.get, "/goods", .json("[1]"))) {
            $0.signature = .parameters { _ in
                count.update { $0 += 1 }
                return ["nonce": count.value]
            }
        }
        for _ in 0..<2 { try fixture.run(Goods(), client) }
        #expect(transport.exchanges.count == 1)
        #expect(transport.requests.first?.url.absoluteString.contains("nonce") == true)
    }

    // MARK: - By hand

    /// The same server, through the pipeline and by hand: requests and responses are the same.
    @Test(arguments: [CacheMode.standard, .noCache, .reload, .noStore, .forceCache])
    func byHandItIsTheSame(_ mode: CacheMode) throws {
        let rule = ScriptedTransport.Rule.when(
            .get, "/goods", .json("[1]", headers: [.cacheControl: "max-age=9", .eTag: "\"a\""]),
            .status(.notModified),
            .json("[2]"))
        let url = try #require(URL(string: "http://shop.test/goods"))
        let runs = try [true, false].map { isByHand in
            let (client, transport) = fixture.client(.http, rule)
            var seen: [String] = []
            for wait in [0, 5, 9] {
                try clock.advance(by: .seconds(wait))
                let responses =
                    isByHand
                    ? client.configuration.cache.response(to: Request(url: url), mode: mode) { request in
                        client.exchange(request).response(to: request)
                    }.checkStatus()
                    : client.typedResponse(Goods(options: RequestOptions(cacheMode: mode))).map(\.response)
                let recorder = Recorder(responses, on: clock)
                try clock.run()
                seen += recorder.values.map { "\($0.text) \($0.cacheUse?.rawValue ?? "-")" }
            }
            let sent = transport.requests.map { $0.headerFields[.ifNoneMatch] ?? "-" }
            return (seen, sent)
        }
        #expect(runs[0].0 == runs[1].0)
        #expect(runs[0].1 == runs[1].1)
    }
}
