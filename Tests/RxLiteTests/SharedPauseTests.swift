import RxLite
import Testing

/// A paused subscriber of a shared stream blocks no other, and the number of its waiting values is bounded.
@Suite struct SharedPauseTests {
    /// One run of `1...count` for two subscribers, started on demand, of which the first is paused.
    private struct Run {
        let start = Signal<Void>()
        let taken = Shared(0)
        let paused = Log<String>()
        let running = Log<String>()
        let first: Subscription
        let second: Subscription

        init(
            _ count: Int, failing: Bool = false,
            buffering policy: BufferPolicy<Lost> = .suspend(high: 256, low: 64),
            countingDropped droppedCount: MutableProperty<Int>? = nil
        ) {
            let values = Observable<Int, Lost>.sequence(1...count)
            let end: Observable<Int, Lost> = failing ? .fail(Lost()) : .empty()
            let shared = start.observable.setFailureType(to: Lost.self).take(1)
                .flatMap { Observable.concat([values, end]) }
                .handleEvents(onNext: { [taken] _ in taken.change { $0 += 1 } })
                .share(buffering: policy, countingDropped: droppedCount)
            func log(in log: Log<String>) -> Subscription {
                shared.subscribe(
                    onNext: { log.add("\($0)") }, onFailure: { _ in log.add("lost") },
                    onFinish: { log.add("end") })
            }
            first = log(in: paused)
            second = log(in: running)
            first.pause()
        }
    }

    private func texts(_ range: ClosedRange<Int>, _ end: String) -> [String] {
        range.map(String.init) + [end]
    }

    @Test(arguments: [false, true])
    func theOthersGetEverythingAndThePausedOneLater(failing: Bool) {
        let run = Run(5, failing: failing)
        run.start.send()
        let all = texts(1...5, failing ? "lost" : "end")
        #expect(run.running.entries == all)
        #expect(run.paused.entries.isEmpty)
        run.first.resume()
        #expect(run.paused.entries == all)
    }

    @Test(arguments: [(256, 64), (4, 1), (1, 0)])
    func theSourceWaitsWhenSoManyWaitForOne(high: Int, low: Int) {
        let run = Run(600, buffering: .suspend(high: high, low: low))
        run.start.send()
        #expect(run.taken.value == high)
        #expect(run.running.entries.count == high)
        run.first.resume()
        #expect(run.taken.value == 600)
        #expect(run.paused.entries == texts(1...600, "end"))
        #expect(run.running.entries == texts(1...600, "end"))
    }

    @Test func theSourceGoesOnWhenTheFullSubscriberLeaves() {
        let run = Run(600)
        run.start.send()
        #expect(run.taken.value == 256)
        run.first.cancel()
        #expect(run.running.entries == texts(1...600, "end"))
        #expect(run.paused.entries.isEmpty)
    }

    @Test(
        arguments: [
            (.latest(2), ["599", "600", "end"], 598), (.oldest(2), ["1", "2", "end"], 598),
            (.unbounded, (1...600).map(String.init) + ["end"], 0),
            (.fail(above: 2, with: Lost()), ["1", "2", "lost"], 1),
        ] as [(BufferPolicy<Lost>, [String], Int)])
    func otherPoliciesNeverHoldTheSource(policy: BufferPolicy<Lost>, paused: [String], dropped: Int) {
        let droppedCount = MutableProperty(0)
        let run = Run(600, buffering: policy, countingDropped: droppedCount)
        run.start.send()
        #expect(run.running.entries == texts(1...600, "end"))
        #expect(droppedCount.value == dropped)
        run.first.resume()
        #expect(run.paused.entries == paused)
    }

    @Test func whoFallsBehindTooFarLeavesAndTheSourceIsStoppedWithTheLast() {
        let run = Run(600, buffering: .fail(above: 2, with: Lost()))
        run.second.cancel()
        run.start.send()
        #expect(run.taken.value == 0, "it is the only one, and so the source waits")
        run.first.resume()
        #expect(run.paused.entries == texts(1...600, "end"))
    }

    @Test(arguments: [1, 2])
    func theReplayWaitsTooAndIsNotDropped(limit: Int) {
        let signal = Signal<Int>()
        let shared = signal.observable.share(replay: 3, buffering: .latest(limit))
        shared.subscribe()
        for number in 1...3 { signal.send(number) }
        let late = Log<Int>()
        shared.subscribe { late.add($0) }
        #expect(late.entries == [1, 2, 3])
    }

    @Test func anEndWithNothingBeforeItWaitsToo() {
        let signal = Signal<Int>()
        let shared = signal.observable.take(1).ignoreElements(as: Int.self).share()
        let log = Log<String>()
        let subscription = shared.subscribe(onNext: { _ in }, onFinish: { log.add("end") })
        subscription.pause()
        signal.send(1)
        #expect(log.entries.isEmpty)
        subscription.resume()
        #expect(log.entries == ["end"])
    }

    /// A subscriber whose lane is blocked for long is treated like a paused one: its values wait in the same
    /// buffer.
    @Test func aSubscriberThatIsBusyHoldsTheSourceAtTheSameMark() {
        let (door, start) = (Signal<Void>(), Signal<Void>())
        let (taken, takenMeanwhile) = (Shared(0), Shared(0))
        let shared = start.observable.flatMap { Observable<Int, Never>.sequence(1...600) }
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } }).share()
        let values = Log<Int>()
        Observable.merge(door.observable.map { 0 }, shared).subscribe { value in
            guard value == 0 else { return values.add(value) }
            start.send()
            takenMeanwhile.change { $0 = taken.value }
        }
        door.send()
        #expect(takenMeanwhile.value == 256)
        #expect(values.entries == Array(1...600))
    }
}

extension Observable {
    /// The same stream, with another subscriber that subscribed before and stays paused.
    func besidePausedSubscriber() -> Observable {
        Observable(scheduler: scheduler) { observer in
            let other = Scope(lane: Lane(scheduler: scheduler))
            observer.scope.onClose { other.cancel() }
            other.lane.enter {
                other.pause()
                self.subscribe(Observer(scope: other, next: { _ in }, end: { _ in other.close() }))
            }
            self.subscribe(observer)
        }
    }
}
