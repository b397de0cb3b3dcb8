import RxLite
import RxTesting
import Synchronization
import Testing

@Suite struct SignalTests {
    private let log = Log<String>()

    @Test func everyoneWhoListensGetsEachValueFromThenOn() {
        let signal = Signal<Int>()
        signal.send(0)
        signal.observable.subscribe { [log] in log.add("A\($0)") }
        signal.send(1)
        let second = signal.observable.subscribe { [log] in log.add("B\($0)") }
        signal.send(2)
        second.cancel()
        signal.send(3)
        #expect(log.entries == ["A1", "A2", "B2", "A3"])
    }

    @Test func whatIsSentFromWithinADeliveryFollowsItForEveryone() {
        let signal = Signal<Int>()
        for name in ["A", "B"] {
            signal.observable.subscribe { [log] value in
                log.add("\(name)\(value)")
                if value < 3 && name == "A" {
                    signal.send(value * 10)
                    signal.send(value + 1)
                }
            }
        }
        signal.send(1)
        #expect(log.entries == ["A1", "B1", "A10", "B10", "A2", "B2", "A20", "B20", "A3", "B3"])
    }

    private final class Screen: Sendable {}

    /// The ways from a signal to a subscriber, each of which calls the closure.
    private static let ways: [(name: String, subscribe: @Sendable (Signal<Int>, Screen) -> Void)] = [
        ("none", { signal, screen in signal.subscribe { _ in withExtendedLifetime(screen) {} } }),
        (
            "map, filter and scan",
            { signal, screen in
                signal.map { $0 + 1 }.filter { $0 > 0 }.scan(0, +)
                    .subscribe { _ in withExtendedLifetime(screen) {} }
            }
        ),
        (
            "distinctUntilChanged",
            { signal, screen in
                signal.distinctUntilChanged().subscribe { _ in withExtendedLifetime(screen) {} }
            }
        ),
        (
            "withLatestFrom",
            { signal, screen in
                signal.withLatestFrom(MutableProperty(1)).subscribe { _ in withExtendedLifetime(screen) {} }
            }
        ),
        (
            "take(until:)",
            { signal, screen in
                signal.take(until: Signal<Void>()).subscribe { _ in withExtendedLifetime(screen) {} }
            }
        ),
    ]

    /// A subscription that has been discarded is released with the signal, and with it all that its callback holds.
    @Test(arguments: ways.indices) func aReleasedSignalLetsGoOfItsSubscribers(_ index: Int) {
        weak var screen: Screen?
        var kept: Observable<Int, Never>?
        func use() {
            let (signal, held) = (Signal<Int>(), Screen())
            screen = held
            Self.ways[index].subscribe(signal, held)
            kept = signal.observable
            signal.send(1)
        }
        use()
        #expect(screen == nil, "\(Self.ways[index].name)")
        // Nobody can send to it any more.
        func subscribeLate() {
            let held = Screen()
            screen = held
            kept?.subscribe { _ in withExtendedLifetime(held) {} }
        }
        subscribeLate()
        #expect(screen == nil)
    }

    /// Values that wait for a delivery, for a timer or for another scheduler when the signal is released still arrive.
    @Test func whatAReleasedSignalHasSentArrives() throws {
        let clock = VirtualScheduler()
        func use() {
            let signal = Signal<Int>()
            signal.debounce(.seconds(1), on: clock).subscribe { [log] in log.add("debounced \($0)") }
            signal.delay(.seconds(2), on: clock).subscribe { [log] in log.add("delayed \($0)") }
            signal.observe(on: clock).subscribe { [log] in log.add("observed \($0)") }
            signal.flatMap { value in Observable<Void, Never>.timer(.seconds(3), on: clock).map { _ in value }
            }
            .subscribe { [log] in log.add("started \($0)") }
            signal.observable.subscribe { [log, weak signal] value in
                if value == 1 { signal?.send(2) }
                log.add("sent \(value)")
            }
            signal.send(1)
        }
        use()
        try clock.run()
        #expect(
            log.entries == [
                "sent 1", "sent 2", "observed 1", "observed 2", "debounced 2", "delayed 1", "delayed 2",
                "started 1", "started 2",
            ])
    }

    @Test func reentrantSendsDoNotRecurse() async {
        let signal = Signal<Int>()
        let last = Mutex(0)
        signal.observable.subscribe { value in
            last.withLock { $0 = value }
            if value < 200_000 { signal.send(value + 1) }
        }
        await runWithSmallStack { signal.send(0) }
        #expect(last.withLock { $0 } == 200_000)
    }

    @Test func whoeverCancelsFromWithinADeliveryGetsNothingMore() {
        let signal = Signal<Int>()
        let held = Mutex<Subscription?>(nil)
        signal.observable.subscribe { [log] value in
            log.add("A\(value)")
            held.withLock { $0 }?.cancel()
        }
        held.withLock { $0 = signal.observable.subscribe { [log] in log.add("B\($0)") } }
        signal.send(1)
        signal.send(2)
        #expect(log.entries == ["A1", "A2"])
        #expect(held.withLock { $0 }?.isActive == false)
    }

    @Test func eightThreadsSendAndEverySubscriberSeesOneOrder() async {
        let signal = Signal<Int>()
        let seen = (0..<3).map { _ in Log<Int>() }
        for log in seen { signal.observable.subscribe { log.add($0) } }
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<8 {
                group.addTask { for number in 0..<1000 { signal.send(sender * 1000 + number) } }
            }
        }
        let order = seen[0].entries
        #expect(order.count == 8000)
        #expect(seen.allSatisfy { $0.entries == order })
        for sender in 0..<8 {
            #expect(order.filter { $0 / 1000 == sender } == Array(sender * 1000..<sender * 1000 + 1000))
        }
    }

    @Test func subscribingAndLeavingWhileOthersSendLeavesNobodyBehind() async {
        let signal = Signal<Counted>()
        let count = LiveCount()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { for _ in 0..<2000 { signal.send(Counted(count)) } } }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<500 {
                        let token = Counted(count)
                        signal.observable.subscribe { _ in _ = token }.cancel()
                    }
                }
            }
        }
        #expect(count.alive == 0)
    }

    @Test func aStateGivesItsValueThenEachNewOne() {
        let state = MutableProperty("a")
        state.observable.subscribe { [log] in log.add("A\($0)") }
        state.value = "b"
        state.observable.subscribe { [log] in log.add("B\($0)") }
        state.update { $0 += "c" }
        #expect(log.entries == ["Aa", "Ab", "Bb", "Abc", "Bbc"])
        #expect(state.value == "bc")
    }

    @Test func aStateSetFromWithinADeliveryIsDeliveredInOrder() {
        let state = MutableProperty(0)
        for name in ["A", "B"] {
            state.observable.subscribe { [log] value in
                log.add("\(name)\(value)")
                if value == 1 && name == "A" { state.value = 2 }
            }
        }
        state.value = 1
        #expect(log.entries == ["A0", "B0", "A1", "B1", "A2", "B2"])
    }

    @Test func theLastDeliveredValueOfAStateIsItsValue() async {
        for _ in 0..<20 {
            let state = MutableProperty(0)
            let seen = (0..<2).map { _ in Log<Int>() }
            for log in seen { state.observable.subscribe { log.add($0) } }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { for _ in 0..<100 { state.update { $0 += 1 } } } }
            }
            #expect(state.value == 800)
            for log in seen { #expect(log.entries == Array(0...800)) }
        }
    }
}
