import RxLite
import RxLoop
import RxTesting
import Testing

/// `value()`: exactly one value, or the reason for its absence.
@Suite(.timeLimit(.minutes(1))) struct ValueTests {
    private let numbers = Observable<Int, Never>.sequence(1...3)
    private let failing = Observable<Int, Lost>.concat([.just(1), .fail(Lost())])

    @Test func theFirstValueIsTaken() async throws {
        #expect(try await numbers.value() == 1)
        #expect(try await Observable<Int, Never>.sequence(7...).value() == 7)
        #expect(try await failing.value() == 1)
        #expect(try await MutableProperty("tea").observable.value() == "tea")
        let endless = Observable<Int, Never>.create { emitter in
            while !emitter.isCancelled { emitter.send(3) }
        }
        #expect(try await endless.value() == 3)
    }

    @Test func operatorsComeBeforeIt() async throws {
        #expect(try await numbers.collect().value() == [1, 2, 3])
        #expect(try await numbers.reduce(0, +).value() == 6)
        #expect(try await numbers.last().value() == 3)
        #expect(try await Observable<Int, Never>.empty().collect().value() == [])
        await #expect(throws: Lost()) { try await failing.collect().value() }
    }

    @Test func anOptionalValueIsNoMissingOne() async throws {
        #expect(try await Observable<Int?, Never>.just(nil).value() == nil)
    }

    @Test func theFailureIsThrown() async {
        await #expect(throws: Lost()) { try await Observable<Int, Lost>.fail(Lost()).value() }
        await #expect(throws: Lost()) { try await failing.skip(1).value() }
    }

    @Test func anEndWithoutAValueIsThrown() async {
        await #expect(throws: NoValue()) { try await Observable<Int, Never>.empty().value() }
        await #expect(throws: NoValue()) { try await failing.take(1).skip(1).value() }
        #expect("\(NoValue())" == "the stream finished without a value")
    }

    @Test func aValueCancelsTheRest() async throws {
        let isCancelled = Shared(false)
        let signal = Signal<Int>()
        let stream = signal.observable.startWith(1).handleEvents(onCancel: {
            isCancelled.change { $0 = true }
        })
        #expect(try await stream.value() == 1)
        #expect(isCancelled.value)
    }

    @Test func aCancelledTaskCancelsTheStream() async {
        let isRunning = Shared(false), isCancelled = Shared(false)
        let stream = Observable<Int, Lost>.never().handleEvents(
            onSubscribe: { isRunning.change { $0 = true } }, onCancel: { isCancelled.change { $0 = true } })
        let task = Task { try await stream.value() }
        await until { isRunning.value }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(isCancelled.value)
    }

    @Test func aTaskThatIsCancelledAlreadyStartsNothing() async {
        let isRunning = Shared(false)
        let stream = Observable<Int, Never>.just(1).handleEvents(onSubscribe: {
            isRunning.change { $0 = true }
        })
        let task = Task {
            await until { Task.isCancelled }
            return try await stream.value()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!isRunning.value)
    }

    /// An actor that runs on a loop's thread.
    private actor Resident {
        let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        init(_ loop: EventLoop) { self.loop = loop }

        func startsHere() async throws -> Bool {
            let loop = loop
            let isHere = Observable<Bool, Never>.deferred { .just(loop.ownsCurrentThread) }
            let value = try await isHere.value()
            return value && loop.ownsCurrentThread
        }
    }

    @Test func theStreamIsStartedByTheCaller() async throws {
        let loop = EventLoop(name: "caller")
        defer { loop.shutDown() }
        #expect(try await Resident(loop).startsHere())
    }
}
