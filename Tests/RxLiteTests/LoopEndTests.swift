import RxLite
import RxLoop
import Synchronization
import Testing

/// A loop that ends fires its timers early; afterwards its streams run on the calling threads.
@Suite(.timeLimit(.minutes(1))) struct LoopEndTests {
    struct Line: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stream: @Sendable (EventLoop) -> Observable<Int, Lost>
    }

    /// Endless values, two at a time, paused or not.
    private static func pairs(_ loop: EventLoop) -> Observable<Int, Lost> {
        Observable.interval(.milliseconds(1), on: loop).flatMap { .sequence([$0, $0]) }
    }

    static let lines = [
        Line(testDescription: "interval") { pairs($0) },
        Line(testDescription: "delay") { pairs($0).delay(.seconds(60), on: $0) },
        Line(testDescription: "debounce") { pairs($0).take(3).debounce(.seconds(60), on: $0) },
        Line(testDescription: "throttle") { pairs($0).throttle(.seconds(60), on: $0, trailing: true) },
        Line(testDescription: "timeout") { loop in
            Observable.never().timeout(.seconds(60), on: loop) { Lost() }
        },
        Line(testDescription: "buffer") { pairs($0).buffer(time: .seconds(60), on: $0).map(\.count) },
        Line(testDescription: "sample") { pairs($0).sample(every: .seconds(60), on: $0) },
        Line(testDescription: "retry") { loop in
            pairs(loop).take(1).flatMap { _ in .fail(Lost()) }.retry(
                RetryPolicy { _, _ in .seconds(60) }, on: loop)
        },
        Line(testDescription: "repeat") {
            Observable.just(1).subscribe(on: $0).repeat(delay: .seconds(60), on: $0)
        },
        Line(testDescription: "observe(on:)") {
            pairs($0).observe(on: ActorScheduler.background()).observe(on: $0)
        },
        Line(testDescription: "flatMap") { loop in
            Observable.just(1).flatMap { _ in pairs(loop).subscribe(on: ActorScheduler.background()) }
        },
    ]

    private final class Probe: Sendable {
        let count = Atomic(0)
        let late = Atomic(0)

        func note(_ scope: Scope, leavesAt last: Int) {
            if !scope.isOpen { late.add(1, ordering: .relaxed) }
            if count.add(1, ordering: .relaxed).newValue == last { scope.cancel() }
        }
    }

    @Test(arguments: lines, [1, 2, 3]) func nothingIsDeliveredOnAClosedScope(_ line: Line, last: Int) {
        for isEnded in [false, true] {
            let loop = EventLoop(name: "ending")
            if isEnded { loop.shutDown() }
            let probe = Probe()
            let stream = line.stream(loop)
            let scope = Scope(lane: Lane(scheduler: stream.scheduler))
            let observer = Observer<Int, Lost>(
                scope: scope, next: { _ in probe.note(scope, leavesAt: last) },
                end: { _ in
                    probe.note(scope, leavesAt: last)
                    scope.close()
                })
            scope.lane.enter { stream.subscribe(observer) }
            if !isEnded { loop.shutDown() }
            scope.cancel()
            scope.lane.enter { if scope.isOpen { probe.late.add(1, ordering: .relaxed) } }
            #expect(probe.late.load(ordering: .relaxed) == 0)
        }
    }

    /// For any number of retries of a request that fails at once.
    @Test func retryingWithoutEndDoesNotHoldUpTheEnd() {
        let loop = EventLoop(name: "ending")
        let attempts = Atomic2()
        let isOver = Shared(false)
        let stream = Observable<Int, Lost>.deferred(on: loop) {
            attempts.add()
            return isOver.value ? .never() : .fail(Lost())
        }
        let subscription = stream.retry(.max).subscribe()
        while attempts.value < 1000 {}
        loop.schedule { isOver.change { $0 = true } }
        loop.shutDown()
        subscription.cancel()
        #expect(isOver.value)
    }

    private final class Atomic2: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }
}
