import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Pages that come from neither a client nor a response.
@Suite struct PageSourceTests {
    /// Numbers from 1 on in a table, and the requested ranges.
    private final class Table: Sendable {
        private let count: Int
        private let failing: Mutex<Set<PagePosition>>
        private let log = Mutex<[PagePosition]>([])

        init(_ count: Int, failingOnceAt failing: Set<PagePosition> = []) {
            self.count = count
            self.failing = Mutex(failing)
        }

        var asked: [PagePosition] { log.withLock { $0 } }

        @Sendable
        func page(_ page: (position: PagePosition?, parameters: Parameters.Values)) -> Observable<
            Page<Int>, NetworkError
        > {
            .deferred { () throws(NetworkError) in
                let position = page.position ?? .cursor("")
                self.log.withLock { $0.append(position) }
                if self.failing.withLock({ $0.remove(position) }) != nil {
                    throw NetworkError(.file, "locked")
                }
                let start =
                    switch position {
                    case .number(let number): 4 * (number - 1)
                    case .page(_, let start): start
                    case .offset(let offset): offset
                    case .cursor(let cursor): Int(cursor) ?? 0
                    case .link: 0
                    }
                let items = Array((1...self.count).dropFirst(start).prefix(4))
                let next = start + items.count < self.count ? "\(start + items.count)" : nil
                return .just(Page(items, total: self.count, nextCursor: next))
            }
        }
    }

    @Test(arguments: [PagingRule.numbered(size: 4), .offset(size: 4), .cursor(size: 4)])
    func commandsAccumulatePages(rule: PagingRule) throws {
        let table = Table(10)
        let commands = Signal<PagingCommand>()
        let recorder = Recorder(
            commands.observable.accumulatePages(rule, loading: table.page), on: VirtualScheduler())
        #expect(recorder.values.map(\.phase) == [.loadingFirst, .idle])
        commands.send(.next)
        commands.send(.next)
        #expect(recorder.values.last?.items == Array(1...10))
        #expect(recorder.values.last?.phase == .end)
        commands.send(.next)
        #expect(table.asked.count == 3)
        commands.send(.reload)
        #expect(recorder.values.last?.items == Array(1...4))
        #expect(recorder.completion == nil)
    }

    @Test func aFailedPageIsAskedForAgain() throws {
        let table = Table(10, failingOnceAt: [.offset(4)])
        let states = Observable<PagingCommand, Never>.sequence([.next, .next, .next])
            .accumulatePages(.offset(size: 4), loading: table.page)
        let recorder = Recorder(states, on: VirtualScheduler())
        #expect(recorder.values.compactMap(\.phase.error?.code) == [.file])
        #expect(recorder.values.last?.items == Array(1...10))
        #expect(table.asked == [.offset(0), .offset(4), .offset(4), .offset(8)])
    }

    @Test func itRunsOnTheSchedulerThatIsGiven() throws {
        let clock = VirtualScheduler()
        let recorder = Recorder(
            Observable<PagingCommand, Never>.just(.next)
                .accumulatePages(.offset(size: 4), on: clock) { request in
                    Table(10).page(request).delay(.milliseconds(10), on: clock)
                }, on: clock)
        try clock.run()
        #expect(recorder.values.map(\.phase) == [.loadingFirst, .idle])
        #expect(clock.now == .milliseconds(10))
    }

    @Test(arguments: [0, 2])
    func itemsComeInTheirOrder(ahead: Int) throws {
        let table = Table(10)
        let items = Observable<Int, NetworkError>.items(
            .offset(size: 4), options: PagingOptions(ahead: ahead), loading: table.page)
        let recorder = Recorder(items, on: VirtualScheduler())
        #expect(recorder.values == Array(1...10))
        #expect(recorder.isFinished)
    }

    /// In a page without a response, a relative URL leads nowhere.
    @Test func linksWithoutAResponse() throws {
        for (next, code) in [("https://shop.test/2", nil), ("/2", NetworkError.Code.paging)] {
            let count = Mutex(0)
            let items = Observable<Int, NetworkError>.items(.nextURL) { page in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                #expect(page.position == (number == 1 ? nil : URL(string: next).map { .link($0) }))
                return .just(Page([number], nextCursor: number == 1 ? next : nil))
            }
            let recorder = Recorder(items, on: VirtualScheduler())
            #expect(recorder.failure?.code == code)
            #expect(recorder.values == (code == nil ? [1, 2] : [1]))
        }
    }
}
