import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Lists of random rules, caps, totals, windows and starts are contiguous, and reach both ends.
@Suite struct PagingModelTests {
    /// A server with the numbers 1 to `count`, which sends at most `cap` a page.
    struct Shop: Sendable, CustomTestStringConvertible {
        enum Division: CaseIterable, Sendable { case numbered, numberedFrom, offset, cursor }

        var division: Division
        var count: Int
        var size: Int
        var cap: Int
        var sendsTotal: Bool
        /// Whether pages without items stand between those with some; only cursors lead over them.
        var hasGaps: Bool
        var window: Int?
        var ahead: Int
        /// The page that the list begins with.
        var start: Int

        init(seed: UInt64) {
            var random = SeededRandom(seed)
            division = Division.allCases.randomElement(using: &random)!
            count = .random(in: 0...23, using: &random)
            size = .random(in: 1...6, using: &random)
            cap = .random(in: 1...6, using: &random)
            sendsTotal = .random(using: &random)
            hasGaps = .random(using: &random)
            window = Bool.random(using: &random) ? .random(in: 1...3, using: &random) : nil
            ahead = .random(in: 0...2, using: &random)
            start = .random(in: 0...max(0, (count - 1) / min(size, cap)), using: &random)
        }

        var pageSize: Int { min(size, cap) }
        var testDescription: String {
            "\(division) count \(count) size \(size) cap \(cap) total \(sendsTotal) gaps \(hasGaps) window \(window ?? 0) start \(start)"
        }

        var rule: PagingRule {
            switch division {
            // Some servers send nothing that tells a short page from the last one.
            case .numbered: .numbered(size: size)
            case .numberedFrom: .numbered(size: size, startKey: "from")
            case .offset: .offset(size: size)
            case .cursor: .cursor(size: size)
            }
        }

        var position: PagePosition? {
            guard start > 0 else { return nil }
            return switch division {
            case .numbered: .number(start + 1)
            case .numberedFrom: .page(start + 1, start: start * pageSize)
            case .offset: .offset(start * pageSize)
            case .cursor: .cursor("\(start * pageSize)")
            }
        }

        /// The page at a position, as the server sends it.
        func page(_ page: (position: PagePosition?, parameters: Parameters.Values)) -> Page<Int> {
            let parameters = page.parameters
            func parameter(_ name: String) -> Int? {
                guard let value = parameters[name] else { return nil }
                return Int("\(value ?? "")")
            }
            var first = 0
            var limit = pageSize
            switch division {
            case .numbered: first = (parameter("page")! - 1) * pageSize
            case .numberedFrom: first = parameter("from")!
            case .offset:
                first = parameter("offset")!
                limit = min(parameter("limit")!, cap)
            case .cursor:
                let text = parameters["cursor"].map { "\($0 ?? "")" } ?? "0"
                if text.hasPrefix("gap") {
                    return Page([], nextCursor: String(text.dropFirst(3)))
                }
                first = Int(text)!
            }
            let items = Array((1...max(1, count)).prefix(count).dropFirst(first).prefix(limit))
            var page = Page(items, total: sendsTotal && division != .cursor ? count : nil)
            if division == .cursor {
                let next = first + limit
                if next < count { page.nextCursor = hasGaps ? "gap\(next)" : "\(next)" }
                if first > 0 { page.previousCursor = "\(max(0, first - limit))" }
            }
            return page
        }
    }

