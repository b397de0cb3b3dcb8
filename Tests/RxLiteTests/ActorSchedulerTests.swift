import RxLite
import RxTesting
import Testing

@Suite struct ActorSchedulerTests {
    private actor Place {}

    /// Waits until `scheduler` has run all work that is ready now.
    private func idle(_ scheduler: ActorScheduler) async {
        await withCheckedContinuation { continuation in scheduler.schedule { continuation.resume() } }
    }

    @Test func workRunsInOrderOneAtATimeAndNeverInsideTheCall() async {
        let scheduler = ActorScheduler(Place())
        let log = Log<Int>()
        let isInside = Shared(false)
        let overlaps = Shared(0)
        for number in 0..<1000 {
            scheduler.schedule {
                if isInside.value { overlaps.change { $0 += 1 } }
                isInside.change { $0 = true }
                if number == 500 { scheduler.schedule { log.add(-1) } }
                log.add(number)
                isInside.change { $0 = false }
            }
        }
        await idle(scheduler)
        await idle(scheduler)
        #expect(log.entries.filter { $0 >= 0 } == Array(0..<1000))
        #expect(log.entries.contains(-1))
        #expect(log.entries.firstIndex(of: -1) != 500)
        #expect(overlaps.value == 0)
    }

    @Test func workIsCurrentAndOtherCodeIsNot() async {
        let scheduler = ActorScheduler(Place())
        #expect(!scheduler.isCurrent)
        let inside = Shared(false)
        scheduler.schedule { inside.change { $0 = scheduler.isCurrent } }
        await idle(scheduler)
        #expect(inside.value)
        #expect(!scheduler.isCurrent)
    }

    @Test func timersFireInOrder() async {
        let scheduler = ActorScheduler(Place())
        let log = Log<Int>()
        await withCheckedContinuation { continuation in
            for number in [5, 3, 1, 4, 2] {
                _ = scheduler.schedule(after: .milliseconds(number * 2)) { log.add(number) }
            }
            for number in 10..<20 { _ = scheduler.schedule(after: .milliseconds(1)) { log.add(number) } }
            _ = scheduler.schedule(after: .milliseconds(12)) { continuation.resume() }
        }
        #expect(log.entries.filter { $0 < 10 } == [1, 2, 3, 4, 5])
        #expect(log.entries.filter { $0 >= 10 } == Array(10..<20))
    }

    @Test func aTimerInCenturiesHoldsNobodyUp() async {
        let scheduler = ActorScheduler(Place())
        let distant = scheduler.schedule(after: .seconds(Int64.max)) { Issue.record("too early") }
        await idle(scheduler)
        await withCheckedContinuation { continuation in
            _ = scheduler.schedule(after: .milliseconds(1)) { continuation.resume() }
        }
        distant.cancel()
    }

    @Test func cancelledTimersLetGoAndDoNotFire() async {
        let scheduler = ActorScheduler(Place())
        let count = LiveCount()
        let log = Log<String>()
        func start() -> any Cancellable {
            let token = Counted(count)
            return scheduler.schedule(after: .seconds(3600)) { log.add("\(token)") }
        }
        let timers = (0..<1000).map { _ in start() }
        #expect(count.alive == 1000)
        for timer in timers { timer.cancel() }
        #expect(count.alive == 0)
        await withCheckedContinuation { continuation in
            _ = scheduler.schedule(after: .milliseconds(1)) { continuation.resume() }
        }
        #expect(log.entries.isEmpty)
    }

    @Test func theMainActorsWorkIsOnTheMainActor() async {
        let seen = Log<Int>()
        await withCheckedContinuation { continuation in
            Observable<Int, Never>.sequence(0..<100).observe(on: ActorScheduler.main).subscribe(
                onNext: { value in MainActor.assumeIsolated { seen.add(value) } },
                onFinish: { MainActor.assumeIsolated { continuation.resume() } })
        }
        #expect(seen.entries == Array(0..<100))
    }

    @Test func valuesFromManyThreadsArriveOnTheActorOnceEach() async {
        let scheduler = ActorScheduler(Place())
        let signal = Signal<Int>()
        let end = Signal<Void>()
        let seen = Log<Int>()
        let misplaced = Shared(0)
        await withCheckedContinuation { continuation in
            signal.observable.take(until: end.observable).observe(on: scheduler).subscribe(
                onNext: { value in
                    if !scheduler.isCurrent { misplaced.change { $0 += 1 } }
                    seen.add(value)
                },
                onFinish: { continuation.resume() })
            Task.detached {
                await withTaskGroup(of: Void.self) { group in
                    for sender in 0..<4 {
                        group.addTask { for number in 0..<500 { signal.send(sender * 500 + number) } }
                    }
                }
                end.send()
            }
        }
        #expect(seen.entries.sorted() == Array(0..<2000))
        #expect(misplaced.value == 0)
    }
}

/// The context of the scheduling task, as an actor's work sees it.
@Suite struct ActorSchedulerIndependenceTests {
    private actor Place {}
    @TaskLocal private static var name = "nobody"

    @Test func workHasNoLocalValuesOfWhoeverScheduledIt() async {
        let names = Log<String>()
        let scheduler = ActorScheduler(Place())
        await Self.$name.withValue("somebody") {
            await withCheckedContinuation { continuation in
                scheduler.schedule { names.add(Self.name) }
                _ = scheduler.schedule(after: .milliseconds(1)) {
                    names.add(Self.name)
                    continuation.resume()
                }
            }
        }
        #expect(names.entries == ["nobody", "nobody"])
    }

    @Test func workHasNoPriorityOfWhoeverScheduledIt() async {
        let priorities = Log<TaskPriority>()
        let scheduler = ActorScheduler(Place())
        await Task.detached(priority: .background) {
            await withCheckedContinuation { continuation in
                scheduler.schedule { priorities.add(Task.currentPriority) }
                _ = scheduler.schedule(after: .milliseconds(1)) {
                    priorities.add(Task.currentPriority)
                    continuation.resume()
                }
            }
        }.value
        #expect(priorities.entries.allSatisfy { $0 > .background })
    }

    @Test func aCancelledTimerKeepsNothingAlive() async {
        weak var heldPlace: Place?
        weak var heldScheduler: ActorScheduler?
        do {
            let place = Place()
            let scheduler = ActorScheduler(place)
            (heldPlace, heldScheduler) = (place, scheduler)
            let timers = (1...3).map { scheduler.schedule(after: .seconds(3600 * $0)) {} }
            for timer in timers { timer.cancel() }
        }
        await until { heldPlace == nil && heldScheduler == nil }
    }

    @Test func aTimerIsKeptWhenAnEarlierOneIsCancelled() async {
        let scheduler = ActorScheduler(Place())
        await withCheckedContinuation { continuation in
            let early = scheduler.schedule(after: .milliseconds(1)) {}
            _ = scheduler.schedule(after: .milliseconds(5)) { continuation.resume() }
            early.cancel()
        }
    }
}
