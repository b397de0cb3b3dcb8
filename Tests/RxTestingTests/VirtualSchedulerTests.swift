import RxLite
import RxTesting
import Synchronization
import Testing

@Suite struct VirtualSchedulerTests {
    private let clock = VirtualScheduler(stepLimit: 1000)
    private let log = Log<String>()

    @Test func workRunsInTheOrderOfItsTimeThenOfItsScheduling() throws {
        for (delay, name) in [(2, "c"), (1, "a"), (2, "d"), (1, "b"), (3, "e")] {
            _ = clock.schedule(after: .milliseconds(delay)) { [log, clock] in log.add("\(name)@\(clock.now)")
            }
        }
        #expect(log.entries.isEmpty)
        try clock.advance(by: .milliseconds(2))
        #expect(
            log.entries == ["a", "b"].map { "\($0)@0.001 seconds" }
                + ["c", "d"].map { "\($0)@0.002 seconds" })
        #expect(clock.pendingCount == 1)
        #expect(clock.now == .milliseconds(2))
    }

    @Test func zeroDelayRunsInTheSameAdvanceButNotInsideTheCall() throws {
        clock.schedule { [clock, log] in
            clock.schedule { log.add("later") }
            log.add("first")
        }
        try clock.advance(by: .zero)
        #expect(log.entries == ["first", "later"])
    }

    @Test func runGoesOnUntilNothingIsLeft() throws {
        let left = Atomic5()
        repeatEverySecond(left)
        try clock.run()
        #expect(clock.now == .seconds(5))
        #expect(clock.pendingCount == 0)
    }

    private func repeatEverySecond(_ left: Atomic5) {
        _ = clock.schedule(after: .seconds(1)) { if left.countDown() { repeatEverySecond(left) } }
    }

    @Test func endlessTimersAreAnError() {
        @Sendable func again() { _ = clock.schedule(after: .seconds(1), again) }
        again()
        #expect(throws: VirtualTimeError.endless(steps: 1000, now: .seconds(1001))) { try clock.run() }
    }

    @Test func endlessWorkAtOneInstantIsAnErrorToo() {
        @Sendable func again() { clock.schedule(again) }
        again()
        #expect(throws: VirtualTimeError.endless(steps: 1000, now: .zero)) { try clock.advance(by: .zero) }
    }

    @Test func advancingFromWithinWorkIsAnError() throws {
        clock.schedule { [clock, log] in
            do { try clock.run() } catch { log.add("\(error)") }
        }
        try clock.run()
        #expect(log.entries == ["\(VirtualTimeError.alreadyRunning)"])
    }

    @Test func cancelledWorkNeitherRunsNorMovesTime() throws {
        let (timer, held) = scheduleHolding()
        #expect(held() != nil)
        timer.cancel()
        timer.cancel()
        #expect(clock.pendingCount == 0)
        try clock.run()
        #expect(log.entries.isEmpty)
        #expect(clock.now == .zero)
        #expect(held() == nil)
    }

    private func scheduleHolding() -> (any Cancellable, () -> Held?) {
        let held = Held()
        return (clock.schedule(after: .seconds(9)) { [log] in log.add("\(held)") }, { [weak held] in held })
    }

    @Test func timeDoesNotGoBack() throws {
        try clock.advance(to: .seconds(2))
        try clock.advance(to: .seconds(1))
        try clock.advance(by: .seconds(-1))
        #expect(clock.now == .seconds(2))
    }

    @Test func theTestItselfIsCurrentBetweenAdvancesAndOthersAreNot() async throws {
        #expect(clock.isCurrent)
        await Task { [clock] in #expect(!clock.isCurrent) }.value
        #expect(clock.isCurrent, "a change of threads makes no difference")
        let other = VirtualScheduler()
        clock.schedule { [clock, log] in
            log.add("own \(clock.isCurrent), other \(other.isCurrent)")
        }
        try clock.run()
        #expect(log.entries == ["own true, other false"])
    }

    @Test func workOfTheSchedulerStartedTasksAreNotCurrent() async throws {
        let task = Mutex<Task<Bool, Never>?>(nil)
        clock.schedule { [clock] in
            let started = Task { clock.isCurrent }
            task.withLock { $0 = started }
        }
        try clock.run()
        #expect(await task.withLock { $0 }?.value == false)
    }

    @Test func aStreamOfTheSchedulerDeliversToTheTestAtOnceAndToOthersOnTheNextAdvance() async throws {
        let signal = Signal<Int>()
        let stream = Observable<Int, Never>(scheduler: clock) { observer in
            signal.observable.subscribe(observer)
        }
        stream.subscribe(onNext: { [log] in log.add("\($0)") })
        signal.send(1)
        #expect(log.entries == ["1"])
        await Task { signal.send(2) }.value
        #expect(log.entries == ["1"])
        try clock.run()
        #expect(log.entries == ["1", "2"])
    }

    @Test func eightTasksMayScheduleAtOnce() async throws {
        let count = Log<Void>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [clock] in
                    for delay in 0..<100 {
                        _ = clock.schedule(after: .milliseconds(delay)) {
                            count.add(())
                        }
                    }
                }
            }
        }
        try clock.run()
        #expect(count.entries.count == 800)
    }
}

private final class Held: Sendable {}

private final class Atomic5: Sendable {
    private let left = Atomic<Int>(5)
    func countDown() -> Bool { left.subtract(1, ordering: .relaxed).newValue > 0 }
}
