import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Offsets, cursors and custom rules; circles; prefetched pages.
@Suite struct CursorPagingTests {
    private struct Feed: Endpoint {
        struct Output: Decodable, Sendable {
            let items: [Goods]
            var next: String?
        }
        let path = "/feed"
        let method = HTTPRequest.Method.get
    }

    private static let page: @Sendable (Feed.Output) throws(NetworkError) -> Page<Goods> = {
        Page($0.items, nextCursor: $0.next)
    }

    /// A feed whose pages name the next ones: `["": "b"]` means that the first page names `b`.
    private func fixture(_ next: [String: String]) -> PagingFixture {
        PagingFixture { request in
            let cursor = request.parameter("cursor") ?? ""
            let tail = next[cursor].map { #", "next": "\#($0)""# } ?? ""
            return .json(#"{"items": [{"id": \#(cursor.utf8.first ?? 1), "name": "x"}]\#(tail)}"#)
        }
    }

    /// A cursor in the content is sent under its name; a missing or empty cursor is the end.
    @Test(arguments: [nil, ""])
    func cursor(last: String?) throws {
        var next = ["": "b", "b": "c"]
        next["c"] = last
        let fixture = fixture(next)
        let all = Recorder(
            fixture.client.items(Feed(), .cursor(size: 1), content: Self.page), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.count == 3)
        #expect(all.isFinished)
        #expect(
            fixture.transport.requests.map { $0.url.query() } == [
                "limit=1", "cursor=b&limit=1", "cursor=c&limit=1",
            ])
    }

    /// A cursor in a header field, with custom names.
    @Test func header() throws {
        let field = try #require(HTTPField.Name("X-Next"))
        let fixture = PagingFixture { request in
            .json(
                #"[{"id": 1, "name": "x"}]"#, headers: request.parameter("after") == nil ? [field: "z"] : [:])
        }
        let rule = PagingRule.cursor(cursorKey: "after", inHeader: field)
        let all = Recorder(fixture.client.items(GoodsList(), rule), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.count == 2)
        #expect(fixture.transport.requests.map { $0.url.query() } == [nil, "after=z"])
    }

    /// A repeated cursor, and circles of any length, are errors after their pages.
    @Test(arguments: [
        (["": "b", "b": "b"], 2), (["": "b", "b": "c", "c": "b"], 3),
        (["": "b", "b": "c", "c": "d", "d": "b"], 4),
    ])
    func circles(next: [String: String], pages: Int) throws {
        let fixture = fixture(next)
        // With a limit, so that a circle that is not noticed ends, too.
        let items = fixture.client.items(
            Feed(), .cursor(size: 1), options: PagingOptions(maxPages: 20), content: Self.page)
        let all = Recorder(items, on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.count == pages)
        #expect(all.failure?.code == .paging)
        #expect(fixture.transport.requests.count == pages)
    }

    /// An offset continues after the received items; a short page is the last if an earlier one was longer.
    @Test func offset() throws {
        // Five items; the server caps its pages at three, although four are requested.
        let answer: @Sendable (Request) -> ScriptedTransport.Reply = { request in
            let offset = request.parameter("from").flatMap { Int($0) } ?? 0
            return .goods(Array((1...5).dropFirst(offset).prefix(3)))
        }
        for (last, offsets) in [
            (PagingRule.LastPage.empty, ["0", "3", "5"]), (.shorterThanEarlier, ["0", "3"]), (.short, ["0"]),
        ] {
            let fixture = PagingFixture(answer: answer)
            let rule = PagingRule.offset(size: 4, offsetKey: "from", limitKey: "n", last: last)
            let all = Recorder(fixture.client.items(GoodsList(), rule), on: fixture.clock)
            try fixture.clock.run()
            #expect(all.isFinished)
            #expect(fixture.transport.requests.map { $0.parameter("from") ?? "" } == offsets)
        }
        let fixture = PagingFixture(answer: answer)
        let all = Recorder(
            fixture.client.items(GoodsList(), .offset(size: 4, offsetKey: "from")) { Page($0, total: 5) },
            on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2, 3, 4, 5])
        #expect(fixture.transport.requests.count == 2)
    }

    /// A custom rule is a value made of closures.
    @Test func custom() throws {
        let fixture = PagingFixture { request in
            request.parameter("day") == "monday" ? .goods([1]) : .goods([2], link: "monday")
        }
        let byDay = PagingRule(first: .cursor("tuesday")) { position in
            guard case .cursor(let day) = position else { return [:] }
            return ["day": day]
        } next: { info in
            info.response?.head[.linkField].map { .cursor($0) }
        }
        let all = Recorder(fixture.client.items(GoodsList(), byDay), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [2, 1])
        #expect(all.isFinished)
    }

    /// Prefetched pages come in order, are requested in parallel, and are dropped at the end.
    @Test(arguments: [1, 3, 100])
    func ahead(ahead: Int) throws {
        let fixture = PagingFixture { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            let ids = Array((2 * page - 1)...(2 * page)).filter { $0 <= 9 }
            let list = ids.map { #"{"id": \#($0), "name": "x"}"# }.joined(separator: ",")
            // Later pages arrive sooner.
            return .json("[\(list)]", after: .milliseconds(page <= 5 ? 60 - 10 * page : 1000))
        }
        let all = Recorder(
            fixture.client.items(GoodsList(), .numbered(size: 2), options: PagingOptions(ahead: ahead)),
            on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(1))
        #expect(fixture.transport.runningCount == ahead + 1)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == Array(1...9))
        #expect(all.isFinished)
        #expect(fixture.transport.runningCount == 0)
        if ahead == 100 { #expect(fixture.clock.now < .milliseconds(100)) }
    }

    /// A prefetched page whose position was wrong is requested again; a failure waits for its turn.
    @Test func aheadMisses() throws {
        // The second page has one item too few, so that the third begins at 3.
        let fixture = PagingFixture { request in
            let offset = request.parameter("offset").flatMap { Int($0) } ?? 0
            switch offset {
            case 0: return .goods([1, 2])
            case 2: return .goods([3])
            case 3: return .goods([4, 5])
            case 5: return .failure(.connectionLost)
            default: return .failure(.connect)
            }
        }
        let all = Recorder(
            fixture.client.items(
                GoodsList(), .offset(size: 2, last: .empty), options: PagingOptions(ahead: 2)),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2, 3, 4, 5])
        #expect(all.failure?.code == .connectionLost)
    }

    /// A paused consumer stops prefetching, too.
    @Test func backpressure() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(100))
        let all = Recorder(
            fixture.client.items(GoodsList(), .numbered(size: 2), options: PagingOptions(ahead: 2)),
            on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(5))
        all.pause()
        try fixture.clock.run()
        #expect(fixture.transport.requests.count == 3)
        #expect(all.values.isEmpty)
        all.resume()
        try fixture.clock.run()
        #expect(all.values.count == 100)
    }

