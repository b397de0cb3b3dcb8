import RxLite
import RxTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Ends, and streams that start at another stream's end, while the subscriber is paused.
@Suite(.timeLimit(.minutes(1))) struct PausedEndTests {
    private let log = Log<String>()

    @Test func buffersSendOneListAtATimeAtTheEnd() {
        let numbers = Signal<Int>()
        let end = Signal<Void>()
        let held = Shared<Subscription?>(nil)
        let subscription = numbers.observable.take(until: end.observable).buffer(count: 4, every: 1)
            .subscribe(
                onNext: { [log] list in
                    log.add("\(list)")
                    held.value?.pause()
                }, onFinish: { [log] in log.add("end") })
        held.change { $0 = subscription }
        for number in 1...3 { numbers.send(number) }
        end.send()
        #expect(log.entries == ["[1, 2, 3]"])
        subscription.resume()
        #expect(log.entries == ["[1, 2, 3]", "[2, 3]"])
        subscription.resume()
        subscription.resume()
        #expect(log.entries == ["[1, 2, 3]", "[2, 3]", "[3]", "end"])
    }

    @Test func anErrorDropsTheListsThatWait() {
        let numbers = Signal<Int>()
        numbers.observable.setFailureType(to: Lost.self).map { number throws(Lost) -> Int in
            guard number < 3 else { throw Lost() }
            return number
        }
        .buffer(count: 4, every: 1)
        .subscribe(onNext: { [log] in log.add("\($0)") }, onFailure: { [log] _ in log.add("error") })
        for number in 1...3 { numbers.send(number) }
        #expect(log.entries == ["error"])
    }

    @Test(arguments: [FlattenStrategy.merge(limit: 2), .concat])
    func flatMapWithALimitBeginsNothingWhilePaused(_ strategy: FlattenStrategy) {
        let numbers = Signal<Int>()
        let subscription = numbers.observable
            .flatMap(strategy) { [log] number in
                log.add("begin \(number)")
                return Observable<Int, Never>.just(number)
            }
            .subscribe { [log] in log.add("\($0)") }
        subscription.pause()
        for number in 1...3 { numbers.send(number) }
        #expect(log.entries.isEmpty)
        subscription.resume()
        #expect(log.entries == ["begin 1", "1", "begin 2", "2", "begin 3", "3"])
        numbers.send(4)
        #expect(log.entries.suffix(2) == ["begin 4", "4"])
    }

    /// Streams that started before the pause resume before those that waited.
    @Test func afterAPauseStreamsGoOnInTheOrderInWhichTheyWereStarted() {
        let numbers = Signal<Int>()
        let subscription = numbers.observable
            .flatMap(.merge(limit: 2)) { [log] number -> Observable<Int, Never> in
                log.add("begin \(number)")
                return number == 1 ? .concat([.just(1), .just(11), .just(12)]) : .just(number)
            }
            .handleEvents(onNext: { [log] in log.add("\($0)") })
        let held = Shared<Subscription?>(nil)
        let running = subscription.subscribe { number in
            if number == 1 { held.value?.pause() }
        }
        held.change { $0 = running }
        for number in 1...3 { numbers.send(number) }
        #expect(log.entries == ["begin 1", "1"])
        running.resume()
        #expect(log.entries == ["begin 1", "1", "11", "12", "begin 2", "2", "begin 3", "3"])
    }

    // Events from elsewhere

    struct Bridge: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The stream; it produces its next event when the postman brings something.
        let stream: @Sendable (Postman) -> Observable<Int, Lost>
        let events: [Result<Int?, Lost>]
        let log: [String]
    }

    static let bridges = [
        Bridge(
            testDescription: "the value of a closure",
            stream: { postman in .async { () async throws(Lost) in try await postman.next() ?? 0 } },
            events: [.success(1)], log: ["1", "end"]),
        Bridge(
            testDescription: "the error of a closure",
            stream: { postman in .async { () async throws(Lost) in try await postman.next() ?? 0 } },
            events: [.failure(Lost())], log: ["lost"]),
        Bridge(
            testDescription: "the elements and the end of a sequence", stream: { Observable($0) },
            events: [.success(1), .success(2), .success(nil)], log: ["1", "2", "end"]),
        Bridge(
            testDescription: "the error of a sequence", stream: { Observable($0) },
            events: [.success(1), .failure(Lost())], log: ["1", "lost"]),
    ]

    /// Each event arrives in a pause that began while it was awaited.
    @Test(arguments: bridges)
    func anEventThatArrivesDuringAPauseWaits(_ bridge: Bridge) async {
        let (place, postman) = (QueueScheduler(), Postman())
        let subscription = bridge.stream(postman).subscribe(on: place).subscribe(
            onNext: { [log] in log.add("\($0)") }, onFailure: { [log] _ in log.add("lost") },
            onFinish: { [log] in log.add("end") })
        place.run()
        for event in bridge.events {
            // For a sequence also the event before has been delivered, so that it is asked for the next one.
            await until { postman.isAwaited }
            subscription.pause()
            place.run()
            let before = log.entries
            postman.bring(event)
            await until { place.hasWork }
            place.run()
            #expect(log.entries == before)
            subscription.resume()
            place.run()
            #expect(log.entries != before)
        }
        #expect(log.entries == bridge.log)
        #expect(!subscription.isActive)
    }

    @Test func aPauseWithinTheOnlyValueHoldsTheEnd() {
        let held = Shared<Subscription?>(nil)
        let start = Signal<Void>()
        let subscription = start.observable.take(1).flatMap { Observable<Int, Never>.just(1) }
            .subscribe(
                onNext: { [log] in
                    log.add("\($0)")
                    held.value?.pause()
                }, onFinish: { [log] in log.add("end") })
        held.change { $0 = subscription }
        start.send()
        #expect(log.entries == ["1"])
        subscription.resume()
        #expect(log.entries == ["1", "end"])
        subscription.resume()
        #expect(log.entries == ["1", "end"])
    }

    @Test(arguments: [false, true]) func aSharedStreamThatEndsDuringAPauseEndsAfterIt(isFailing: Bool) {
        let end = Signal<Void>()
        let shared = end.observable.setFailureType(to: Lost.self).take(1)
            .flatMap { isFailing ? Observable<Int, Lost>.fail(Lost()) : .empty() }.share()
        // Another subscriber keeps the source running.
        shared.subscribe()
        let subscription = shared.subscribe(
            onFailure: { [log] _ in log.add("lost") }, onFinish: { [log] in log.add("end") })
        subscription.pause()
        end.send()
        #expect(log.entries.isEmpty)
        subscription.resume()
        #expect(log.entries == [isFailing ? "lost" : "end"])
    }

    @Test func aDelayedEndWaits() throws {
        let clock = VirtualScheduler()
        let subscription = Observable<Int, Never>.just(1).delay(.seconds(1), on: clock)
            .subscribe(onNext: { [log] in log.add("\($0)") }, onFinish: { [log] in log.add("end") })
        let held = Observable<Int, Never>.empty().delay(.seconds(1), on: clock)
            .subscribe(onFinish: { [log] in log.add("empty") })
        subscription.pause()
        held.pause()
        try clock.run()
        #expect(log.entries.isEmpty)
        subscription.resume()
        held.resume()
        #expect(log.entries == ["1", "end", "empty"])
    }
}

