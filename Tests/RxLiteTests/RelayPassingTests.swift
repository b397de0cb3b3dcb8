import RxLite
import RxTesting
import Testing

/// Events that a relay passes on at once, since the subscriber's lane has no scheduler and is free.
@Suite struct RelayPassingTests {
    private let elsewhere = VirtualScheduler()
    private let start = Signal<Int>()
    private let numbers = Signal<Int>()
    private let log = Log<Int>()
    private let taken = Shared(0)
    private let closed = Shared(0)
    private let held = Shared<Subscription?>(nil)

    /// The source, which runs elsewhere, after the first number of `start`; the rest of `start` follows
    /// unchanged.
    private func join(_ source: Observable<Int, Never>) -> Observable<Int, Never> {
        start.observable.flatMap { number in number == 0 ? source : .just(number) }
    }

    /// Cannot pause. Its scheduler runs work on the calling thread.
    private var signalled: Observable<Int, Never> {
        Observable(scheduler: LateClock()) { [numbers] observer in numbers.observable.subscribe(observer) }
    }

    private var counting: Observable<Int, Never> {
        Observable<Int, Never>.sequence(1...10)
            .handleEvents(onNext: { [taken] _ in taken.change { $0 += 1 } })
            .finally { [closed] in closed.change { $0 += 1 } }
            .subscribe(on: elsewhere)
    }

    private func subscribe(
        to source: Observable<Int, Never>, onNext: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> Subscription {
        let subscription = join(source).subscribe { [log] value in
            log.add(value)
            onNext(value)
        }
        held.change { $0 = subscription }
        start.send(0)
        return subscription
    }

    @Test func aValueIsHandedOnWithinItsSending() {
        let subscription = subscribe(to: signalled)
        for number in 1...3 {
            numbers.send(number)
            #expect(log.entries.last == number)
        }
        subscription.cancel()
        numbers.send(4)
        #expect(log.entries == [1, 2, 3])
    }

    @Test func aValueDoesNotOvertakeThoseThatWait() {
        let subscription = subscribe(to: signalled) { [numbers] value in
            // Sent while 2 is still waiting.
            if value == 1 { numbers.send(3) }
            if value == 3 { numbers.send(4) }
        }
        subscription.pause()
        numbers.send(1)
        numbers.send(2)
        #expect(log.entries.isEmpty)
        subscription.resume()
        #expect(log.entries == [1, 2, 3, 4])
        numbers.send(5)
        #expect(log.entries == [1, 2, 3, 4, 5])
    }

    @Test func anEndDoesNotOvertakeThoseThatWait() throws {
        let hasEnded = Shared(false)
        let ending = signalled.take(2)
        let subscription = start.observable.take(1).flatMap { _ in ending }
            .subscribe(onNext: { [log] in log.add($0) }, onFinish: { hasEnded.change { $0 = true } })
        start.send(0)
        numbers.send(1)
        subscription.pause()
        numbers.send(2)
        #expect(log.entries == [1])
        #expect(!hasEnded.value)
        subscription.resume()
        #expect(log.entries == [1, 2])
        #expect(hasEnded.value)
    }

    @Test func aPauseFromWithinADeliveryStopsTheSource() throws {
        let subscription = subscribe(to: counting) { [held] value in
            if value == 3 { held.value?.pause() }
        }
        try elsewhere.run()
        #expect(log.entries == [1, 2, 3])
        #expect(taken.value == 3)
        subscription.resume()
        try elsewhere.run()
        #expect(log.entries == Array(1...10))
        #expect(closed.value == 1)
    }

    @Test func aPauseThatIsTakenBackFromWithinADeliveryChangesNothing() throws {
        let subscription = subscribe(to: counting) { [held] value in
            if value == 3 {
                held.value?.pause()
                held.value?.resume()
            }
        }
        try elsewhere.run()
        #expect(log.entries == Array(1...10))
        #expect(subscription.isActive)
    }

    @Test func aCancelFromWithinADeliveryStopsTheSource() throws {
        _ = subscribe(to: counting) { [held] value in
            if value == 3 { held.value?.cancel() }
        }
        try elsewhere.run()
        #expect(log.entries == [1, 2, 3])
        #expect(taken.value == 3)
        #expect(closed.value == 1)
    }

    /// A value that the subscriber sends itself waits until it has handled the current one.
    @Test func aDeliveryIsNotEnteredAgain() {
        let depth = Shared(0)
        let isTooDeep = Shared(false)
        _ = subscribe(to: signalled) { [numbers, start] value in
            depth.change { $0 += 1 }
            if depth.value > 1 { isTooDeep.change { $0 = true } }
            if value == 1 {
                start.send(100)
                numbers.send(2)
            }
            depth.change { $0 -= 1 }
        }
        numbers.send(1)
        #expect(Set(log.entries) == [1, 2, 100])
        #expect(!isTooDeep.value)
    }

    /// One thread sends, another enters the subscriber's lane now and then, a third pauses it.
    @Test func threadsThatMeetKeepTheOrder() {
        let count = 20_000
        let last = Shared(0)
        let isOutOfOrder = Shared(false)
        let subscription = join(signalled).subscribe { value in
            guard value > 0 else { return }
            if value != last.value + 1 { isOutOfOrder.change { $0 = true } }
            last.change { $0 = value }
        }
        start.send(0)
        let sending = OwnThread { [numbers] in for number in 1...count { numbers.send(number) } }
        let entering = OwnThread { [start] in for number in 1...count { start.send(-number) } }
        let pausing = OwnThread {
            for _ in 1...count / 10 {
                subscription.pause()
                subscription.resume()
            }
        }
        for thread in [sending, entering, pausing] { thread.join() }
        #expect(last.value == count)
        #expect(!isOutOfOrder.value)
    }
}
