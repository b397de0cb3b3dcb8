import RxLite
import Synchronization
import Testing

@testable import RxLoop

@Suite struct ClockTests {
    @Test(arguments: [
        Duration.nanoseconds(1), .microseconds(1), .microseconds(400), .milliseconds(1), .milliseconds(7),
    ])
    func aTimerIsNeverEarly(delay: Duration) async {
        let loop = EventLoop(name: "early")
        defer { loop.shutDown() }
        for _ in 0..<20 {
            let waited = await withCheckedContinuation { continuation in
                let start = loop.now
                _ = loop.schedule(after: delay) { continuation.resume(returning: loop.now - start) }
            }
            #expect(waited >= delay)
        }
    }

    @Test(
        arguments: [
            (0..<2000).map { .milliseconds(50 + $0 * 7919 % 40) },
            [.microseconds(30_900), .microseconds(30_500), .microseconds(30_100)],
        ] as [[Duration]])
    func timersRunInOrderOfTheirDeadlines(delays: [Duration]) async {
        let loop = EventLoop(name: "order")
        defer { loop.shutDown() }
        let deadlines = Mutex<[UInt64]>([])
        let fired: [Int] = await withCheckedContinuation { continuation in
            let collector = Collector(expected: delays.count) { continuation.resume(returning: $0) }
            // All within one piece of work, so that none fires before the last is scheduled. The time that
            // this takes is part of the deadlines, so the order is compared with them.
            loop.schedule {
                for (index, delay) in delays.enumerated() {
                    let timer = loop.schedule(after: delay) { collector.add(index) }
                    guard let timer = timer as? ScheduledWork else { continue }
                    deadlines.withLock { $0.append(timer.deadline) }
                }
            }
        }
        let due = deadlines.withLock { $0 }
        #expect(due.count == delays.count)
        #expect(fired == due.indices.sorted { (due[$0], $0) < (due[$1], $1) })
    }

    @Test func equalDeadlinesAreDueAsScheduled() {
        let loop = EventLoop(name: "equal")
        defer { loop.shutDown() }
        let deadlines = (0..<2000).map { UInt64($0 * 7919 % 40) }
        let work = deadlines.map { ScheduledWork(on: loop, deadline: $0) {} }
        var heap = TimerHeap()
        for work in work { heap.insert(work) }
        for index in work.indices where index % 3 == 0 { heap.remove(work[index]) }

        var popped: [Int] = []
        for time in 0..<40 as Range<UInt64> {
            while let next = heap.popFirst(dueAt: time) {
                #expect(next.deadline == time)
                popped.append(work.firstIndex { $0 === next } ?? -1)
            }
        }
        let expected = deadlines.indices.filter { $0 % 3 != 0 }
            .sorted { (deadlines[$0], $0) < (deadlines[$1], $1) }
        #expect(popped == expected)
        #expect(heap.count == 0)
    }

    @Test func aCancelledTimerNeverRunsAndLetsGoOfItsWork() async {
        let loop = EventLoop(name: "cancel")
        defer { loop.shutDown() }
        let runs = Atomic<Int>(0)
        let releases = Atomic<Int>(0)
        let released = await withCheckedContinuation { continuation in
            loop.schedule {
                let timers = (0..<1000).map { index in
                    let token = Token { releases.add(1, ordering: .relaxed) }
                    return loop.schedule(after: .milliseconds(1 + index % 5)) {
                        token.touch()
                        runs.add(1, ordering: .relaxed)
                    }
                }
                for timer in timers.shuffled() { timer.cancel() }
                let released = releases.load(ordering: .relaxed)
                _ = loop.schedule(after: .milliseconds(20)) { continuation.resume(returning: released) }
            }
        }
        #expect(released == 1000)
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test func cancellingFromAnotherThreadKeepsTheRest() async {
        let loop = EventLoop(name: "cancel2")
        defer { loop.shutDown() }
        let runs = Atomic<Int>(0)
        let timers = (0..<1000).map { _ in
            loop.schedule(after: .seconds(3600)) { runs.add(1, ordering: .relaxed) }
        }
        for timer in timers { timer.cancel() }
        await withCheckedContinuation { continuation in
            _ = loop.schedule(after: .milliseconds(2)) { continuation.resume() }
        }
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test func zeroAndNegativeDelaysAreDueAtOnceButNotInsideTheCall() async {
        let loop = EventLoop(name: "zero")
        defer { loop.shutDown() }
        let order: [Int] = await withCheckedContinuation { continuation in
            let collector = Collector(expected: 4) { continuation.resume(returning: $0) }
            loop.schedule {
                _ = loop.schedule(after: .zero) { collector.add(1) }
                _ = loop.schedule(after: .seconds(-5)) { collector.add(2) }
                loop.schedule { collector.add(3) }
                collector.add(0)
            }
        }
        #expect(order == [0, 1, 2, 3])
    }

    @Test func theClockDoesNotGoBack() {
        let loop = EventLoop(name: "clock")
        defer { loop.shutDown() }
        var last = loop.now
        for _ in 0..<10_000 {
            let next = loop.now
            #expect(next >= last)
            last = next
        }
    }
}

/// Counts its releases.
final class Token: Sendable {
    let onRelease: @Sendable () -> Void
    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
    deinit { onRelease() }
    func touch() {}
}

/// Collects numbers from one loop and returns them when all have arrived.
final class Collector: Sendable {
    private let values = Mutex<[Int]>([])
    private let expected: Int
    private let done: @Sendable ([Int]) -> Void

    init(expected: Int, done: @escaping @Sendable ([Int]) -> Void) {
        self.expected = expected
        self.done = done
    }

    func add(_ value: Int) {
        let all: [Int]? = values.withLock {
            $0.append(value)
            return $0.count == expected ? $0 : nil
        }
        if let all { done(all) }
    }
}
