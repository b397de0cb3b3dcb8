import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of SEMANTICS "Paging", driven by signals.
@Suite struct PagingTests {
    /// Pages of two, `count` in all.
    private static func shop(_ count: Int) -> @Sendable (Request) -> ScriptedTransport.Answer {
        { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(Array((2 * page - 1)...(2 * page)).filter { $0 <= count })
        }
    }

    private func texts(_ recorder: Recorder<PagingState<Goods>, Never>) -> [String] {
        recorder.values.map(\.text)
    }

    @Test("Subscribing loads the first page, next the next; a short page is the last")
    func shortPage() throws {
        let bench = PagingBench(answer: Self.shop(5))
        let recorder = bench.record()
        for _ in 0..<5 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(
            texts(recorder) == [
                "first", "idle 1,2", "more 1,2", "idle 1,2,3,4", "more 1,2,3,4", "end 1,2,3,4,5",
            ])
        #expect(recorder.values.map(\.page) == [0, 1, 1, 2, 2, 3])
        #expect(bench.asked == [1, 2, 3])
        #expect(bench.transport.requests.map { $0.parameter("pageSize") } == ["2", "2", "2"])
        #expect(recorder.completion == nil)
    }

    @Test("An empty page is the last, and an empty list is a list", arguments: [0, 4])
    func emptyPage(count: Int) throws {
        let bench = PagingBench(answer: Self.shop(count))
        let recorder = bench.record()
        for _ in 0..<4 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(recorder.values.last?.phase == .end)
        #expect(recorder.values.last?.items.count == count)
        #expect(bench.asked.count == count / 2 + 1)
    }

    @Test(
        "End by total or by total pages where the server tells, also with short pages before",
        arguments: [
            (Totals(total: 3), 2), (Totals(total: 4), 2), (Totals(totalPages: 2), 2), (Totals(total: 0), 1),
            (Totals(totalPages: 0), 1), (Totals(total: -1), 1), (Totals(total: .min), 1),
            (Totals(totalPages: .min), 1), (Totals(total: .max), 4), (Totals(totalPages: .max), 4),
            (Totals(total: 100, totalPages: 3), 3),
        ])
    func totals(totals: Totals, pages: Int) throws {
        let bench = PagingBench { request in
            // Three pages of two, then empty ones.
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(page <= 3 ? [2 * page - 1, 2 * page] : [])
        }
        let stream = bench.client.pages(
            GoodsList(), .numbered(size: 2), next: bench.next, reload: bench.reload
        ) { Page($0, total: totals.total, totalPages: totals.totalPages) }
        let recorder = Recorder(stream, on: bench.clock)
        for _ in 0..<6 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(bench.asked.count == pages)
        #expect(recorder.values.last?.phase == .end)
        #expect(recorder.values.last?.total == totals.total)
    }

    struct Totals: Sendable, CustomTestStringConvertible {
        var total: Int?
        var totalPages: Int?
        var testDescription: String { "total \(total ?? -9), pages \(totalPages ?? -9)" }
    }

    @Test("One load in flight. Next while loading: ignored")
    func nextWhileLoading() throws {
        let bench = PagingBench(answer: Self.shop(9))
        let recorder = bench.record()
        bench.next.send()
        try bench.clock.advance(by: .milliseconds(5))
        bench.next.send()
        bench.next.send()
        #expect(bench.transport.runningCount == 1)
        try bench.clock.run()
        #expect(bench.asked == [1])
        #expect(texts(recorder) == ["first", "idle 1,2"])
    }

    @Test(
        "Reload while loading: cancels, starts a new epoch; whatever of an older epoch arrives late is dropped"
    )
    func reloadWhileLoading() throws {
        let bench = PagingBench(answer: Self.shop(9))
        let recorder = bench.record()
        try bench.clock.run()
        bench.next.send()
        try bench.clock.advance(by: .milliseconds(5))
        bench.reload.send()
        #expect(bench.transport.exchanges.map(\.outcome) == [.finished, .cancelled, .running])
        try bench.clock.run()
        #expect(texts(recorder) == ["first", "idle 1,2", "more 1,2", "first 1,2", "idle 1,2"])
        #expect(bench.asked == [1, 2, 1])
        #expect(recorder.values.last?.page == 1)
    }

