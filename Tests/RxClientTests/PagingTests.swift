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
    /// One load in flight. Next while loading: ignored.
    @Test func nextWhileLoading() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let recorder = fixture.record()
        fixture.next.send()
        try fixture.clock.advance(by: .milliseconds(5))
        fixture.next.send()
        fixture.next.send()
        #expect(fixture.transport.runningCount == 1)
        try fixture.clock.run()
        #expect(fixture.asked == [1])
        #expect(recorder.texts == ["first", "idle 1,2"])
    }

    /// Reload while loading: cancels and starts a new epoch; late results of an older epoch are dropped.
    @Test func reloadWhileLoading() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let recorder = fixture.record()
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.advance(by: .milliseconds(5))
        fixture.reload.send()
        #expect(fixture.transport.exchanges.map(\.outcome) == [.finished, .cancelled, .running])
        try fixture.clock.run()
        #expect(recorder.texts == ["first", "idle 1,2", "more 1,2", "first 1,2", "idle 1,2"])
        #expect(fixture.asked == [1, 2, 1])
        #expect(recorder.values.last?.page == 1)
    }

    /// Reload replaces the items in one step once the first new page has arrived.
    @Test func reload() throws {
        let names = Script([.goods([1, 2]), .goods([3, 4]), .goods([7, 8], name: "new")])
        let fixture = PagingFixture { _ in names.next() }
        let recorder = fixture.record()
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.run()
        fixture.reload.send()
        try fixture.clock.run()
        #expect(recorder.texts.suffix(3) == ["idle 1,2,3,4", "first 1,2,3,4", "idle 7,8"])
        #expect(recorder.values.last?.page == 1)
    }

    /// A failed reload keeps the old items; next then requests the first page again.
    @Test func reloadFails() throws {
        let script = Script([.goods([1, 2]), .failure(.connectionLost), .goods([7, 8])])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = fixture.record()
        try fixture.clock.run()
        fixture.reload.send()
        try fixture.clock.run()
        #expect(recorder.values.last?.text == "failed(connectionLost) 1,2")
        #expect(recorder.values.last?.page == 1)
        fixture.next.send()
        try fixture.clock.run()
        #expect(recorder.texts.suffix(2) == ["first 1,2", "idle 7,8"])
        #expect(fixture.asked == [1, 1, 1])
    }

    /// A failed page keeps items and position; the next `next` signal retries the same page.
    @Test func failedPage() throws {
        let script = Script([
            .failure(.connect), .goods([1, 2]), .status(.badGateway), .json("no list"), .goods([3]),
        ])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = fixture.record()
        for _ in 0..<5 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(
            recorder.texts == [
                "first", "failed(connect)", "first", "idle 1,2", "more 1,2", "failed(status) 1,2",
                "more 1,2", "failed(decoding) 1,2", "more 1,2", "end 1,2,3",
            ])
        #expect(fixture.asked == [1, 1, 2, 2, 2])
    }

    /// A changed query through flatMap(.latest) is a new epoch.
    @Test func changeOfQuery() throws {
        let fixture = PagingFixture { request in
            .goods(request.parameter("keyword") == "tea" ? [1, 2] : [8, 9])
        }
        let query = Signal<String>()
        let stream = Observable<String, Never>(scheduler: fixture.clock) { query.observable.subscribe($0) }
            .flatMap(.latest) { keyword in
                fixture.client.pages(
                    GoodsList(keyword: keyword), .numbered(size: 2), next: fixture.next,
                    reload: fixture.reload)
            }
        let recorder = Recorder(stream, on: fixture.clock)
        query.send("tea")
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.advance(by: .milliseconds(5))
        query.send("milk")
        try fixture.clock.run()
        fixture.next.send()
        try fixture.clock.run()
        #expect(
            recorder.texts == [
                "first", "idle 1,2", "more 1,2", "first", "idle 8,9", "more 8,9", "idle 8,9,8,9",
            ])
        #expect(fixture.asked == [1, 2, 1, 2])
        #expect(fixture.transport.cancelled.count == 1)
    }

    /// Signals sent during a delivery, and a cancel there, are processed in order.
    @Test func reentrant() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let seen = Mutex<[String]>([])
        let subscription = Box<Subscription>()
        subscription.value = fixture.client
            .pages(GoodsList(), .numbered(size: 2), next: fixture.next, reload: fixture.reload)
            .subscribe(onNext: { state in
                seen.withLock { $0.append(state.text) }
                fixture.next.send()
                if state.items.count == 6 { subscription.value?.cancel() }
            })
        try fixture.clock.run()
        #expect(
            seen.withLock { $0 } == [
                "first", "idle 1,2", "more 1,2", "idle 1,2,3,4", "more 1,2,3,4", "idle 1,2,3,4,5,6",
            ])
        #expect(fixture.asked == [1, 2, 3])
        #expect(fixture.transport.runningCount == 0)
    }

    /// A list for another keyword begins empty, or keeps the old items until its first page is there.
    @Test func keepsItems() throws {
        for keeps in [false, true] {
            let fixture = PagingFixture { request in
                switch request.parameter("keyword") {
                case "tea": .goods([1, 2])
                case "milk": .goods([3, 4])
                default: .failure(.connectionLost)
                }
            }
            let keywords = Signal<String>()
            let lists = keywords.observable.flatMap(.latest) {
                [client = fixture.client, next = fixture.next] in
                client.pages(GoodsList(keyword: $0), .numbered(size: 2), next: next)
            }
            let recorder = Recorder(keeps ? lists.keepingItems() : lists, on: fixture.clock)
            for keyword in ["tea", "milk", "none"] {
                keywords.send(keyword)
                try fixture.clock.run()
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

    /// Two subscribers of a shared list see one list.
    @Test func shared() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(4))
        let list = fixture.client.pages(GoodsList(), .numbered(size: 2), next: fixture.next).share(replay: 1)
        let items = Recorder(list.map { $0.items.count }, on: fixture.clock)
        try fixture.clock.run()
        let phases = Recorder(list.map(\.phase), on: fixture.clock)
        fixture.next.send()
        try fixture.clock.run()
        #expect(items.values == [0, 2, 2, 4])
        #expect(phases.values == [.idle, .loadingMore, .idle])
        #expect(fixture.asked == [1, 2])
    }
}
