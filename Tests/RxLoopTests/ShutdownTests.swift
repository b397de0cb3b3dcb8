import RxLite
import RxLoop
import Synchronization
import Testing

/// `shutDown()` itself traps unless `uv_loop_close` returns 0, so that its return is the proof.
@Suite struct ShutdownTests {
    @Test func pendingWorkRunsAndPendingTimersRunEarly() {
        let loop = EventLoop(name: "shutdown")
        let works = Atomic<Int>(0)
        let timers = Atomic<Int>(0)
        let releases = Atomic<Int>(0)
        for _ in 0..<1000 {
            let token = Token { releases.add(1, ordering: .relaxed) }
            _ = loop.schedule(after: .seconds(3600)) {
                token.touch()
                timers.add(1, ordering: .relaxed)
            }
            loop.schedule { works.add(1, ordering: .relaxed) }
        }
        loop.shutDown()
        #expect(works.load(ordering: .relaxed) == 1000)
        #expect(timers.load(ordering: .relaxed) == 1000)
        #expect(releases.load(ordering: .relaxed) == 1000)
    }

    @Test func itIsIdempotentAndFromManyThreadsAtOnce() async {
        let loop = EventLoop(name: "twice")
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { loop.shutDown() } }
        }
        loop.shutDown()
    }

    @Test func cancelledTimersStayCancelled() {
        let loop = EventLoop(name: "cancelled")
        let runs = Atomic<Int>(0)
        for _ in 0..<10 {
            loop.schedule(after: .seconds(3600)) { runs.add(1, ordering: .relaxed) }.cancel()
        }
        loop.shutDown()
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test func pendingTimersRunInDueOrderAfterTheHooks() {
        let loop = EventLoop(name: "early")
        let order = Mutex<[Int]>([])
        for number in [3, 1, 2] {
            _ = loop.schedule(after: .seconds(3600 * number)) { order.withLock { $0.append(number) } }
        }
        _ = loop.onShutdown { order.withLock { $0.append(0) } }
        loop.shutDown()
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
    }

    // MARK: - After the shutdown

    @Test func workScheduledAfterTheEndRunsOnItsCallerInOrderAndWithoutRecursion() {
        let loop = EventLoop(name: "late")
        loop.shutDown()
        #expect(loop.isCurrent)
        #expect(!loop.ownsCurrentThread)
        #expect(!loop.post {})
        let order = Mutex<[Int]>([])
        @Sendable func note(_ number: Int) { order.withLock { $0.append(number) } }
        loop.schedule {
            loop.schedule { note(2) }
            _ = loop.schedule(after: .zero) { note(3) }
            note(1)
        }
        #expect(order.withLock { $0 } == [1, 2, 3])
        let left = Atomic<Int>(1_000_000)
        @Sendable func countDown() {
            if left.subtract(1, ordering: .relaxed).newValue > 0 { loop.schedule(countDown) }
        }
        loop.schedule(countDown)
        #expect(left.load(ordering: .relaxed) == 0)
    }

    @Test func lateWorkOfManyThreadsRunsOneAtATime() async {
        let loop = EventLoop(name: "late and many")
        loop.shutDown()
        let tally = Tally()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5000 {
                        loop.schedule {
                            if tally.isInside.exchange(true, ordering: .relaxed) {
                                tally.overlaps.add(1, ordering: .relaxed)
                            }
                            tally.runs.add(1, ordering: .relaxed)
                            tally.isInside.store(false, ordering: .relaxed)
                        }
                    }
                }
            }
        }
        #expect(tally.runs.load(ordering: .relaxed) == 20_000)
        #expect(tally.overlaps.load(ordering: .relaxed) == 0)
    }

    @Test func noWorkIsLostWhileTheLoopEnds() async {
        for _ in 0..<50 {
            let loop = EventLoop(name: "none lost")
            let tally = Tally()
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<200 { loop.schedule { tally.runs.add(1, ordering: .relaxed) } }
                    }
                }
                group.addTask { loop.shutDown() }
            }
            #expect(tally.runs.load(ordering: .relaxed) == 800)
        }
    }

    @Test func workThatBegetsWorkDoesNotKeepTheLoopFromEnding() {
        let loop = EventLoop(name: "without end")
        @Sendable func again() { loop.schedule(again) }
        again()
        loop.shutDown()
    }

    /// Each checks the clock for its time, and waits again if it was woken early.
    @Test(arguments: [false, true]) func operatorsThatWaitKeepTheirTime(isEndedBefore: Bool) async {
        let loop = EventLoop(name: "waits")
        if isEndedBefore { loop.shutDown() }
        let ends = Mutex<Int>(0)
        let limit = Duration.milliseconds(20)
        let begin = loop.now
        await withCheckedContinuation { continuation in
            let end: @Sendable () -> Void = {
                let all = ends.withLock { ends in
                    ends += 1
                    return ends == 2
                }
                if all { continuation.resume() }
            }
            Observable<Int, Expired>.never().timeout(limit, on: loop) { Expired() }
                .subscribe(onFailure: { _ in end() })
            Observable<Int, Expired>.just(1).delay(limit, on: loop).subscribe(onFinish: end)
            if !isEndedBefore { loop.shutDown() }
        }
        #expect(loop.now - begin >= limit)
    }

    private struct Expired: Error {}

    private final class Tally: Sendable {
        let isInside = Atomic<Bool>(false)
        let overlaps = Atomic<Int>(0)
        let runs = Atomic<Int>(0)
    }

    @Test func hooksRunOnTheLoopLastFirstUnlessTakenBack() {
        let loop = EventLoop(name: "hooks")
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { text in order.withLock { $0.append(text) } }
        _ = loop.onShutdown { note("first \(loop.isCurrent)") }
        let takenBack = loop.onShutdown { note("taken back") }
        _ = loop.onShutdown {
            note("last \(loop.isCurrent)")
            loop.schedule { note("scheduled by a hook") }
        }
        takenBack.cancel()
        loop.shutDown()
        #expect(order.withLock { $0 } == ["last true", "first true", "scheduled by a hook"])
    }

    @Test func loopsComeAndGoWhileOthersPost() async {
        for _ in 0..<50 {
            let loop = EventLoop(name: "short")
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { for _ in 0..<200 { loop.schedule {} } } }
                group.addTask { loop.shutDown() }
            }
        }
    }

    @Test func aLoopIsReleasedAfterItsEnd() {
        weak var released: EventLoop?
        do {
            let loop = EventLoop(name: "released")
            released = loop
            _ = loop.schedule(after: .seconds(60)) { _ = loop.isCurrent }
            loop.shutDown()
        }
        #expect(released == nil)
    }
}
