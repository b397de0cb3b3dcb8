import RxLite
import RxTesting
import Synchronization
import Testing

/// A million synchronous streams need no more stack and memory than one. One test at a time, since each keeps a core busy.
@Suite(.serialized) struct StackTests {
    static let million = 1_000_000

    private func count<Failure: Error>(
        _ stream: @escaping @Sendable () -> Observable<Int, Failure>
    ) async -> (values: Int, hasEnded: Bool) {
        let counts = Shared((values: 0, hasEnded: false))
        await runWithSmallStack {
            stream().subscribe(
                onNext: { _ in counts.change { $0.values += 1 } },
                onEnd: { _ in counts.change { $0.hasEnded = true } })
        }
        return counts.value
    }

    /// One value and an end at once; it counts as alive until its scope closes.
    private func one<Failure: Error>(
        _ number: Int = 1, in live: LiveCount, end: Completion<Failure>
    ) -> Observable<Int, Failure> {
        Observable { observer in
            let scopeLife = Counted(live)
            observer.scope.onClose { _ = scopeLife }
            observer.next(number)
            if observer.scope.isOpen { observer.end(end) }
        }
    }

    @Test(arguments: [FlattenStrategy.concat, .merge, .latest, .first])
    func flatMapOfAMillion(_ strategy: FlattenStrategy) async {
        let live = LiveCount()
        let counts = await count {
            Observable.sequence(0..<Self.million).flatMap(strategy) { one($0, in: live, end: .finished) }
        }
        #expect(counts == (Self.million, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    /// Sources that send and end during their start do not recurse.
    @Test func aHundredThousandSourcesElsewhereOneAfterTheOther() async {
        let sum = Shared(0)
        await runWithSmallStack {
            let elsewhere = VirtualScheduler()
            let source = Observable<Int, Never>(scheduler: elsewhere) { observer in
                observer.next(1)
                observer.finish()
            }
            Observable<Int, Never>.sequence(0..<100_000).flatMap(.concat) { _ in source }
                .subscribe { value in sum.change { $0 += value } }
        }
        #expect(sum.value == 100_000)
    }

    @Test func concatOfAMillionThatEndLater() async throws {
        let counts = await count {
            let first = Observable<Int, Never>.create { emitter in
                emitter.send(0)
                emitter.finish()
            }
            return Observable.sequence(0..<100_000).flatMap(.concat) { _ in first }
        }
        #expect(counts == (100_000, true))
    }

    @Test func retryOfAMillion() async {
        let live = LiveCount()
        let counts = await count {
            one(in: live, end: .failed(Lost())).retry(Self.million)
        }
        #expect(counts == (Self.million + 1, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    @Test func retryOfSharedAndCreatedStreams() async {
        let counts = await count {
            Observable<Int, Lost>.create { emitter in
                emitter.send(1)
                emitter.fail(Lost())
            }
            .share().retry(100_000)
        }
        #expect(counts == (100_001, true))
    }

    @Test func retryWhenOfAMillion() async {
        let live = LiveCount()
        let counts = await count {
            one(in: live, end: .failed(Lost())).retry(when: { $0 }).take(Self.million)
        }
        #expect(counts == (Self.million, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    @Test func repeatOfAMillion() async {
        let live = LiveCount()
        let counts = await count {
            one(in: live, end: Completion<Never>.finished).repeat(Self.million)
        }
        #expect(counts == (Self.million, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    @Test func repeatWhenOfAMillion() async {
        let live = LiveCount()
        let counts = await count {
            one(in: live, end: Completion<Never>.finished).repeat(when: { $0.take(Self.million - 1) })
        }
        #expect(counts == (Self.million, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    @Test func repeatOfSharedAndCreatedStreams() async {
        let counts = await count {
            Observable<Int, Never>.create { emitter in
                emitter.send(1)
                emitter.finish()
            }
            .share().repeat(100_000)
        }
        #expect(counts == (100_000, true))
    }

    @Test(arguments: [Int.max, 1])
    func expandOfAMillion(_ limit: Int) async {
        let live = LiveCount()
        let counts = await count {
            Observable<Int, Never>.just(1).expand(limit: limit) { number in
                number < Self.million ? one(number + 1, in: live, end: .finished) : .empty()
            }
        }
        #expect(counts == (Self.million, true))
        #expect(live.alive == 0)
        // The number that may nest before the rest is queued.
        #expect(live.peak <= 40)
    }

    /// Values and ends that each come from a separate piece of work.
    @Test(arguments: Later.allCases)
    func aMillionThatEndLater(_ shape: Later) async {
        let clock = VirtualScheduler(stepLimit: .max)
        let live = LiveCount()
        let one = Observable<Int, Lost> { observer in
            let scopeLife = Counted(live)
            observer.scope.onClose { _ = scopeLife }
            clock.schedule {
                observer.scope.enter {
                    observer.next(1)
                    if observer.scope.isOpen { shape == .retry ? observer.fail(Lost()) : observer.finish() }
                }
            }
        }
        let counts = Shared((values: 0, hasEnded: false))
        shape.stream(of: one, Self.million).subscribe(
            onNext: { _ in counts.change { $0.values += 1 } },
            onEnd: { _ in counts.change { $0.hasEnded = true } })
        #expect(await runWithSmallStack(clock) == nil)
        #expect(counts.value == (Self.million, true))
        #expect(live.alive == 0)
        #expect(live.peak <= 2)
    }

    enum Later: CaseIterable {
        case concat, retry, repetition, expand

        func stream(of one: Observable<Int, Lost>, _ count: Int) -> Observable<Int, Lost> {
            switch self {
            case .concat: .sequence(0..<count).flatMap(.concat) { _ in one }
            case .retry: one.retry(count - 1)
            case .repetition: one.repeat(count)
            case .expand: one.expand { _ in one }.take(count)
            }
        }
    }

    @Test(arguments: [1, 100, 100_000])
    func recursionThroughFlatMap(_ depth: Int) async {
        @Sendable func pages(_ number: Int) -> Observable<Int, Never> {
            guard number < depth else { return .just(number) }
            return Observable.just(number).flatMap(.concat) { number in
                .concat([.just(number), pages(number + 1)])
            }
        }
        #expect(await count { pages(0) } == (depth + 1, true))
    }

    @Test func recursionThroughFlatMapOverTime() async throws {
        let clock = VirtualScheduler(stepLimit: .max)
        let depth = 20_000
        @Sendable func poll(_ number: Int) -> Observable<Int, Never> {
            Observable.timer(.seconds(1), on: clock).flatMap(.concat) {
                number < depth ? poll(number + 1).startWith(number) : .just(number)
            }
        }
        let seen = Shared(0)
        let hasEnded = Shared(false)
        poll(0).subscribe(
            onNext: { _ in seen.change { $0 += 1 } }, onFinish: { hasEnded.change { $0 = true } })
        #expect(await runWithSmallStack(clock) == nil)
        #expect(seen.value == depth + 1)
        #expect(hasEnded.value)
    }

    @Test func cancellingADeepRecursion() async throws {
        let clock = VirtualScheduler(stepLimit: .max)
        @Sendable func poll(_ number: Int) -> Observable<Int, Never> {
            Observable.timer(.seconds(1), on: clock).flatMap(.concat) { poll(number + 1) }
        }
        let live = LiveCount()
        let kept = Shared<Subscription?>(nil)
        func begin() {
            let token = Counted(live)
            kept.change { $0 = poll(0).subscribe { _ in _ = token } }
        }
        begin()
        try clock.advance(to: .seconds(20_000))
        // Teardown and the release of the last references happen on the small stack.
        clock.schedule {
            kept.value?.cancel()
            kept.change { $0 = nil }
        }
        #expect(await runWithSmallStack(clock) == nil)
        #expect(clock.pendingCount == 0)
        #expect(live.alive == 0)
    }
}

/// Runs `clock` on a thread with a small stack.
private func runWithSmallStack(_ clock: VirtualScheduler) async -> VirtualTimeError? {
    let error = Shared<VirtualTimeError?>(nil)
    await runWithSmallStack {
        do throws(VirtualTimeError) { try clock.run() } catch let failure { error.change { $0 = failure } }
    }
    return error.value
}

/// A value that closures share.
final class Shared<Value: Sendable>: Sendable {
    private let contents: Mutex<Value>
    init(_ value: Value) { contents = Mutex(value) }
    var value: Value { contents.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { contents.withLock { body(&$0) } }
}