    @Test func listsThatGoBothWays() throws {
        for seed in 0..<UInt64(400) {
            let shop = Shop(seed: seed), clock = VirtualScheduler()
            var random = SeededRandom(seed)
            let commands = Signal<PagingCommand>()
            let recorder = Recorder(
                commands.observable.accumulatePages(
                    shop.rule, options: PagingOptions<Int>(window: shop.window, start: shop.position)
                ) { .just(shop.page($0)) }, on: clock)
            try clock.run()
            func send(_ command: PagingCommand) throws {
                commands.send(command)
                try clock.run()
                let state = try #require(recorder.values.last)
                #expect(state.phase.error == nil, "seed \(seed): \(shop.testDescription)")
                if let first = state.items.first {
                    let expected = Array(first..<first + state.items.count)
                    #expect(state.items == expected, "seed \(seed): \(shop.testDescription)")
                }
            }
            for _ in 0..<12 { try send(Bool.random(using: &random) ? .next : .previous) }
            for _ in 0..<60 { try send(.previous) }
            let atStart = try #require(recorder.values.last)
            #expect(
                atStart.items.first == (shop.count == 0 ? nil : 1), "seed \(seed): \(shop.testDescription)")
            #expect(!atStart.hasPrevious, "seed \(seed): \(shop.testDescription)")
            for _ in 0..<60 { try send(.next) }
            let atEnd = try #require(recorder.values.last)
            #expect(atEnd.phase == .end, "seed \(seed): \(shop.testDescription)")
            #expect(
                atEnd.items.last == (shop.count == 0 ? nil : shop.count),
                "seed \(seed): \(shop.testDescription)")
            if let window = shop.window { #expect(atEnd.items.count <= window * shop.size) }
            recorder.cancel()
        }
    }

    @Test func allItemsFromAnyStart() throws {
        for seed in 0..<UInt64(400) {
            let shop = Shop(seed: seed), clock = VirtualScheduler()
            let recorder = Recorder(
                Observable<Int, NetworkError>.items(
                    shop.rule,
                    options: PagingOptions(window: shop.window, ahead: shop.ahead, start: shop.position)
                ) { .just(shop.page($0)) }, on: clock)
            try clock.run()
            let expected = Array(
                (1...max(1, shop.count)).prefix(shop.count).dropFirst(shop.start * shop.pageSize))
            #expect(recorder.values == expected, "seed \(seed): \(shop.testDescription)")
            #expect(recorder.failure == nil)
        }
    }

    /// The number in a cursor; 0 for none.
    private static func number(at position: PagePosition?) -> Int {
        if case .cursor(let text) = position { Int(text) ?? 0 } else { 0 }
    }

    /// A circle of any length is an error that names the page, also within a window.
    @Test(arguments: [1, 2, 7, 40])
    func circles(length: Int) throws {
        for window in [nil, 1, 3] {
            let clock = VirtualScheduler(), commands = Signal<PagingCommand>()
            let recorder = Recorder(
                commands.observable.accumulatePages(
                    .cursor(), options: PagingOptions<Int>(window: window)
                ) { page in
                    let here = Self.number(at: page.position)
                    return .just(Page([here], nextCursor: "\(here == length ? 1 : here + 1)"))
                }, on: clock)
            try clock.run()
            for _ in 0..<100 { commands.send(.next) }
            try clock.run()
            let error = try #require(recorder.values.last?.phase.error)
            #expect(error.code == .paging)
            #expect(error.message.contains("page \(length + 1) of the list names page 2"))
            #expect(recorder.values.last?.page == length + 1)
        }
    }

    /// Empty pages that name a next one are passed over, up to a limit.
    @Test func emptyPages() throws {
        for (count, limit) in [(0, 1), (99, 100), (100, 100), (3, 3)] {
            let clock = VirtualScheduler()
            let all = Recorder(
                Observable<Int, NetworkError>.items(
                    .cursor(), options: PagingOptions(maxEmptyPages: limit)
                ) { page in
                    let here = Self.number(at: page.position)
                    return .just(here < count ? Page([], nextCursor: "\(here + 1)") : Page([7]))
                }, on: clock)
            try clock.run()
            #expect(all.values == (count < limit ? [7] : []))
            #expect(all.failure?.code == (count < limit ? nil : .paging))
        }
    }

    /// An empty last page takes no place in the window.
    @Test func emptyLastPage() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(4))
        let recorder = fixture.record(options: PagingOptions(window: 1))
        for _ in 0..<4 {
            try fixture.clock.run()
            fixture.next.send()
        }
        #expect(recorder.texts.last == "end 3,4")
    }
}
