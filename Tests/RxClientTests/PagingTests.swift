import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of Docs/Semantics.md, "Paging", driven by signals.
@Suite struct PagingTests {
    @Test("One load in flight. Next while loading: ignored")
    func nextWhileLoading() throws {
        let bench = PagingBench(answer: PagingBench.shop(9))
        let recorder = bench.record()
        bench.next.send()
        try bench.clock.advance(by: .milliseconds(5))
        bench.next.send()
        bench.next.send()
        #expect(bench.transport.runningCount == 1)
        try bench.clock.run()
        #expect(bench.asked == [1])
        #expect(recorder.texts == ["first", "idle 1,2"])
    }

    @Test(
        "Reload while loading: cancels and starts a new epoch; late results of an older epoch are dropped"
    )
    func reloadWhileLoading() throws {
        let bench = PagingBench(answer: PagingBench.shop(9))
        let recorder = bench.record()
        try bench.clock.run()
        bench.next.send()
        try bench.clock.advance(by: .milliseconds(5))
        bench.reload.send()
        #expect(bench.transport.exchanges.map(\.outcome) == [.finished, .cancelled, .running])
        try bench.clock.run()
        #expect(recorder.texts == ["first", "idle 1,2", "more 1,2", "first 1,2", "idle 1,2"])
        #expect(bench.asked == [1, 2, 1])
        #expect(recorder.values.last?.page == 1)
    }

    @Test("Reload replaces the items in one step once the first new page has arrived")
    func reload() throws {
        let names = Script([.goods([1, 2]), .goods([3, 4]), .goods([7, 8], name: "new")])
        let bench = PagingBench { _ in names.next() }
        let recorder = bench.record()
        try bench.clock.run()
        bench.next.send()
        try bench.clock.run()
        bench.reload.send()
        try bench.clock.run()
        #expect(recorder.texts.suffix(3) == ["idle 1,2,3,4", "first 1,2,3,4", "idle 7,8"])
        #expect(recorder.values.last?.page == 1)
    }

    @Test("A failed reload keeps the old items; next then requests the first page again")
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
        #expect(recorder.texts.suffix(2) == ["first 1,2", "idle 7,8"])
        #expect(bench.asked == [1, 1, 1])
    }

    @Test("A failed page keeps items and position; the next `next` signal retries the same page")
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
            recorder.texts == [
                "first", "failed(connect)", "first", "idle 1,2", "more 1,2", "failed(status) 1,2",
                "more 1,2", "failed(decoding) 1,2", "more 1,2", "end 1,2,3",
            ])
        #expect(bench.asked == [1, 1, 2, 2, 2])
    }

    @Test("A changed query through flatMap(.latest) is a new epoch")
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
            recorder.texts == [
                "first", "idle 1,2", "more 1,2", "first", "idle 8,9", "more 8,9", "idle 8,9,8,9",
            ])
        #expect(bench.asked == [1, 2, 1, 2])
        #expect(bench.transport.cancelled.count == 1)
    }

    @Test("Signals sent during a delivery, and a cancel there, are processed in order")
    func reentrant() throws {
        let bench = PagingBench(answer: PagingBench.shop(9))
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

    @Test("A list for another keyword begins empty, or keeps the old items until its first page is there")
    func keepsItems() throws {
        for keeps in [false, true] {
            let bench = PagingBench { request in
                switch request.parameter("keyword") {
                case "tea": .goods([1, 2])
                case "milk": .goods([3, 4])
                default: .failure(.connectionLost)
                }
            }
            let keywords = Signal<String>()
            let lists = keywords.observable.flatMap(.latest) { [client = bench.client, next = bench.next] in
                client.pages(GoodsList(keyword: $0), .numbered(size: 2), next: next)
            }
            let recorder = Recorder(keeps ? lists.keepingItems() : lists, on: bench.clock)
            for keyword in ["tea", "milk", "none"] {
                keywords.send(keyword)
                try bench.clock.run()
            }
            #expect(
                recorder.texts
                    == (keeps
                        ? [
                            "first", "idle 1,2", "first 1,2", "idle 3,4", "first 3,4",
                            "failed(connectionLost) 3,4",
                        ] : ["first", "idle 1,2", "first", "idle 3,4", "first", "failed(connectionLost)"]))
            // The old list's position would be wrong for the new one.
            #expect(recorder.values.last?.position == nil)
        }
    }

    @Test("Two subscribers of a shared list see one list")
    func shared() throws {
        let bench = PagingBench(answer: PagingBench.shop(4))
        let list = bench.client.pages(GoodsList(), .numbered(size: 2), next: bench.next).share(replay: 1)
        let items = Recorder(list.map { $0.items.count }, on: bench.clock)
        try bench.clock.run()
        let phases = Recorder(list.map(\.phase), on: bench.clock)
        bench.next.send()
        try bench.clock.run()
        #expect(items.values == [0, 2, 2, 4])
        #expect(phases.values == [.idle, .loadingMore, .idle])
        #expect(bench.asked == [1, 2])
    }
}
