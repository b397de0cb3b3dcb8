import RxLite
import RxTesting
import Testing

/// Streams that start at another stream's end while the subscriber is paused.
@Suite struct PausedEndTests {
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
}
