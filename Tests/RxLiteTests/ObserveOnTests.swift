import RxLite
import RxTesting
import Testing

@Suite struct ObserveOnTests {
    private let clock = VirtualScheduler()
    private let log = Log<String>()

    @Test func everythingDownstreamRunsOnTheScheduler() throws {
        let clock = clock
        let other = VirtualScheduler()
        let stream = Observable<Int, Lost> { [log] observer in
            observer.scope.onClose { log.add("source closed, on other: \(other.isCurrent)") }
            other.schedule {
                observer.scope.enter {
                    observer.next(1)
                    observer.fail(Lost())
                }
            }
        }
        .observe(on: clock)
        .handleEvents(onNext: { [log] _ in log.add("value, on clock: \(clock.isCurrent)") })
        stream.subscribe(onFailure: { [log] _ in log.add("end, on clock: \(clock.isCurrent)") })
        try other.run()
        #expect(log.entries == ["source closed, on other: true"])
        try clock.run()
        #expect(log.entries.dropFirst() == ["value, on clock: true", "end, on clock: true"])
    }

    @Test func theSourceIsPausedAtTheHighWaterMarkAndResumedBelow() throws {
        let taken = Shared(0)
        let stream = Observable<Int, Never>.sequence(0..<1000)
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } })
            .observe(on: clock)
        let recorder = Recorder(stream, on: clock)
        #expect(taken.value == 256)
        try clock.run()
        #expect(recorder.values == Array(0..<1000))
        #expect(recorder.completion == .finished)
    }

    /// Each value once, in order, for any pauses; and a paused subscriber pauses the source.
    @Test(arguments: [1, 2, 7, 63, 64, 65, 100, 255, 256, 257])
    func pausesInTheMiddle(every interval: Int) throws {
        let taken = Shared(0)
        let seen = Log<Int>()
        let held = Shared<Subscription?>(nil)
        let hasEnded = Shared(false)
        let scope = Scope(lane: Lane(scheduler: clock))
        let observer = Observer<Int, Never>(
            scope: scope,
            next: { value in
                seen.add(value)
                if value % interval == 0 { scope.pause() }
            },
            end: { _ in
                hasEnded.change { $0 = true }
                scope.close()
            })
        let stream = Observable<Int, Never>.sequence(0..<1000)
            .handleEvents(onNext: { _ in taken.change { $0 += 1 } })
            .observe(on: clock)
        scope.lane.enter { stream.subscribe(observer) }
        var rounds = 0
        while !hasEnded.value && rounds < 2000 {
            try clock.run()
            let count = seen.entries.count
            #expect(taken.value - count <= 256 + 64)
            try clock.run()
            #expect(seen.entries.count == count, "a paused subscriber gets nothing")
            if scope.isPaused { scope.lane.enter { scope.resume() } }
            rounds += 1
        }
        #expect(seen.entries == Array(0..<1000))
        #expect(hasEnded.value)
        _ = held
    }

    @Test func cancellingStopsTheSourceAndDropsWhatWaits() throws {
        let closed = Shared(0)
        let stream = Observable<Int, Never>.sequence(0...)
            .handleEvents(onCancel: { closed.change { $0 += 1 } })
            .observe(on: clock)
        let subscription = stream.subscribe { [log] in log.add("\($0)") }
        subscription.cancel()
        #expect(closed.value == 1)
        try clock.run()
        #expect(log.entries.isEmpty)
        #expect(clock.pendingCount == 0)
    }

    @Test func anEndlessCreateIsStoppedByItsConsumerElsewhere() async throws {
        let stream = Observable<Int, Never>.create { emitter in
            while !emitter.isCancelled { emitter.send(1) }
        }
        let seen = Log<Int>()
        var running: OwnThread?
        await withCheckedContinuation { continuation in
            running = OwnThread {
                stream.observe(on: ActorScheduler.shared).take(3).subscribe(
                    onNext: { seen.add($0) }, onFinish: { continuation.resume() })
            }
        }
        running?.join()
        #expect(seen.entries == [1, 1, 1])
    }

    @Test func subscribingFromElsewhereDeliversOnTheScheduler() async throws {
        let (clock, log) = (clock, log)
        let stream = Observable<Int, Never>(scheduler: clock) { observer in
            Observable<Int, Never>.sequence([1, 2]).subscribe(observer)
        }
        await Task {
            _ = stream.merge(with: .just(3)).subscribe { log.add("\($0) \(clock.isCurrent)") }
        }.value
        #expect(log.entries.isEmpty)
        try clock.run()
        #expect(log.entries == ["1 true", "2 true", "3 true"])
    }

    /// The scheduler delivers while other threads subscribe to streams on it.
    @Test func subscribingWhileTheSchedulerDelivers() async throws {
        let signal = Signal<Int>()
        let clock = clock
        let stream = Observable<Int, Never>(scheduler: clock) { signal.observable.subscribe($0) }
        let wrong = Shared(0)
        let logs = (0..<50).map { _ in Log<Int>() }
        @Sendable func tick(_ number: Int) {
            signal.send(number)
            if number < 2000 { clock.schedule { tick(number + 1) } }
        }
        clock.schedule { tick(1) }
        async let subscribing: Void = Task.detached {
            for log in logs {
                stream.subscribe { value in
                    if !clock.isCurrent { wrong.change { $0 += 1 } }
                    log.add(value)
                }
            }
        }.value
        try clock.run()
        await subscribing
        signal.send(2001)
        try clock.run()
        #expect(wrong.value == 0)
        for log in logs {
            let first = try #require(log.entries.first)
            #expect(log.entries == Array(first...2001))
        }
    }

    @Test func streamsOfDifferentSchedulersMergeOnTheFirst() throws {
        let clock = clock
        let other = VirtualScheduler()
        let left: MarbleSource<String, Never> = try clock.cold("-a-b|")
        let right: MarbleSource<String, Never> = try other.cold("-x-y|")
        Observable.merge(left.observable, right.observable).subscribe(
            onNext: { [log] in log.add("\($0) \(clock.isCurrent)") }, onFinish: { [log] in log.add("end") })
        try other.run()
        #expect(log.entries.isEmpty, "values of the other scheduler wait for the stream's own")
        try clock.run()
        #expect(Set(log.entries.dropLast()) == ["a true", "b true", "x true", "y true"])
        #expect(log.entries.filter { "xy".contains($0.prefix(1)) } == ["x true", "y true"])
        #expect(log.entries.last == "end")
    }
}
