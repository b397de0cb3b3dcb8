import RxLite
import RxTesting
import Testing

/// Bridges between streams and asynchronous code, with and without schedulers.
@Suite(.timeLimit(.minutes(5))) struct BridgeTests {
    /// A source of 1 to `count`, and its progress.
    private struct Source: Sendable {
        let taken = Shared(0)
        let hasEnded = Shared(false)
        let isCancelled = Shared(false)
        let misplaced = Shared(0)

        func numbers(_ count: Int, at home: Residence) -> Observable<Int, Lost> {
            home.house(
                Observable<Int, Lost>.sequence(1...count).handleEvents(
                    onNext: { _ in
                        taken.change { $0 += 1 }
                        if !home.isHere { misplaced.change { $0 += 1 } }
                    },
                    onEnd: { _ in hasEnded.change { $0 = true } },
                    onCancel: { isCancelled.change { $0 = true } }))
        }
    }

    // values(buffering:)

    struct Line: Sendable, CustomTestStringConvertible {
        let policy: BufferPolicy<Lost>
        /// The values received of ten that are sent before any is taken.
        let values: [Int]
        let dropped: Int
        var fails = false
        /// The number of values taken from the source meanwhile.
        var taken = 10
        var testDescription: String { "\(policy)" }
    }

    static let lines = [
        Line(policy: .unbounded, values: Array(1...10), dropped: 0),
        Line(policy: .latest(3), values: [8, 9, 10], dropped: 7),
        Line(policy: .latest(20), values: Array(1...10), dropped: 0),
        Line(policy: .oldest(3), values: [1, 2, 3], dropped: 7),
        Line(policy: .suspend(high: 4, low: 1), values: Array(1...10), dropped: 0, taken: 4),
        Line(policy: .suspend(high: 4, low: 3), values: Array(1...10), dropped: 0, taken: 4),
        Line(policy: .suspend(high: 20, low: 1), values: Array(1...10), dropped: 0),
        Line(policy: .fail(above: 3, with: Lost()), values: [1, 2, 3], dropped: 1, fails: true, taken: 4),
        Line(policy: .fail(above: 10, with: Lost()), values: Array(1...10), dropped: 0),
    ]

    @Test(arguments: Place.allCases, lines)
    func everyPolicy(_ place: Place, _ line: Line) async throws {
        try await place.run { home in
            let source = Source()
            let iterator = source.numbers(10, at: home).values(buffering: line.policy).makeAsyncIterator()
            await until { source.hasEnded.value || source.isCancelled.value || line.taken < 10 }
            await until { source.taken.value >= line.taken }
            #expect(source.taken.value == line.taken)
            var values: [Int] = []
            var error: Lost?
            do throws(Lost) {
                while let value = try await iterator.next() { values.append(value) }
            } catch let failure {
                error = failure
            }
            #expect(values == line.values)
            #expect(error == (line.fails ? Lost() : nil))
            #expect(iterator.droppedCount == line.dropped)
            #expect(source.isCancelled.value == line.fails)
            #expect(source.misplaced.value == 0)
        }
    }

    /// Between the marks the source stays paused.
    @Test(arguments: Place.allCases)
    func theSourceGoesOnAtTheLowWaterMark(_ place: Place) async throws {
        try await place.run { home in
            let source = Source(), delivered = Shared(0)
            let iterator = source.numbers(1000, at: home).counting(delivered)
                .values(buffering: .suspend(high: 8, low: 2)).makeAsyncIterator()
            for round in 0..<20 {
                // Eight wait; after five are taken three wait, and the source is still paused.
                await until { delivered.value == 8 + 6 * round }
                for number in 1...5 {
                    let taken = try await iterator.next()
                    #expect(taken == 6 * round + number)
                }
                #expect(source.taken.value == 8 + 6 * round)
                let sixth = try await iterator.next()
                #expect(sixth == 6 * round + 6)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func oneValueStopsTheSource(_ place: Place) async throws {
        try await place.run { home in
            let source = Source()
            let first = try await source.numbers(.max, at: home).value()
            #expect(first == 1)
            await until { source.isCancelled.value }
            #expect(source.taken.value == 1)
            await #expect(throws: NoValue.self) {
                try await home.house(Observable<Int, Lost>.empty()).value()
            }
            await #expect(throws: Lost()) { try await home.house(Observable<Int, Lost>.fail(Lost())).value() }
        }
    }

    @Test(arguments: Place.allCases)
    func collectGivesAll(_ place: Place) async throws {
        try await place.run { home in
            let source = Source()
            let all = try await source.numbers(5000, at: home).collect().value()
            #expect(all == Array(1...5000))
            #expect(source.misplaced.value == 0)
            let failing = home.house(Observable<Int, Lost>.concat([.just(1), .fail(Lost())]))
            await #expect(throws: Lost()) { try await failing.collect().value() }
        }
    }

    // Streams of asynchronous code

    @Test(arguments: Place.allCases)
    func aSequenceIsAskedOnlyWithoutBackpressure(_ place: Place) async throws {
        try await place.run { home in
            let asked = Shared(0)
            let iterator = home.house(Observable(Naturals(asked: asked)))
                .values(buffering: .suspend(high: 4, low: 3)).makeAsyncIterator()
            for taken in 0..<100 {
                await until { asked.value == taken + 4 }
                for _ in 0..<10 { await Task.yield() }
                #expect(asked.value == taken + 4)
                let element = await iterator.next()
                #expect(element == taken)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func anAsynchronousClosureAnswersWhereTheStreamLives(_ place: Place) async throws {
        try await place.run { home in
            let stream = home.house(
                Observable<Int, Lost>.async { () async throws(Lost) in
                    await Task.yield()
                    return 7
                })
            let place = try await stream.map { _ in home.isHere }.value()
            #expect(place == true)
            let answers = try await stream.collect().value()
            #expect(answers == [7])
        }
    }

    // Cancelling, both ways

    @Test(arguments: Place.allCases)
    func cancellingTheTaskCancelsTheStream(_ place: Place) async throws {
        try await place.run { home in
            let isRunning = Shared(false)
            let isCancelled = Shared(false)
            let silent = home.house(
                Observable<Int, Never>.never().handleEvents(
                    onSubscribe: { isRunning.change { $0 = true } },
                    onCancel: { isCancelled.change { $0 = true } }))
            for wait in [{ _ = try await silent.value() }, { _ = try await silent.collect().value() }]
                as [@Sendable () async throws -> Void]
            {
                isRunning.change { $0 = false }
                isCancelled.change { $0 = false }
                let task = Task { try await wait() }
                await until { isRunning.value }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                await until { isCancelled.value }
            }
        }
    }

    @Test(arguments: Place.allCases)
    func cancellingTheStreamCancelsTheTask(_ place: Place) async throws {
        try await place.run { home in
            let isRunning = Shared(false)
            let isCancelled = Shared(false)
            let subscription = home.house(
                Observable<Int, Never>.async {
                    isRunning.change { $0 = true }
                    await until { Task.isCancelled }
                    isCancelled.change { $0 = true }
                    return 1
                }
            ).subscribe { _ in Issue.record("a value after the cancel") }
            await until { isRunning.value }
            subscription.cancel()
            await until { isCancelled.value }
        }
    }

    // Delivery on actors

    @MainActor private final class Screen {
        var shown: [Int] = []
    }

    private actor Cart {
        private(set) var goods: [Int] = []
        func add(_ number: Int) { goods.append(number) }
    }

    @Test(arguments: Place.allCases)
    func fromAnywhereToTheMainActor(_ place: Place) async throws {
        try await place.run { home in
            let source = Source()
            let screen = Screen()
            await withCheckedContinuation { continuation in
                source.numbers(1000, at: home).subscribe(
                    isolatedTo: MainActor.self, onNext: { screen.shown.append($0) },
                    onFinish: { continuation.resume() })
            }
            let shown = await screen.shown
            #expect(shown == Array(1...1000))
            #expect(source.misplaced.value == 0)
        }
    }

    @Test(arguments: Place.allCases)
    func fromAnywhereToAnyActor(_ place: Place) async throws {
        try await place.run { home in
            let source = Source()
            let cart = Cart()
            await withCheckedContinuation { continuation in
                source.numbers(1000, at: home).subscribe(
                    isolatedTo: cart, onNext: { cart, number in cart.add(number) },
                    onFinish: { _ in continuation.resume() })
            }
            let goods = await cart.goods
            #expect(goods == Array(1...1000))
            #expect(source.misplaced.value == 0)
        }
    }
}

/// Counts from 0 without end, and records the number of requests.
private struct Naturals: AsyncSequence, Sendable {
    let asked: Shared<Int>

    func makeAsyncIterator() -> Iterator { Iterator(asked: asked) }

    struct Iterator: AsyncIteratorProtocol {
        let asked: Shared<Int>
        var number = 0

        mutating func next(isolation _: isolated (any Actor)?) async -> Int? {
            asked.change { $0 += 1 }
            defer { number += 1 }
            return number
        }

        mutating func next() async -> Int? { await next(isolation: nil) }
    }
}

extension Observable {
    /// The same stream; `count` is the number of values that the subscriber has received.
    fileprivate func counting(_ count: Shared<Int>) -> Observable {
        lift { observer in
            Observer(
                scope: observer.scope,
                next: { value in
                    observer.next(value)
                    count.change { $0 += 1 }
                }, end: observer.end)
        }
    }
}