    /// Of a million items only those of the pages being fetched are alive.
    @Test func million() throws {
        let clock = VirtualScheduler()
        let answer = ScriptedTransport.Reply.json(
            "[" + (0..<10_000).map(String.init).joined(separator: ",") + "]", after: .milliseconds(1))
        let transport = ForgetfulTransport(clock: clock, answer: answer)
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
        let options = PagingOptions<Counted>(maxPages: 100, ahead: 2)
        let counts = Confinement((items: 0, sum: 0, most: 0))
        let all = Recorder(
            client.items(Numbers(), .numbered(size: 10_000), options: options).compactMap { item -> Int? in
                counts.value.items += 1
                counts.value.sum += item.number
                counts.value.most = max(counts.value.most, Counted.alive.load(ordering: .relaxed))
                return nil
            }, on: clock)
        try clock.run()
        #expect(all.isFinished)
        #expect(counts.value.items == 1_000_000)
        #expect(counts.value.sum == 100 * 49_995_000)
        #expect(counts.value.most <= 40_000)
    }

    /// Each page comes with its position and the next one; a saved position continues the list.
    @Test func eachPage() throws {
        let answer: @Sendable (Request) -> ScriptedTransport.Reply = { request in
            let offset = request.parameter("offset").flatMap { Int($0) } ?? 0
            return .goods(Array((1...5).dropFirst(offset).prefix(2)))
        }
        let fixture = PagingFixture(answer: answer)
        let pages = Recorder(fixture.client.eachPage(GoodsList(), .offset(size: 2)), on: fixture.clock)
        try fixture.clock.run()
        #expect(pages.values.map { $0.items.map(\.id) } == [[1, 2], [3, 4], [5]])
        #expect(pages.values.map(\.position) == [.offset(0), .offset(2), .offset(4)])
        #expect(pages.values.map(\.next) == [.offset(2), .offset(4), nil])
        #expect(pages.isFinished)
        let saved = try JSONDecoder().decode(
            PagePosition.self, from: JSONEncoder().encode(pages.values[0].next))
        let rest = Recorder(
            fixture.client.eachPage(GoodsList(), .offset(size: 2), from: saved), on: fixture.clock)
        try fixture.clock.run()
        #expect(rest.values.map { $0.items.map(\.id) } == [[3, 4], [5]])
        let first = PagingFixture(answer: answer)
        let one = Recorder(first.client.eachPage(GoodsList(), .offset(size: 2)).take(1), on: first.clock)
        try first.clock.run()
        #expect(one.values.count == 1 && first.transport.requests.count == 1)
    }

