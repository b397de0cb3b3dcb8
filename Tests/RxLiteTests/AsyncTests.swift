import RxLite
import RxTesting
import Testing

/// Streams made from asynchronous closures and sequences, and the reverse.
@Suite struct AsyncTests {
    // A closure

    @Test func aClosureGivesOneValue() async throws {
        let stream = Observable<Int, Lost>.async { () throws(Lost) in
            await Task.yield()
            return 7
        }
        #expect(try await stream.collect().value() == [7])
        #expect(try await stream.map { $0 * 2 }.collect().value() == [14])
    }

    @Test func aClosureThatThrowsFailsTheStream() async throws {
        let stream = Observable<Int, Lost>.async { () async throws(Lost) in throw Lost() }
        await #expect(throws: Lost()) { try await stream.collect().value() }
        let caught = stream.catch { _ in Observable<Int, Never>.just(1) }
        #expect(try await caught.collect().value() == [1])
    }

    @Test func aClosureRunsAnewForEachSubscriber() async throws {
        let runs = Shared(0)
        let stream = Observable<Int, Never>.async {
            runs.change { $0 += 1 }
            return runs.value
        }
        #expect(runs.value == 0)
        #expect(try await stream.value() == 1)
        #expect(try await stream.value() == 2)
    }

    @Test func cancellingTheStreamCancelsTheClosuresTask() async {
        let (events, log) = AsyncStream.makeStream(of: String.self)
        let received = Log<Int>()
        let subscription = Observable<Int, Never>.async {
            log.yield("begun")
            while !Task.isCancelled { await Task.yield() }
            log.yield("cancelled")
            log.finish()
            return 1
        }
        .subscribe(onNext: { received.add($0) }, onFinish: { received.add(0) })
        for await event in events where event == "begun" { subscription.cancel() }
        #expect(!subscription.isActive)
        #expect(received.entries == [])
    }

