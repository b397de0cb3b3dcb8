import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The end of a list, with servers that deliver less than requested.
@Suite struct PageEndTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: PagingRule
        /// The maximum number of items that the server puts on a page.
        var cap = 50
        var count = 1000
        var total: Int?
        let requests: Int
    }

    static let cases = [
        Case(testDescription: "offset", rule: .offset(size: 1000), requests: 21),
        Case(testDescription: "offset with a total", rule: .offset(size: 1000), total: 1000, requests: 20),
        Case(testDescription: "last is short", rule: .offset(size: 1000), count: 1010, requests: 21),
        Case(
            testDescription: "empty only", rule: .offset(size: 1000, last: .empty), count: 1010, requests: 22),
        Case(testDescription: "no more than one page", rule: .offset(size: 1000), count: 20, requests: 2),
        Case(testDescription: "as asked for", rule: .offset(size: 50), count: 120, requests: 3),
    ]

    private static func shop(_ test: Case) -> @Sendable (Request) -> ScriptedTransport.Reply {
        { request in
            let start = request.parameter("offset").flatMap { Int($0) } ?? 0
            return .goods(Array((1...test.count).dropFirst(start).prefix(test.cap)))
        }
    }

    /// A server that caps its pages delivers everything.
    @Test(arguments: cases, [0, 3])
    func capped(test: Case, ahead: Int) throws {
        let fixture = PagingFixture(answer: Self.shop(test))
        let options = PagingOptions<Goods>(ahead: ahead)
        let all = Recorder(
            fixture.client.items(GoodsList(), test.rule, options: options) { Page($0, total: test.total) },
            on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == Array(1...test.count))
        #expect(all.isFinished)
        if ahead == 0 { #expect(fixture.transport.requests.count == test.requests) }
    }

    /// A page that is shorter than requested is the last, also the first one, if the rule says so.
    @Test(arguments: [(0, 1), (3, 1), (4, 2), (7, 2), (8, 3)], [false, true])
    func short(list: (count: Int, requests: Int), byOffset: Bool) throws {
        let (count, requests) = list
        let fixture = PagingFixture { request in
            let start = request.parameter(byOffset ? "offset" : "start").flatMap { Int($0) } ?? 0
            return .goods(Array((0..<count).dropFirst(start).prefix(4)))
        }
        let rule =
            byOffset
            ? PagingRule.offset(size: 4, last: .short) : .numbered(size: 4, startKey: "start", last: .short)
        let recorder = fixture.record(rule)
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.values.last?.items.map(\.id) == Array(0..<count))
        #expect(recorder.values.last?.phase == .end)
        #expect(fixture.transport.requests.count == requests)
    }

    /// A list says whether it has more: not before the first page, not at the end, and after a failure.
    @Test func hasMore() throws {
        let failing = Mutex(false)
        let fixture = PagingFixture { request in
            let isFailing = failing.withLock { isFailing in
                defer { isFailing = false }
                return isFailing
            }
            return isFailing ? .failure(.connectionLost) : PagingFixture.shop(3)(request)
        }
        let recorder = fixture.record()
        try fixture.clock.run()
        failing.withLock { $0 = true }
        fixture.next.send()
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.run()
        let expected = [
            ("first", false), ("idle 1,2", true), ("more 1,2", true), ("failed(connectionLost) 1,2", true),
            ("more 1,2", true), ("end 1,2,3", false),
        ]
        #expect(recorder.texts == expected.map(\.0))
        #expect(recorder.values.map(\.hasMore) == expected.map(\.1))
    }

    /// The same, page by page.
    @Test func pages() throws {
        let fixture = PagingFixture { request in
            // Three items a page, though ten are requested, and the last page is full.
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(Array((1...6).dropFirst(3 * (page - 1)).prefix(3)))
        }
        let recorder = fixture.record(.numbered(size: 10))
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.values.last?.items.map(\.id) == Array(1...6))
        #expect(recorder.values.last?.phase == .end)
        #expect(fixture.asked == [1, 2, 3])
    }

    /// Nothing is requested beyond a known end.
    @Test(arguments: [(7, nil, nil, 4), (nil, 4, nil, 4), (nil, nil, 7, 4)] as [(Int?, Int?, Int?, Int)])
    func ahead(total: Int?, totalPages: Int?, maxItems: Int?, pages: Int) throws {
        for rule in [PagingRule.numbered(size: 2), .offset(size: 2)] {
            let fixture = PagingFixture { request in
                let page = request.parameter("page").flatMap { Int($0) }
                let start = page.map { 2 * ($0 - 1) } ?? request.parameter("offset").flatMap { Int($0) } ?? 0
                return .goods(Array((1...7).dropFirst(start).prefix(2)))
            }
            let options = PagingOptions<Goods>(maxItems: maxItems, ahead: 2)
            let all = Recorder(
                fixture.client.items(GoodsList(), rule, options: options) {
                    Page($0, total: total, totalPages: totalPages)
                }, on: fixture.clock)
            try fixture.clock.run()
            #expect(all.values.map(\.id) == Array(1...7))
            if totalPages == nil || rule.first == .number(1) {
                #expect(fixture.transport.requests.count == pages)
            }
        }
    }

    /// A status past the end is the end, if the rule allows it.
    @Test(arguments: [true, false], [0, 2])
    func notFound(isEnd: Bool, ahead: Int) throws {
        var rule = PagingRule.numbered(size: 2)
        if isEnd { rule.endStatuses = [404] }
        let answer: @Sendable (Request) -> ScriptedTransport.Reply = { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return page <= 2 ? .goods([2 * page - 1, 2 * page]) : .status(.notFound)
        }
        let fixture = PagingFixture(answer: answer)
        let all = Recorder(
            fixture.client.items(GoodsList(), rule, options: PagingOptions(ahead: ahead)), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2, 3, 4])
        #expect(all.isFinished == isEnd)
        #expect(all.failure?.status == (isEnd ? nil : .notFound))

        let recorder = fixture.record(rule)
        for _ in 0..<3 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.values.last?.items.count == 4)
        #expect((recorder.values.last?.phase == .end) == isEnd)
        #expect((recorder.values.last?.position == nil) == isEnd)
    }

    /// A missing first page is a failure.
    @Test func firstNotFound() throws {
        var rule = PagingRule.numbered(size: 2)
        rule.endStatuses = [404]
        let fixture = PagingFixture { _ in .status(.notFound) }
        let all = Recorder(fixture.client.items(GoodsList(), rule), on: fixture.clock)
        try fixture.clock.run()
        #expect(all.failure?.status == .notFound)
    }

    private struct Rows: Endpoint {
        struct Output: Decodable, Sendable {
            let rows: [Goods]
            let next: String?
        }
        let path = "/rows"
        let method = HTTPRequest.Method.get
        let options = RequestOptions(headers: ["Authorization": "secret"])
    }

    /// The URL of the next page is in the content, relative or absolute; another origin gets no credentials.
    @Test(
        arguments: [
            ("?page=2", "https://shop.test/rows?page=2", "secret"),
            ("https://shop.test/rows?page=2", "https://shop.test/rows?page=2", "secret"),
            ("https://other.test/rows?page=2", "https://other.test/rows?page=2", nil),
        ] as [(String, String, String?)])
    func nextURL(next: String, url: String, credential: String?) throws {
        let fixture = PagingFixture { request in
            let isFirst = request.parameter("page") == nil
            let rest = isFirst ? #""\#(next)""# : "null"
            return .json(#"{"rows": [{"id": \#(isFirst ? 1 : 2), "name": "a"}], "next": \#(rest)}"#)
        }
        let all = Recorder(
            fixture.client.items(Rows(), .nextURL) { Page($0.rows, nextCursor: $0.next) }, on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2])
        #expect(all.isFinished)
        #expect(fixture.transport.requests.map { $0.url.absoluteString } == ["https://shop.test/rows", url])
        #expect(fixture.transport.requests.last?.headerFields[.authorization] == credential)
    }

    /// A next page that is not an http or https URL is an error.
    @Test(arguments: ["file:///etc/passwd", "data:,a"])
    func badURL(next: String) throws {
        let fixture = PagingFixture { _ in
            .json(#"{"rows": [{"id": 1, "name": "a"}], "next": "\#(next)"}"#)
        }
        let all = Recorder(
            fixture.client.items(Rows(), .nextURL) { Page($0.rows, nextCursor: $0.next) }, on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.count == 1)
        #expect(all.failure?.code == .paging)
    }
}
