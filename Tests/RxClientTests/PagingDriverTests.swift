import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// Paging by commands: prefetching near the visible items, going back, windows, saved positions.
@Suite struct PagingDriverTests {
    private let commands = Signal<PagingCommand>()

    private func record(
        _ fixture: PagingFixture, _ rule: PagingRule = .numbered(size: 2),
        _ options: PagingOptions<Goods> = PagingOptions()
    ) -> Recorder<PagingState<Goods>, Never> {
        Recorder(
            fixture.client.pages(GoodsList(), rule, options: options, on: commands.observable),
            on: fixture.clock)
    }

    /// Visible items near the end load the next page; they still count after a page has loaded.
    @Test func visible() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(20))
        let recorder = record(fixture, .numbered(size: 2), PagingOptions(prefetchDistance: 3))
        commands.send(.visible(0))
        try fixture.clock.run()
        // Item 0 is within 3 of the end of two items, and not of four.
        #expect(fixture.asked == [1, 2])
        commands.send(.visible(0))
        try fixture.clock.run()
        #expect(fixture.asked == [1, 2])
        commands.send(.visible(7))
        try fixture.clock.run()
        #expect(fixture.asked == [1, 2, 3, 4, 5, 6])
        #expect(recorder.values.last?.items.count == 12)
        commands.send(.reload)
        try fixture.clock.run()
        #expect(fixture.asked.suffix(1) == [1])
        commands.send(.visible(.max))
        try fixture.clock.run()
        #expect(recorder.values.last?.phase == .end)
        #expect(recorder.values.last?.items.count == 20)
    }

    /// A failure is not retried by items that were visible before it.
    @Test func visibleFailure() throws {
        let script = Script([.goods([1, 2]), .failure(.connect), .goods([3])])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = record(fixture)
        commands.send(.visible(0))
        try fixture.clock.run()
        #expect(recorder.texts == ["first", "idle 1,2", "more 1,2", "failed(connect) 1,2"])
        commands.send(.visible(1))
        try fixture.clock.run()
        #expect(recorder.texts.last == "end 1,2,3")
    }

    /// Any stream can drive the list; when the stream ends, the list stays.
    @Test func anyStream() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let ticks = Observable<Int, Never>.interval(.milliseconds(20), on: fixture.clock).take(2)
        let recorder = Recorder(
            fixture.client.pages(GoodsList(), .numbered(size: 2), on: ticks.map { _ in .next }),
            on: fixture.clock
        )
        try fixture.clock.run()
        #expect(recorder.texts.last == "idle 1,2,3,4,5,6")
        #expect(recorder.completion == nil)
    }

    /// A command sent before the first page finds it loading.
    @Test(arguments: [
        (PagingCommand.next, [1]), (.previous, [1]), (.visible(2), [1, 2]), (.reload, [1, 1]),
    ])
    func commandAtTheStart(command: PagingCommand, asked: [Int]) throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(9))
        let recorder = Recorder(
            fixture.client.pages(
                GoodsList(), .numbered(size: 2), options: PagingOptions(prefetchDistance: 1),
                on: .just(command)),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.asked == asked)
        #expect(
            recorder.texts.last == "idle " + (1...(2 * asked.max()!)).map { "\($0)" }.joined(separator: ","))
    }

    /// From a saved position the list continues in both directions, with the right total.
    @Test(arguments: [PagingRule.numbered(size: 2), .offset(size: 2)])
    func resume(rule: PagingRule) throws {
        let fixture = PagingFixture { request in
            let offset =
                request.parameter("offset").flatMap { Int($0) }
                ?? 2 * ((request.parameter("page").flatMap { Int($0) } ?? 0) - 1)
            return .goods(Array((offset + 1)...(offset + 2)).filter { $0 <= 7 })
        }
        let content: @Sendable ([Goods]) throws(NetworkError) -> Page<Goods> = { Page($0, total: 7) }
        let first = Recorder(
            fixture.client.pages(GoodsList(), rule, on: commands.observable, content: content),
            on: fixture.clock)
        try fixture.clock.run()
        commands.send(.next)
        try fixture.clock.run()
        let saved = try JSONEncoder().encode(first.values.last?.position)
        first.cancel()

        var options = PagingOptions<Goods>()
        options.start = try JSONDecoder().decode(PagePosition.self, from: saved)
        let second = Recorder(
            fixture.client.pages(
                GoodsList(), rule, options: options, on: commands.observable, content: content),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(second.texts.last == "idle 5,6")
        #expect(second.values.last?.hasPrevious == true)
        for command in [PagingCommand.previous, .next, .previous, .previous, .next] {
            commands.send(command)
            try fixture.clock.run()
        }
        #expect(second.texts.last == "end 1,2,3,4,5,6,7")
        #expect(second.values.last?.hasPrevious == false)
        #expect(second.texts.contains("previous 5,6"))
        #expect(second.values.last?.position == nil)
    }

    /// A window drops the page at the other end, which is loaded again by going back.
    @Test(arguments: [false, true])
    func window(deduplicates: Bool) throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(8))
        var options = PagingOptions<Goods>(window: 2)
        if deduplicates { options.identity = { $0.id } }
        let recorder = record(fixture, .numbered(size: 2), options)
        try fixture.clock.run()
        var lists: [String] = []
        for command in [PagingCommand.next, .next, .previous, .next, .next, .next, .next, .previous] {
            commands.send(command)
            try fixture.clock.run()
            lists.append(recorder.texts.last ?? "")
        }
        #expect(
            lists == [
                "idle 1,2,3,4", "idle 3,4,5,6", "idle 1,2,3,4", "idle 3,4,5,6", "idle 5,6,7,8",
                "end 5,6,7,8", "end 5,6,7,8", "idle 3,4,5,6",
            ])
    }

    /// A failed previous page keeps the list and is retried.
    @Test func previousFails() throws {
        let script = Script([.goods([3, 4]), .failure(.connect), .goods([1, 2])])
        let fixture = PagingFixture { _ in script.next() }
        let recorder = record(fixture, .numbered(size: 2), PagingOptions(start: .number(2)))
        try fixture.clock.run()
        for _ in 0..<2 {
            commands.send(.previous)
            commands.send(.next)
            try fixture.clock.run()
        }
        #expect(
            recorder.texts == [
                "first", "idle 3,4", "previous 3,4", "failed(connect) 3,4", "previous 3,4", "idle 1,2,3,4",
            ])
    }

    /// Manipulated positions never trap.
    @Test(arguments: [Int.min, -1, .max])
    func wildPositions(number: Int) throws {
        for (rule, start) in [
            (PagingRule.numbered(size: 2), PagePosition.number(number)), (.offset(size: 2), .offset(number)),
            (.numbered(size: .max), .number(number)), (.numbered(size: 2), .cursor("x")),
            (.cursor(size: 2), .number(number)),
        ] {
            let fixture = PagingFixture { _ in .goods([1, 2]) }
            let recorder = record(fixture, rule, PagingOptions(start: start))
            for command in [PagingCommand.previous, .next, .next] {
                try fixture.clock.run()
                commands.send(command)
            }
            #expect(recorder.values.last?.items.isEmpty == false)
            recorder.cancel()
        }
    }
}
