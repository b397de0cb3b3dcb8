import RxLite
import RxTesting
import Testing

@Suite struct GroupByTests {
    static let cases = [
        MarbleCase("groupBy, merged", "-a-b-C-|") {
            try $0.cold("-a-b-C-|").groupBy { $0.lowercased() }.flatMap { $0.observable }
        },
        MarbleCase("groupBy, the keys", "--a--b-----c---|") {
            try $0.cold("--a--b--A--c--B|").groupBy { $0.lowercased() }.map(\.key)
        },
        MarbleCase("groupBy, error", "-a-b#") {
            try $0.cold("-a-b#").groupBy { $0 }.flatMap { $0.observable }
        },
        MarbleCase("groupBy, error of each group", "----(ab#)") {
            try $0.cold("-a-b#").groupBy { $0 }.flatMap { group in
                group.observable.ignoreElements(as: String.self).catch { _ in
                    Observable<String, Lost>.just(group.key)
                }
            }
        },
        MarbleCase("groupBy, the end of each group", "----(ab|)") {
            try $0.cold("-abA|").groupBy { $0.lowercased() }.flatMap { group in
                group.observable.last().map { _ in group.key }
            }
        },
        MarbleCase("groupBy of none", "--|") {
            try $0.cold("--|").groupBy { $0 }.flatMap { $0.observable }
        },
        MarbleCase("groupBy, one group of several", "-a-aa-a|") {
            try $0.cold("-abaaba|").groupBy { $0 }.take(1).flatMap { $0.observable }
        },
        MarbleCase("groupBy, the first value of each", "-ab-c---|") {
            try $0.cold("-abac-b-|").groupBy { $0 }.flatMap { $0.observable.take(1) }
        },
    ]

    @Test(arguments: cases) func grouping(_ line: MarbleCase) throws { try line.check() }

    @Test func groupsWithoutSubscribersHoldNothing() {
        let count = LiveCount()
        let source = Signal<Counted>()
        let groups = Log<GroupedObservable<Int, Counted, Never>>()
        let subscription = source.groupBy { _ in 1 }.subscribe { groups.add($0) }
        for _ in 0..<9 { source.send(Counted(count)) }
        #expect(count.alive == 0)
        #expect(groups.entries.count == 1)
        subscription.cancel()
    }

    @Test func aGroupIsHot() throws {
        let source = Signal<Int>()
        let groups = Log<GroupedObservable<Bool, Int, Never>>()
        let seen = Log<Int>()
        source.groupBy { $0.isMultiple(of: 2) }.subscribe { groups.add($0) }
        for number in 1...4 { source.send(number) }
        #expect(groups.entries.map(\.key) == [false, true])
        let subscription = groups.entries[1].observable.subscribe { seen.add($0) }
        for number in 5...8 { source.send(number) }
        subscription.cancel()
        source.send(10)
        groups.entries[1].observable.subscribe { seen.add($0) }
        source.send(12)
        #expect(seen.entries == [6, 8, 12])
        #expect(groups.entries.count == 2)
    }

    @Test func theSourceRunsOnceAndUntilTheLastSubscriberLeaves() throws {
        let clock = VirtualScheduler()
        let source: MarbleSource<String, Lost> = try clock.cold("-a-b-a-b-a", error: Lost())
        let seen = Log<String>()
        let inner = Log<Subscription>()
        let outer = source.observable.groupBy { $0 }.subscribe { group in
            inner.add(group.observable.subscribe { seen.add($0) })
        }
        try clock.advance(by: .milliseconds(4))
        outer.cancel()
        inner.entries[0].cancel()
        try clock.advance(by: .milliseconds(4))
        #expect(source.subscriptions.count == 1)
        #expect(source.subscriptions[0].end == nil)
        inner.entries[1].cancel()
        #expect(source.subscriptions[0].end != nil)
        #expect(seen.entries == ["a", "b", "b"])
    }

    @Test func aPausedSubscriberLosesNothing() {
        let source = Signal<Int>()
        let seen = Log<Int>()
        let subscription = source.groupBy { $0 % 3 }.flatMap { $0.observable }.subscribe { seen.add($0) }
        source.send(0)
        subscription.pause()
        for number in 1...8 { source.send(number) }
        #expect(seen.entries == [0])
        subscription.resume()
        #expect(seen.entries.sorted() == Array(0...8))
    }

    /// While the subscriber of the groups is paused, and that of a delivered group is not.
    @Test func aGroupThatIsNotDeliveredPausesTheSource() {
        let taken = Shared(0)
        let seen = Log<Int>()
        let late = Log<Int>()
        let source = Observable<Int, Never>.sequence(0...9999).handleEvents(onNext: { _ in
            taken.change { $0 += 1 }
        })
        let outer = source.groupBy { $0.isMultiple(of: 2) }.subscribePausing(inValue: 1) { group in
            let log = group.key ? seen : late
            group.observable.subscribe { log.add($0) }
        }
        #expect(late.entries.isEmpty)
        #expect(taken.value < 600)
        outer.resume()
        #expect(seen.entries == Array(stride(from: 0, through: 9998, by: 2)))
        #expect(late.entries == Array(stride(from: 1, through: 9999, by: 2)))
    }

    @Test func groupsThatCanNoLongerBeDeliveredDoNotHoldTheSource() {
        let seen = Log<Int>()
        let outer = Observable<Int, Never>.sequence(0...9999).groupBy { $0.isMultiple(of: 2) }
            .subscribePausing(inValue: 1) { group in group.observable.subscribe { seen.add($0) } }
        #expect(seen.entries.count < 600)
        outer.cancel()
        #expect(seen.entries.count == 5000)
    }

    @Test func twoThreadsSendAndEachGroupSeesItsValuesInOrder() async {
        let source = Signal<Int>()
        let logs = (0..<4).map { _ in Log<Int>() }
        source.groupBy { $0 % 4 }.subscribe { group in
            group.observable.subscribe { logs[group.key].add($0) }
        }
        await withTaskGroup(of: Void.self) { tasks in
            for sender in 0..<2 {
                tasks.addTask { for number in 0..<1000 { source.send(sender + 2 * number) } }
            }
        }
        for (key, log) in logs.enumerated() {
            #expect(log.entries == Array(stride(from: key, to: 2000, by: 4)))
        }
    }
}