    @Test("Reload replaces the items in one step when the first new page is there, not before")
    func reload() throws {
        let names = Script([.goods([1, 2]), .goods([3, 4]), .goods([7, 8], name: "new")])
        let bench = PagingBench { _ in names.next() }
        let recorder = bench.record()
        try bench.clock.run()
        bench.next.send()
        try bench.clock.run()
        bench.reload.send()
        try bench.clock.run()
        #expect(texts(recorder).suffix(3) == ["idle 1,2,3,4", "first 1,2,3,4", "idle 7,8"])
        #expect(recorder.values.last?.page == 1)
    }

    @Test("A reload that fails keeps the old items; next then tries the first page again")
    func reloadFails() throws {
        let script = Script([.goods([1, 2]), .failure(.connectionLost), .goods([7, 8])])
        let bench = PagingBench { _ in script.next() }
        let recorder = bench.record()
        try bench.clock.run()
        bench.reload.send()
        try bench.clock.run()
        #expect(recorder.values.last?.text == "failed(connectionLost) 1,2")
        #expect(recorder.values.last?.page == 1)
        bench.next.send()
        try bench.clock.run()
        #expect(texts(recorder).suffix(2) == ["first 1,2", "idle 7,8"])
        #expect(bench.asked == [1, 1, 1])
    }

    @Test("A failed page keeps items and position; the next next signal tries the same page again")
    func failedPage() throws {
        let script = Script([
            .failure(.connect), .goods([1, 2]), .status(.badGateway), .json("no list"), .goods([3]),
        ])
        let bench = PagingBench { _ in script.next() }
        let recorder = bench.record()
        for _ in 0..<5 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(
            texts(recorder) == [
                "first", "failed(connect)", "first", "idle 1,2", "more 1,2", "failed(status) 1,2",
                "more 1,2", "failed(decoding) 1,2", "more 1,2", "end 1,2,3",
            ])
        #expect(bench.asked == [1, 1, 2, 2, 2])
    }

