import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Requests for pages, the end of a list, and the handling of items.
@Suite struct PageRuleTests {
    struct Totals: Sendable, CustomTestStringConvertible {
        var total: Int?
        var totalPages: Int?
        var testDescription: String { "total \(total ?? -9), pages \(totalPages ?? -9)" }
    }

    private struct PostedList: Endpoint {
        typealias Output = [Goods]
        let path = "/goods"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["keyword": "tea", "page": 99]) }
    }

    private struct Missing: Error {}

    private struct Wrapped: Endpoint {
        struct Output: Decodable, Sendable {
            let list: [Goods]
            let total: Int
        }
        let path = "/goods"
        let method = HTTPRequest.Method.get
    }

    /// Subscribing loads the first page, `next` loads the next one; a short page is the last.
    @Test func shortPage() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(5))
        let recorder = fixture.record()
        for _ in 0..<5 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(
            recorder.texts == [
                "first", "idle 1,2", "more 1,2", "idle 1,2,3,4", "more 1,2,3,4", "end 1,2,3,4,5",
            ])
        #expect(recorder.values.map(\.page) == [0, 1, 1, 2, 2, 3])
        #expect(fixture.asked == [1, 2, 3])
        #expect(fixture.transport.requests.map { $0.parameter("pageSize") } == ["2", "2", "2"])
        #expect(recorder.completion == nil)
    }

    /// An empty page is the last, and an empty list is a list.
    @Test(arguments: [0, 4])
    func emptyPage(count: Int) throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(count))
        let recorder = fixture.record()
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.values.last?.phase == .end)
        #expect(recorder.values.last?.items.count == count)
        #expect(fixture.asked.count == count / 2 + 1)
    }

    /// The server's total or total pages determine the end, also with short pages before.
    @Test(arguments: [
        (Totals(total: 3), 2), (Totals(total: 4), 2), (Totals(totalPages: 2), 2), (Totals(total: 0), 1),
        (Totals(totalPages: 0), 1), (Totals(total: -1), 1), (Totals(total: .min), 1),
        (Totals(totalPages: .min), 1), (Totals(total: .max), 4), (Totals(totalPages: .max), 4),
        (Totals(total: 100, totalPages: 3), 3),
    ])
    func totals(totals: Totals, pages: Int) throws {
        let fixture = PagingFixture { request in
            // Three pages of two, then empty ones.
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(page <= 3 ? [2 * page - 1, 2 * page] : [])
        }
        let stream = fixture.client.pages(
            GoodsList(), .numbered(size: 2), next: fixture.next, reload: fixture.reload
        ) { Page($0, total: totals.total, totalPages: totals.totalPages) }
        let recorder = Recorder(stream, on: fixture.clock)
        for _ in 0..<6 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(fixture.asked.count == pages)
        #expect(recorder.values.last?.phase == .end)
        #expect(recorder.values.last?.total == totals.total)
    }

    /// Deduplication by id: the newer value at the older place.
    @Test func dedupe() throws {
        let script = Script([.goods([1, 2, 1], name: "old"), .goods([2, 3], name: "new")])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = fixture.record(options: PagingOptions(identity: { $0.id }))
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.run()
        #expect(
            recorder.values.last?.items == [
                Goods(id: 1, name: "old"), Goods(id: 2, name: "new"), Goods(id: 3, name: "new"),
            ])
    }

    /// Limits: the maximum numbers of pages and items.
    @Test(
        arguments: [
            (2, nil, 2, 4), (nil, 3, 2, 3), (nil, 4, 2, 4), (1, 1, 1, 1), (nil, 0, 0, 0), (0, nil, 0, 0),
            (-1, -1, 0, 0), (.max, .max, 5, 9),
        ] as [(Int?, Int?, Int, Int)])
    func limits(maxPages: Int?, maxItems: Int?, pages: Int, items: Int) throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let recorder = fixture.record(options: PagingOptions(maxPages: maxPages, maxItems: maxItems))
        for _ in 0..<7 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(fixture.asked.count == pages)
        #expect(recorder.values.last?.items.map(\.id) == Array(1..<(items + 1)))
        #expect(recorder.values.last?.phase == .end)

        let all = Recorder(
            fixture.client.items(
                GoodsList(), .numbered(size: 2),
                options: PagingOptions(maxPages: maxPages, maxItems: maxItems)),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == Array(1..<(items + 1)))
        #expect(all.isFinished)
        #expect(fixture.asked.count == 2 * pages)
    }

    /// Names and start of the parameters can be set.
    @Test func names() throws {
        let fixture = PagingFixture { _ in .goods([1, 2]) }
        let recorder = fixture.record(
            .numbered(size: 2, from: 0, pageKey: "p", sizeKey: "n", startKey: "page_start"))
        for _ in 0..<3 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(
            fixture.transport.requests.prefix(3).map(\.url.absoluteString)
                == (0..<3).map {
                    "https://shop.test/goods?n=2&p=\($0)&page_start=\(2 * $0)"
                })
        recorder.cancel()
        #expect(fixture.transport.runningCount == 0)
    }

    /// Page parameters are sent in the query for GET and in the JSON body for POST.
    @Test func inTheBody() throws {
        let fixture = PagingFixture { _ in .goods([1]) }
        fixture.client.pages(PostedList(), .numbered(size: 2), next: fixture.next).subscribe()
        fixture.client.pages(GoodsList(keyword: "a b"), .numbered(size: 2), next: fixture.next).subscribe()
        try fixture.clock.run()
        #expect(
            fixture.transport.requests.map(\.url.absoluteString) == [
                "https://shop.test/goods", "https://shop.test/goods?keyword=a%20b&page=1&pageSize=2",
            ])
        guard case .bytes(let body) = fixture.transport.requests[0].body else { throw Missing() }
        #expect(String(decoding: body, as: UTF8.self) == #"{"keyword":"tea","page":1,"pageSize":2}"#)
    }

    /// The endpoint selects the list in the content; if that throws, the page fails.
    @Test func content() throws {
        let fixture = PagingFixture { _ in .json(#"{"list": [{"id": 1, "name": "tea"}], "total": 1}"#) }
        let recorder = Recorder(
            fixture.client.pages(Wrapped(), .numbered(size: 1), next: fixture.next) { output in
                Page(output.list, total: output.total)
            }, on: fixture.clock)
        let failing = Recorder(
            fixture.client.pages(Wrapped(), .numbered(size: 1), next: fixture.next) {
                _ throws(NetworkError) -> Page<Goods> in
                throw NetworkError(.noContent, "nothing here")
            }, on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.texts == ["first", "end 1"])
        #expect(recorder.values.last?.total == 1)
        #expect(failing.texts == ["first", "failed(noContent)"])
    }
}
