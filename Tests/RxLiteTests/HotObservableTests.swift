import RxLite
import RxTesting
import Testing

/// Operators called on signals and properties.
@Suite struct HotObservableTests {
    /// The values that a stream of a signal sends for 1, 2, 2, 3, one each millisecond.
    private func values<T: Sendable>(
        _ apply: (Signal<Int>, VirtualScheduler) -> Observable<T, Never>
    ) throws -> [T] {
        let (signal, clock) = (Signal<Int>(), VirtualScheduler())
        let recorder = Recorder(apply(signal, clock), on: clock)
        for (time, number) in [1, 2, 2, 3].enumerated() {
            _ = clock.schedule(after: .milliseconds(time + 1)) { signal.send(number) }
        }
        try clock.advance(by: .seconds(1))
        return recorder.values
    }

    @Test func eachOperatorDoesWhatItDoesOnAStream() throws {
        #expect(try values { signal, _ in signal.map { $0 * 2 } } == [2, 4, 4, 6])
        #expect(try values { signal, _ in signal.compactMap { $0 == 2 ? nil : $0 } } == [1, 3])
        #expect(try values { signal, _ in signal.filter { $0 > 1 } } == [2, 2, 3])
        #expect(try values { signal, _ in signal.scan(0) { $0 + $1 } } == [1, 3, 5, 8])
        #expect(try values { signal, _ in signal.pairwise().map { $0.current - $0.previous } } == [1, 0, 1])
        #expect(try values { signal, _ in signal.distinctUntilChanged() } == [1, 2, 3])
        #expect(try values { signal, _ in signal.distinctUntilChanged(by: { $0 / 2 }) } == [1, 2])
        #expect(try values { signal, _ in signal.distinctUntilChanged(by: { $0 > $1 - 1 }) } == [1, 2, 3])
        #expect(try values { signal, _ in signal.startWith(7, 8) } == [7, 8, 1, 2, 2, 3])
        #expect(try values { signal, _ in signal.take(2) } == [1, 2])
        #expect(try values { signal, _ in signal.take(while: { $0 < 2 }, inclusive: true) } == [1, 2])
        #expect(try values { signal, _ in signal.take(until: signal.filter { $0 == 3 }) } == [1, 2, 2])
        #expect(try values { signal, _ in signal.first(where: { $0 > 1 }) } == [2])
        #expect(try values { signal, _ in signal.skip(2) } == [2, 3])
        #expect(try values { signal, _ in signal.merge(with: MutableProperty(9)) } == [9, 1, 2, 2, 3])
        let (letter, nine) = (MutableProperty("s"), MutableProperty(9))
        #expect(try values { signal, _ in signal.withLatestFrom(letter) } == ["s", "s", "s", "s"])
        #expect(try values { signal, _ in signal.withLatestFrom(nine) { $0 + $1 } } == [10, 11, 11, 12])
        #expect(try values { signal, _ in MutableProperty(9).sample(by: signal) } == [9])
        #expect(try values { signal, clock in signal.debounce(.milliseconds(2), on: clock) } == [3])
        #expect(try values { signal, clock in signal.throttle(.milliseconds(5), on: clock) } == [1])
        #expect(try values { signal, clock in signal.delay(.seconds(1), on: clock) } == [])
        #expect(try values { signal, clock in signal.observe(on: clock) } == [1, 2, 2, 3])
        #expect(
            try values { signal, _ in signal.groupBy { $0 }.flatMap { group in group.observable.take(1) } }
                == [1, 2, 3])
        #expect(
            try values { signal, _ in signal.flatMap(.latest) { number in .sequence([number, 0]) } }
                == [1, 0, 2, 0, 2, 0, 3, 0])
    }

    @Test func aSignalStartsStreamsThatCanFail() {
        let signal = Signal<Int>()
        let log = Log<String>()
        signal.flatMap { number in
            number < 3 ? Observable<Int, Lost>.just(number) : .fail(Lost())
        }
        .subscribe(onNext: { log.add("\($0)") }, onFailure: { log.add("\($0)") })
        for number in 1...4 { signal.send(number) }
        #expect(log.entries == ["1", "2", "lost"])
    }

    @Test func aFailureOfTheOtherStreamEndsTheMergedOne() {
        let (signal, failures) = (Signal<Int>(), Signal<Lost>())
        let log = Log<String>()
        signal.merge(with: failures.flatMap { Observable<Int, Lost>.fail($0) })
            .subscribe(onNext: { log.add("\($0)") }, onFailure: { log.add("\($0)") })
        signal.send(5)
        failures.send(Lost())
        signal.send(6)
        #expect(log.entries == ["5", "lost"])
    }

    @Test func signalsStatesAndPropertiesAreCombined() {
        let (name, age, isAdult) = (MutableProperty("Lin"), MutableProperty(17), Signal<Bool>())
        let log = Log<String>()
        Observable.combineLatest(name, age).subscribe { log.add("\($0)\($1)") }
        Observable.combineLatest(name, age.map { $0 + 1 }) { "\($0) \($1)" }.subscribe { log.add($0) }
        Observable.zip(age, isAdult).subscribe { log.add("\($0) \($1)") }
        Observable.merge(age, Signal<Int>(), Property(age)).subscribe { log.add("\($0)") }
        isAdult.send(false)
        age.value = 18
        #expect(
            log.entries == [
                "Lin17", "Lin 18", "17", "17", "17 false", "Lin18", "Lin 19", "18", "18",
            ])
    }

    @Test func aSignalIsLoopedOver() async {
        let state = MutableProperty(1)
        var seen: [Int] = []
        for await value in state.values(buffering: .unbounded) {
            seen.append(value)
            if value == 3 { break }
            state.value += 1
        }
        #expect(seen == [1, 2, 3])
    }

    @MainActor @Test func aStateIsShownOnTheMainActor() async {
        let state = MutableProperty(1)
        await withCheckedContinuation { continuation in
            state.subscribe(isolatedTo: MainActor.self) { value in
                MainActor.assertIsolated()
                if value == 1 { continuation.resume() }
            }
        }
    }

    @Test func aBoundStateFollowsItsStream() {
        let (signal, state) = (Signal<Int>(), MutableProperty(0))
        let binding = signal.map { $0 * 2 }.bind(to: state)
        signal.send(1)
        #expect(state.value == 2)
        binding.cancel()
        signal.send(2)
        #expect(state.value == 2)
        let (source, copy) = (MutableProperty("a"), MutableProperty(""))
        source.bind(to: copy)
        #expect(copy.value == "a")
        Observable.just("b").bind(to: copy)
        #expect(copy.value == "b")
    }

    @Test func aBoundStateIsReleasedWithTheBinding() {
        let count = LiveCount()
        let signal = Signal<Counted>()
        let binding = signal.bind(to: MutableProperty(Counted(count)))
        #expect(count.alive == 1)
        binding.cancel()
        #expect(count.alive == 0)
    }
}