    @Test("Dedupe by id: newer value, older place")
    func dedupe() throws {
        let script = Script([.goods([1, 2, 1], name: "old"), .goods([2, 3], name: "new")])
        let bench = PagingBench { _ in script.next() }
        let recorder = bench.record(options: PagingOptions(identity: { $0.id }))
        try bench.clock.run()
        bench.next.send()
        try bench.clock.run()
        #expect(
            recorder.values.last?.items == [
                Goods(id: 1, name: "old"), Goods(id: 2, name: "new"), Goods(id: 3, name: "new"),
            ])
    }

    @Test(
        "Limits: most pages, most items",
        arguments: [
            (2, nil, 2, 4), (nil, 3, 2, 3), (nil, 4, 2, 4), (1, 1, 1, 1), (nil, 0, 0, 0), (0, nil, 0, 0),
            (-1, -1, 0, 0), (.max, .max, 5, 9),
        ] as [(Int?, Int?, Int, Int)])
    func limits(maxPages: Int?, maxItems: Int?, pages: Int, items: Int) throws {
        let bench = PagingBench(answer: Self.shop(9))
        let recorder = bench.record(options: PagingOptions(maxPages: maxPages, maxItems: maxItems))
        for _ in 0..<7 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(bench.asked.count == pages)
        #expect(recorder.values.last?.items.map(\.id) == Array(1..<(items + 1)))
        #expect(recorder.values.last?.phase == .end)

        let all = Recorder(
            bench.client.items(
                GoodsList(), .numbered(size: 2),
                options: PagingOptions(maxPages: maxPages, maxItems: maxItems)),
            on: bench.clock)
        try bench.clock.run()
        #expect(all.values.map(\.id) == Array(1..<(items + 1)))
        #expect(all.isFinished)
        #expect(bench.asked.count == 2 * pages)
    }

    @Test("Names and start of the parameters can be chosen")
    func names() throws {
        let bench = PagingBench { _ in .goods([1, 2]) }
        let recorder = bench.record(
            .numbered(size: 2, from: 0, pageKey: "p", sizeKey: "n", startKey: "page_start"))
        for _ in 0..<3 {
            try bench.clock.run()
            bench.next.send()
        }
        #expect(
            bench.transport.requests.prefix(3).map(\.url.absoluteString)
                == (0..<3).map {
                    "https://shop.test/goods?n=2&p=\($0)&page_start=\(2 * $0)"
                })
        recorder.cancel()
        #expect(bench.transport.runningCount == 0)
    }

    private struct PostedList: Endpoint {
        typealias Output = [Goods]
        let path = "/goods"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["keyword": "tea", "page": 99]) }
    }

    @Test("Page parameters travel in the query for GET and in the JSON body for POST")
    func inTheBody() throws {
        let bench = PagingBench { _ in .goods([1]) }
        bench.client.pages(PostedList(), .numbered(size: 2), next: bench.next).subscribe()
        bench.client.pages(GoodsList(keyword: "a b"), .numbered(size: 2), next: bench.next).subscribe()
        try bench.clock.run()
        #expect(
            bench.transport.requests.map(\.url.absoluteString) == [
                "https://shop.test/goods", "https://shop.test/goods?keyword=a%20b&page=1&pageSize=2",
            ])
        guard case .bytes(let body) = bench.transport.requests[0].body else { throw Missing() }
        #expect(String(decoding: body, as: UTF8.self) == #"{"keyword":"tea","page":1,"pageSize":2}"#)
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

    @Test("The endpoint says where the list is; a place that throws is a failed page")
    func content() throws {
        let bench = PagingBench { _ in .json(#"{"list": [{"id": 1, "name": "tea"}], "total": 1}"#) }
        let recorder = Recorder(
            bench.client.pages(Wrapped(), .numbered(size: 1), next: bench.next) { output in
                Page(output.list, total: output.total)
            }, on: bench.clock)
        let failing = Recorder(
            bench.client.pages(Wrapped(), .numbered(size: 1), next: bench.next) {
                _ throws(NetworkError) -> Page<Goods> in
                throw NetworkError(.noContent, "nothing here")
            }, on: bench.clock)
        try bench.clock.run()
        #expect(texts(recorder) == ["first", "end 1"])
        #expect(recorder.values.last?.total == 1)
        #expect(texts(failing) == ["first", "failed(noContent)"])
    }

    @Test("Change of query through flatMap(.latest) is a new epoch")
    func changeOfQuery() throws {
        let bench = PagingBench { request in
            .goods(request.parameter("keyword") == "tea" ? [1, 2] : [8, 9])
        }
        let query = Signal<String>()
        let stream = Observable<String, Never>(scheduler: bench.clock) { query.observable.subscribe($0) }
            .flatMap(.latest) { keyword in
                bench.client.pages(
                    GoodsList(keyword: keyword), .numbered(size: 2), next: bench.next, reload: bench.reload)
            }
        let recorder = Recorder(stream, on: bench.clock)
        query.send("tea")
        try bench.clock.run()
        bench.next.send()
        try bench.clock.advance(by: .milliseconds(5))
        query.send("milk")
        try bench.clock.run()
        bench.next.send()
        try bench.clock.run()
        #expect(
            texts(recorder) == [
                "first", "idle 1,2", "more 1,2", "first", "idle 8,9", "more 8,9", "idle 8,9,8,9",
            ])
        #expect(bench.asked == [1, 2, 1, 2])
        #expect(bench.transport.cancelled.count == 1)
    }

    @Test("Signals sent from within a delivery, and a cancel there, are taken in order")
    func reentrant() throws {
        let bench = PagingBench(answer: Self.shop(9))
        let seen = Mutex<[String]>([])
        let subscription = Box<Subscription>()
        subscription.value = bench.client
            .pages(GoodsList(), .numbered(size: 2), next: bench.next, reload: bench.reload)
            .subscribe(onNext: { state in
                seen.withLock { $0.append(state.text) }
                bench.next.send()
                if state.items.count == 6 { subscription.value?.cancel() }
            })
        try bench.clock.run()
        #expect(
            seen.withLock { $0 } == [
                "first", "idle 1,2", "more 1,2", "idle 1,2,3,4", "more 1,2,3,4", "idle 1,2,3,4,5,6",
            ])
        #expect(bench.asked == [1, 2, 3])
        #expect(bench.transport.runningCount == 0)
    }
}
