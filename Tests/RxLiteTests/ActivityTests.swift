import RxLite
import RxTesting
import Testing

@Suite struct ActivityTests {
    private let screen = Activity()
    private let clock = VirtualScheduler()

    @Test func itCountsFromTheSubscriptionToAnyEnd() throws {
        let counts = Recorder(screen.count.observable, on: clock)
        let one = Observable<Int, Never>.never().tracked(by: screen).subscribe()
        let two = Observable<Int, Lost>.fail(Lost()).tracked(by: screen)
        two.subscribe(onFailure: { _ in })
        Observable.just(1).tracked(by: screen).subscribe()
        #expect(screen.count.value == 1)
        #expect(screen.isActive.value)
        one.cancel()
        one.cancel()
        #expect(counts.values == [0, 1, 2, 1, 2, 1, 0])
        #expect(!screen.isActive.value)
    }

    @Test func itCountsNoLongerWhenItsSubscriberReceivesTheEnd() {
        let seen = Log<Int>()
        Observable.just(1).tracked(by: screen).subscribe(
            onNext: { _ in seen.add(screen.count.value) }, onFinish: { seen.add(screen.count.value) })
        #expect(seen.entries == [1, 0])
    }

    @Test func itTellsTheMessageOfTheLastStreamThatHasOne() {
        let messages = Recorder(screen.message.observable, on: clock)
        let forever = Observable<Int, Never>.never()
        let list = forever.tracked(by: screen, loading: "Loading").subscribe()
        let photo = forever.tracked(by: screen, loading: "Sending the photo").subscribe()
        let quiet = forever.tracked(by: screen).subscribe()
        list.cancel()
        photo.cancel()
        #expect(screen.message.value == nil)
        #expect(screen.isActive.value)
        quiet.cancel()
        #expect(messages.values == [nil, "Loading", "Sending the photo", nil])
    }

    @Test func itCountsWhileTheLastValueIsBusy() throws {
        let changes = Recorder(screen.isActive.observable, on: clock)
        let loads: MarbleSource<String, Never> = try clock.hot("-b-b-i-b-i-i-b-|")
        loads.observable.tracked(by: screen, while: { $0 == "b" }).subscribe()
        try clock.run()
        #expect(changes.values == [false, true, false, true, false, true, false])
    }

    /// An indicator stays on while one load replaces another.
    @Test func aLoadThatReplacesAnotherBeginsFirst() throws {
        let (changes, counts) = (
            Recorder(screen.isActive.observable, on: clock), Recorder(screen.count.observable, on: clock)
        )
        let keywords = Signal<String>()
        let subscription = keywords.observable
            .flatMap(.latest) { _ in Observable<Int, Never>.never().tracked(by: screen) }.subscribe()
        for keyword in ["t", "te", "tea"] { keywords.send(keyword) }
        #expect(changes.values == [false, true])
        #expect(counts.values == [0, 1, 2, 1, 2, 1])
        subscription.cancel()
        #expect(changes.values == [false, true, false])
    }

    /// Replaces a load on another scheduler by each step, and cancels the last.
    private func replaceElsewhere(
        _ steps: [@Sendable () -> Void], in stream: (Observable<Int, Never>) -> Observable<Int, Never>
    ) throws {
        let (here, elsewhere) = (VirtualScheduler(), VirtualScheduler())
        let changes = Recorder(screen.isActive.observable, on: clock)
        let load = Observable<Int, Never>(scheduler: elsewhere) { _ in }.tracked(by: screen)
        let subscription = stream(load).subscribe()
        for step in steps {
            here.schedule(step)
            for _ in 0..<4 {
                try here.run()
                try elsewhere.run()
            }
        }
        #expect(changes.values == [false, true])
        #expect(screen.count.value == 1)
        subscription.cancel()
        try elsewhere.run()
        #expect(changes.values == [false, true, false])
    }

    @Test func soItDoesOnAnotherScheduler() throws {
        let keywords = Signal<String>()
        let steps = ["t", "te", "tea"].map { keyword in { @Sendable in keywords.send(keyword) } }
        try replaceElsewhere(steps) { load in keywords.flatMap(.latest) { _ in load } }
    }

    @Test func soItDoesWithinAStreamThatIsReplaced() throws {
        let (users, keywords) = (Signal<String>(), MutableProperty("t"))
        let steps = [{ @Sendable in users.send("u") }, { @Sendable in keywords.value = "k" }]
        // The stream around a load is replaced while the load is being replaced.
        let both = { @Sendable in
            keywords.value = "k"
            users.send("u")
        }
        try replaceElsewhere(steps + steps + [both, both]) { load in
            users.flatMap(.latest) { _ in keywords.flatMap(.latest) { _ in load } }
        }
    }

    /// An operator may start a stream for an observer that wants no more.
    @Test func aStreamStartedTooLateDoesNotCount() {
        let forever = Observable<Int, Never>.never().tracked(by: screen)
        Observable<Int, Never> { observer in
            observer.finish()
            forever.subscribe(observer)
        }.subscribe()
        #expect(screen.count.value == 0)
    }

    @Test func aReplacedLoadWhoseSuccessorNeverComesCountsNoLonger() throws {
        let keywords = Signal<Bool>()
        keywords.observable.flatMap(.latest) { isWanted in
            isWanted ? Observable<Int, Never>.never().tracked(by: screen) : .empty()
        }.subscribe()
        keywords.send(true)
        #expect(screen.count.value == 1)
        keywords.send(false)
        #expect(screen.count.value == 0)
    }
}