    /// A list whose pages name the URL of the next one.
    private struct GoodsPages: Endpoint {
        typealias Output = Page<Goods>
        let path = "/goods"

        private struct Content: Decodable {
            let results: [Goods]
            let next: String?
        }

        func output(from response: Response) throws(NetworkError) -> Page<Goods> {
            let content = try response.decode(Content.self)
            return Page(content.results, nextCursor: content.next)
        }
    }

    /// A sync of a list continues where it was interrupted, in a loop.
    @Test func resumableSync() async throws {
        let isBroken = Mutex(true)
        let transport = ReplyingTransport { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 1
            if page == 3, isBroken.withLock({ $0 }) { return nil }
            let next = page < 4 ? #""/goods?page=\#(page + 1)""# : "null"
            return #"{"results": [{"id": \#(page), "name": "tea"}], "next": \#(next)}"#
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let client = Client(configuration: configuration, transport: transport)
        var items: [Goods] = []
        var position: PagePosition?
        func sync() async throws {
            for try await page in client.eachPage(GoodsPages(), .nextURL, from: position) {
                items += page.items
                position = page.next
            }
        }
        await #expect(throws: NetworkError.self) { try await sync() }
        #expect(items.map(\.id) == [1, 2])
        isBroken.withLock { $0 = false }
        try await sync()
        #expect(items.map(\.id) == [1, 2, 3, 4])
        #expect(position == nil)
    }
}

/// Responds at once, on the requesting thread, with JSON or a lost connection.
private struct ReplyingTransport: Transport {
    let reply: @Sendable (Request) -> String?

    var scheduler: any Scheduler { ActorScheduler.shared }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        guard let text = reply(request) else {
            return .fail(NetworkError(.connectionLost, "", request: request))
        }
        return .sequence([
            .head(ResponseHead(status: .ok)), .chunk(Array(text.utf8)), .finished(TransferMetrics()),
        ])
    }
}

private struct Numbers: Endpoint {
    typealias Output = [Counted]
    let path = "/numbers"
    let method = HTTPRequest.Method.get
}

/// A number that counts the living instances of its type.
private final class Counted: Decodable, Sendable {
    static let alive = Atomic(0)
    let number: Int

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }
}

/// State changed on one thread.
private final class Confinement<Value>: @unchecked Sendable {
    // Unchecked: the virtual clock runs everything on the test's thread.
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// Responds to all requests in the same way and, unlike a scripted transport, records none.
private struct ForgetfulTransport: Transport {
    let clock: VirtualScheduler
    let answer: ScriptedTransport.Reply

    var scheduler: any Scheduler { clock }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        .deferred {
            ScriptedTransport(on: clock) { [answer] _ in answer }.send(request)
        }
    }
}