    @Test func cancellingTheTaskThatWaitsCancelsTheClosuresTask() async {
        let (events, log) = AsyncStream.makeStream(of: String.self)
        let task = Task {
            try await Observable<Int, Never>.async {
                log.yield("begun")
                while !Task.isCancelled { await Task.yield() }
                log.yield("cancelled")
                log.finish()
                return 1
            }
            .value()
        }
        var seen: [String] = []
        for await event in events {
            seen.append(event)
            task.cancel()
        }
        #expect(seen == ["begun", "cancelled"])
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aClosureBelowAClosedSubscriptionIsNotRun() async throws {
        let runs = Shared(0)
        let late = Observable<Int, Never>.async {
            runs.change { $0 += 1 }
            return 2
        }
        #expect(try await Observable.race(.just(1), late).collect().value() == [1])
        #expect(runs.value == 0)
    }

    @Test func theValueArrivesWhereTheStreamLives() async throws {
        let stream = Observable<Int, Never>.async { 1 }.observe(on: ActorScheduler.main)
        #expect(try await stream.map { _ in ActorScheduler.main.isCurrent }.value() == true)
        let inner = Observable<Int, Never>.just(1).observe(on: ActorScheduler.main)
            .flatMap { number in Observable<Int, Never>.async { number } }
        #expect(try await inner.map { _ in ActorScheduler.main.isCurrent }.value() == true)
    }

    // A sequence

    @Test(arguments: [0, 1, 2, 1000])
    func aSequenceGivesItsElements(_ count: Int) async throws {
        let stream = Observable(Counting(upTo: count))
        #expect(try await stream.collect().value() == Array(0..<count))
        #expect(try await stream.map { $0 + 1 }.collect().value() == Array(1..<(count + 1)))
    }

    @Test func aSequenceThatThrowsFailsTheStream() async {
        let log = Log<Int>()
        let stream = Observable(Failing(after: 3)).handleEvents(onNext: { log.add($0) })
        await #expect(throws: Lost()) { try await stream.collect().value() }
        #expect(log.entries == [0, 1, 2])
    }

    @Test func sequencesOfTheStandardLibrary() async throws {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<5 { continuation.yield(number) }
        continuation.finish()
        #expect(try await Observable(elements).collect().value() == [0, 1, 2, 3, 4])
        let failing = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Lost()) }
        await #expect(throws: Lost()) { try await Observable(failing).collect().value() }
    }

    @Test func aSequenceIsAskedOnlyWithoutBackpressure() async {
        let asked = Shared(0)
        let stream = Observable(Counting(upTo: .max, asked))
        let iterator = stream.values(buffering: .suspend(high: 4, low: 1)).makeAsyncIterator()
        await until { asked.value >= 4 }
        for taken in 0..<200 {
            for _ in 0..<20 { await Task.yield() }
            #expect(asked.value <= taken + 4)
            #expect(await iterator.next() == taken)
        }
    }

    @Test func aSequenceIsNotAskedWhileItIsPausedFromTheStart() async {
        let asked = Shared(0)
        let elements = Counting(upTo: 3, asked)
        let (events, log) = AsyncStream.makeStream(of: Int.self)
        let scope = Scope()
        scope.lane.enter {
            scope.pause()
            Observable(elements).subscribe(
                Observer(
                    scope: scope, next: { log.yield($0) },
                    end: { _ in
                        scope.close()
                        log.finish()
                    }))
        }
        for _ in 0..<200 { await Task.yield() }
        #expect(asked.value == 0)
        scope.lane.enter { scope.resume() }
        var seen: [Int] = []
        for await number in events { seen.append(number) }
        #expect(seen == [0, 1, 2])
    }

    @Test func pausingAgainAndAgainLosesNothing() async {
        let (events, log) = AsyncStream.makeStream(of: Int.self)
        let subscription = Observable(Counting(upTo: 500)).subscribe(
            onNext: { log.yield($0) }, onFinish: { log.finish() })
        let pausing = Task.detached {
            // Bounded: on a busy machine it could otherwise add work faster than the lane runs it.
            for _ in 0..<5_000 where !Task.isCancelled {
                subscription.pause()
                subscription.resume()
                await Task.yield()
            }
        }
        var seen: [Int] = []
        for await number in events { seen.append(number) }
        pausing.cancel()
        #expect(seen == Array(0..<500))
    }

    @Test func cancellingTheStreamCancelsTheSequencesTask() async {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        let (ended, signal) = AsyncStream.makeStream(of: Bool.self)
        continuation.onTermination = { reason in
            signal.yield(reason == .cancelled)
            signal.finish()
        }
        let (received, log) = AsyncStream.makeStream(of: Int.self)
        let subscription = Observable(elements).subscribe { log.yield($0) }
        continuation.yield(1)
        for await _ in received { break }
        subscription.cancel()
        for await isCancelled in ended { #expect(isCancelled) }
    }

    @Test func takingOneOfAnEndlessSequenceEndsItsTask() async throws {
        let count = LiveCount()
        let asked = Shared(0)
        #expect(try await Observable(Counting(upTo: .max, asked, Counted(count))).value() == 0)
        await until { count.alive == 0 }
        #expect(asked.value <= 2)
    }

    // All values

    @Test func collect() async throws {
        #expect(try await Observable<Int, Never>.empty().collect().value() == [])
        #expect(try await Observable<Int, Never>.sequence(0..<10_000).collect().value() == Array(0..<10_000))
        await #expect(throws: Lost()) {
            try await Observable<Int, Lost>.concat([.just(1), .fail(Lost())]).collect().value()
        }
    }

    @Test func aCancelledCollectGivesNothing() async {
        let signal = Signal<Int>()
        let cancelled = Shared(false)
        let subscribed = Shared(false)
        let stream = signal.observable.startWith(1, 2).handleEvents(
            onSubscribe: { subscribed.change { $0 = true } }, onCancel: { cancelled.change { $0 = true } })
        let task = Task { try await stream.collect().value() }
        await until { subscribed.value }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(cancelled.value)
    }
}

/// Counts from 0, and records the number of requests.
private struct Counting: AsyncSequence, Sendable {
    let count: Int
    let asked: Shared<Int>
    let life: Counted?

    init(upTo count: Int, _ asked: Shared<Int> = Shared(0), _ life: Counted? = nil) {
        self.count = count
        self.asked = asked
        self.life = life
    }

    func makeAsyncIterator() -> Iterator { Iterator(counting: self) }

    struct Iterator: AsyncIteratorProtocol {
        let counting: Counting
        var next = 0

        mutating func next(isolation _: isolated (any Actor)?) async -> Int? {
            counting.asked.change { $0 += 1 }
            guard next < counting.count else { return nil }
            defer { next += 1 }
            return next
        }

        mutating func next() async -> Int? { await next(isolation: nil) }
    }
}

/// Counts, and throws an error of its own type.
private struct Failing: AsyncSequence, Sendable {
    let count: Int

    init(after count: Int) { self.count = count }

    func makeAsyncIterator() -> Iterator { Iterator(count: count) }

    struct Iterator: AsyncIteratorProtocol {
        let count: Int
        var next = 0

        mutating func next(isolation _: isolated (any Actor)?) async throws(Lost) -> Int? {
            guard next < count else { throw Lost() }
            defer { next += 1 }
            return next
        }

        mutating func next() async throws(Lost) -> Int? { try await next(isolation: nil) }
    }
}
