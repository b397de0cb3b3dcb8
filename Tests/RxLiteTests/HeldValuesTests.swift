import RxLite
import RxTesting
import Testing

/// Values that have been taken from a source, and wait for a paused subscriber.
@Suite struct HeldValuesTests {
    private let clock = VirtualScheduler()
    private let log = Log<Int>()

    @Test func justWaits() {
        let signal = Signal<Void>()
        let subscription = signal.observable.flatMap { Observable<Int, Never>.just(7) }
            .subscribe { [log] in log.add($0) }
        subscription.pause()
        signal.send()
        #expect(log.entries == [])
        subscription.resume()
        subscription.pause()
        subscription.resume()
        #expect(log.entries == [7])
    }

    @Test func aDelayHoldsWhatIsDue() throws {
        let subscription = Observable<Int, Never>.interval(.seconds(1), on: clock).delay(
            .seconds(3), on: clock
        )
        .subscribe { [log] in log.add($0) }
        try clock.advance(to: .seconds(4))
        #expect(log.entries == [0])
        subscription.pause()
        try clock.advance(to: .seconds(9))
        #expect(log.entries == [0])
        subscription.resume()
        #expect(log.entries == [0, 1, 2, 3, 4, 5])
        try clock.advance(to: .seconds(10))
        #expect(log.entries == [0, 1, 2, 3, 4, 5, 6])
        subscription.cancel()
        #expect(clock.pendingCount == 0)
    }

    @Test func aDelayedValueThatPausesHoldsTheNext() throws {
        let held = Shared<Subscription?>(nil)
        let new = Observable<Int, Never>.concat([.just(1), .just(2)]).delay(.seconds(3), on: clock).subscribe(
            onNext: { [log] value in
                log.add(value)
                held.value?.pause()
            },
            onFinish: { [log] in log.add(0) })
        held.change { $0 = new }
        try clock.advance(by: .seconds(60))
        #expect(log.entries == [1])
        new.resume()
        #expect(log.entries == [1, 2])
        new.resume()
        #expect(log.entries == [1, 2, 0])
    }

    @Test(arguments: [FlattenStrategy.concat, .merge(limit: 2)])
    func valuesThatWaitForTheirTurnStartNothing(_ strategy: FlattenStrategy) throws {
        let started = Shared(0)
        let numbers = Signal<Int>()
        let end = Signal<Void>()
        let ends = Shared(0)
        let subscription = numbers.observable.take(until: end.observable)
            .flatMap(strategy) { [clock] number in
                Observable<Void, Never>.timer(.seconds(1), on: clock).map { number }
                    .handleEvents(onSubscribe: { started.change { $0 += 1 } })
            }
            .subscribe(onNext: { [log] in log.add($0) }, onFinish: { ends.change { $0 += 1 } })
        for number in 0..<6 { numbers.send(number) }
        end.send()
        let running = started.value
        subscription.pause()
        try clock.advance(by: .seconds(60))
        #expect(started.value == running)
        subscription.resume()
        try clock.advance(by: .seconds(60))
        #expect(log.entries == Array(0..<6))
        #expect(ends.value == 1)
    }

    @Test func whatEndsWhilePausedGoesOnAtTheResumption() {
        let ends = Shared(0)
        let numbers = Signal<Int>()
        let end = Signal<Void>()
        let first = Signal<Int>()
        let subscription = numbers.observable.take(until: end.observable)
            .flatMap(.concat) { number in number == 0 ? first.observable.take(1) : .sequence([number]) }
            .subscribe(onNext: { [log] in log.add($0) }, onFinish: { ends.change { $0 += 1 } })
        numbers.send(0)
        numbers.send(1)
        end.send()
        subscription.pause()
        first.send(0)
        #expect(log.entries == [0])
        subscription.resume()
        #expect(log.entries == [0, 1])
        #expect(ends.value == 1)
    }

    // A shared stream

    /// Two subscribers of one run of 1 to 5, and the number of values taken from it.
    private func share(
        _ first: @escaping @Sendable (Int) -> Void, _ second: @escaping @Sendable (Int) -> Void
    ) -> (start: Signal<Void>, taken: Shared<Int>, first: Subscription, second: Subscription) {
        let start = Signal<Void>()
        let taken = Shared(0)
        let shared = start.observable.flatMap { Observable<Int, Never>.sequence(1...5) }
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } }).share()
        return (start, taken, shared.subscribe(onNext: first), shared.subscribe(onNext: second))
    }

    @Test func oneSubscriberPausesOnlyItself() {
        let held = Shared<Subscription?>(nil)
        let other = Log<Int>()
        let run = share(
            { [log] value in
                log.add(value)
                if value == 2 { held.value?.pause() }
            }, { other.add($0) })
        held.change { $0 = run.first }
        run.start.send()
        #expect(run.taken.value == 5)
        #expect(log.entries == [1, 2])
        #expect(other.entries == [1, 2, 3, 4, 5])
        run.first.resume()
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func aSharedSourceIsPausedWhileAllItsSubscribersAre() {
        let run = share({ _ in }, { [log] in log.add($0) })
        run.first.pause()
        run.second.pause()
        run.start.send()
        #expect(run.taken.value == 0)
        run.first.cancel()
        #expect(run.taken.value == 0)
        run.second.resume()
        #expect(run.taken.value == 5)
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func aSharedSourceStopsWhenTheLastThatListensLeaves() {
        let run = share({ [log] in log.add($0) }, { _ in })
        run.first.pause()
        run.second.cancel()
        run.start.send()
        #expect(run.taken.value == 0)
        run.first.resume()
        #expect(run.taken.value == 5)
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func aSubscriberThatComesPausedPausesASharedSource() {
        let taken = Shared(0)
        let shared = Observable<Int, Never>.sequence(1...5)
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } }).share()
        let scope = Scope()
        scope.lane.enter {
            scope.pause()
            shared.subscribe(
                Observer(scope: scope, next: { [log] in log.add($0) }, end: { _ in scope.close() }))
        }
        #expect(taken.value == 0)
        scope.lane.enter { scope.resume() }
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    /// For any interleaving of pauses on several threads, all values arrive, and the source resumes.
    @Test func pausingASharedSourceFromManyThreads() async {
        let run = share({ _ in }, { [log] in log.add($0) })
        await withTaskGroup(of: Void.self) { group in
            for subscription in [run.first, run.second] {
                group.addTask {
                    for _ in 0..<500 {
                        subscription.pause()
                        subscription.resume()
                    }
                }
            }
            group.addTask { for _ in 0..<100 { run.start.send() } }
        }
        // A paused run of 1 to 5 is overtaken by the next ones, until it resumes.
        #expect(log.entries.sorted() == (1...5).flatMap { Array(repeating: $0, count: 100) })
    }
}

extension Observable where Failure == Never {
    /// Subscribes, and pauses the subscription within the value with this number, from 1.
    func subscribePausing(
        inValue number: Int, _ onNext: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        let start = Signal<Void>()
        let subscription = Shared<Subscription?>(nil)
        let count = Shared(0)
        let running = start.take(1).flatMap { self }.subscribe { value in
            onNext(value)
            count.change { $0 += 1 }
            if count.value == number { subscription.value?.pause() }
        }
        subscription.change { $0 = running }
        start.send()
        return running
    }
}
