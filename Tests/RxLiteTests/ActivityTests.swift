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

    @Test func soItDoesOnAnotherScheduler() throws {
        let (here, elsewhere) = (VirtualScheduler(), VirtualScheduler())
        let changes = Recorder(screen.isActive.observable, on: clock)
        let keywords = Signal<String>()
        let subscription = keywords.observable.flatMap(.latest) { _ in
            Observable<Int, Never>(scheduler: elsewhere) { _ in }.tracked(by: screen)
        }.subscribe()
        for keyword in ["t", "te", "tea"] {
            here.schedule { keywords.send(keyword) }
            for _ in 0..<3 {
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

    @Test func soItDoesWithinAStreamThatIsReplaced() throws {
        let elsewhere = VirtualScheduler()
        let changes = Recorder(screen.isActive.observable, on: clock)
        let (users, keywords) = (Signal<String>(), MutableProperty("t"))
        let subscription = users.observable.flatMap(.latest) { _ in
            keywords.observable.flatMap(.latest) { _ in
                Observable<Int, Never>(scheduler: elsewhere) { _ in }.tracked(by: screen)
            }
        }.subscribe()
        let here = VirtualScheduler()
        for step in 0..<6 {
            here.schedule { if step.isMultiple(of: 2) { users.send("u") } else { keywords.value = "k" } }
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