/// Brings events, one at a time, to the task that awaits them.
final class Postman: AsyncSequence, Sendable {
    private let awaiting = Mutex<CheckedContinuation<Result<Int?, Lost>, Never>?>(nil)

    var isAwaited: Bool { awaiting.withLock { $0 != nil } }

    func bring(_ event: Result<Int?, Lost>) { awaiting.withLock { $0.take() }?.resume(returning: event) }

    func next() async throws(Lost) -> Int? {
        try await withCheckedContinuation { continuation in awaiting.withLock { $0 = continuation } }.get()
    }

    func makeAsyncIterator() -> Iterator { Iterator(postman: self) }

    struct Iterator: AsyncIteratorProtocol {
        let postman: Postman

        func next(isolation _: isolated (any Actor)?) async throws(Lost) -> Int? { try await postman.next() }

        func next() async throws(Lost) -> Int? { try await postman.next() }
    }
}

/// A scheduler whose work runs when the test says so.
private final class QueueScheduler: Scheduler {
    private let works = Mutex<[@Sendable () -> Void]>([])
    /// The thread that runs the work; 0 if none does.
    private let runner = Atomic<UInt>(0)

    var now: Duration { .zero }
    var isCurrent: Bool { runner.load(ordering: .relaxed) == Self.thread }
    var hasWork: Bool { works.withLock { !$0.isEmpty } }

    private static var thread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    func schedule(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

    func schedule(after _: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        Issue.record("nothing here has a timer")
        return SubscriptionBag()
    }

    func run() {
        runner.store(Self.thread, ordering: .relaxed)
        while true {
            let batch = works.withLock { works in
                defer { works = [] }
                return works
            }
            if batch.isEmpty { break }
            for work in batch { work() }
        }
        runner.store(0, ordering: .relaxed)
    }
}
