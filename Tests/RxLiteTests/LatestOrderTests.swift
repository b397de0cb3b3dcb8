import RxLite
import RxLoop
import RxTesting
import Testing

/// `flatMap(.latest)` with inner streams on another scheduler: an inner stream begins once the one before it has been
/// torn down there.
@Suite struct LatestOrderTests {
    /// The scheduler of the values.
    private let here = VirtualScheduler()
    /// The scheduler of the inner streams.
    private let elsewhere = VirtualScheduler()
    private let log = Log<String>()
    private let names = Signal<String>()

    /// A stream that starts where it is subscribed to, sends its name, and runs on `elsewhere`, without end.
    private func stream(_ name: String, on scheduler: (any Scheduler)? = nil) -> Observable<String, Never> {
        Observable(scheduler: scheduler ?? elsewhere) { observer in observer.next(name) }
            .handleEvents(onSubscribe: { [log] in log.add("begin \(name)") })
            .finally { [log] in log.add("end \(name)") }
    }

    /// Sends from the work of `here`, where `elsewhere` is not current.
    private func send(_ names: String...) throws {
        here.schedule { for name in names { self.names.send(name) } }
        try here.run()
    }

    @Test func theNextBeginsAfterTheTeardown() throws {
        let subscription = names.observable.flatMap(.latest) { self.stream($0) }.subscribe()
        try send("a")
        try elsewhere.run()
        try send("b")
        #expect(log.entries == ["begin a"])
        try elsewhere.run()
        #expect(log.entries == ["begin a", "end a", "begin b"])
        subscription.cancel()
        try elsewhere.run()
        #expect(log.entries == ["begin a", "end a", "begin b", "end b"])
    }

    @Test func theNextBeginsOnTheSchedulerOfTheValues() throws {
        let (letters, isHere) = (try here.hot("-a-b----|") as MarbleSource<String, Never>, Shared<[Bool]>([]))
        letters.observable.flatMap(.latest) { [here] name in
            self.stream(name).handleEvents(onSubscribe: { isHere.change { $0.append(here.isCurrent) } })
        }.subscribe()
        for _ in 0..<5 { try here.advance(by: .milliseconds(1)) }
        #expect(log.entries == ["begin a"])
        try elsewhere.run()
        #expect(log.entries == ["begin a", "end a"])
        try here.run()
        #expect(log.entries == ["begin a", "end a", "begin b"])
        #expect(isHere.value == [true, true])
    }

    @Test func ofTheValuesMeanwhileTheLastOneCounts() throws {
        names.observable.flatMap(.latest) { self.stream($0) }.subscribe()
        try send("a", "b", "c", "d")
        try elsewhere.run()
        #expect(log.entries == ["begin a", "end a", "begin d"])
    }

    @Test func anEndMeanwhileIsTheEndAfterTheLastStream() throws {
        let letters: MarbleSource<String, Never> = try here.hot("-a-b|")
        let result = Recorder(
            letters.observable.flatMap(.latest) { name in self.stream(name).take(name == "b" ? 1 : 2) },
            on: here)
        try here.run()
        #expect(result.completion == nil)
        for _ in 0..<3 {
            try elsewhere.run()
            try here.run()
        }
        #expect(result.values == ["a", "b"])
        #expect(result.isFinished)
        #expect(log.entries == ["begin a", "end a", "begin b", "end b"])
    }

    @Test func aCancelMeanwhileStartsNothing() throws {
        let subscription = names.observable.flatMap(.latest) { self.stream($0) }.subscribe()
        try send("a", "b")
        here.schedule { subscription.cancel() }
        try here.run()
        try elsewhere.run()
        #expect(log.entries == ["begin a", "end a"])
    }

    @Test func aPausedSubscriberGetsTheValuesOfTheNextAfterThePause() throws {
        let received = Log<String>()
        let subscription = names.observable.flatMap(.latest) { self.stream($0) }.subscribe {
            received.add($0)
        }
        try send("a")
        try elsewhere.run()
        subscription.pause()
        try send("b")
        for _ in 0..<3 {
            try elsewhere.run()
            try here.run()
        }
        #expect(log.entries == ["begin a", "end a", "begin b"])
        #expect(received.entries == ["a"])
        subscription.resume()
        try elsewhere.run()
        #expect(received.entries == ["a", "b"])
    }

    @Test func aStreamThatEndedHasItsTeardownFirst() throws {
        names.observable.flatMap(.latest) { name in self.stream(name).take(1) }.subscribe()
        try send("a")
        try elsewhere.run()
        try send("b")
        for _ in 0..<3 { try elsewhere.run() }
        #expect(log.entries == ["begin a", "end a", "begin b", "end b"])
    }

    @Test func teardownsOfNestedStreamsCountAsWell() throws {
        let third = VirtualScheduler()
        // A stream of `elsewhere` that uses one of a third scheduler, and one that is itself being replaced.
        names.observable.flatMap(.latest) { name in
            self.stream("outer \(name)").merge(with: self.stream("inner \(name)", on: third))
        }.subscribe()
        try send("a")
        try third.run()
        try elsewhere.run()
        try send("b")
        try elsewhere.run()
        #expect(!log.entries.contains("begin outer b"))
        for _ in 0..<3 {
            try third.run()
            try elsewhere.run()
        }
        #expect(log.entries.suffix(2) == ["begin outer b", "begin inner b"])
        #expect(
            log.entries.prefix(4).sorted() == [
                "begin inner a", "begin outer a", "end inner a", "end outer a",
            ])
    }

    @Test func aReplacementWithinAReplacementIsAwaited() throws {
        let words = Signal<String>()
        names.observable.flatMap(.latest) { name in
            words.observable.flatMap(.latest) { self.stream(name + $0) }
                .handleEvents(onSubscribe: { log.add("begin \(name)") })
        }.subscribe()
        try send("a")
        here.schedule { for word in ["1", "2"] { words.send(word) } }
        try here.run()
        // Stream a1 is still being torn down when b replaces a.
        try send("b")
        #expect(log.entries == ["begin a", "begin a1"])
        try elsewhere.run()
        #expect(log.entries == ["begin a", "begin a1", "end a1", "begin b"])
    }

    @Test func synchronousStreamsKeepTheOrder() throws {
        let home: @Sendable (String) -> Observable<String, Never> = { [log] name in
            Observable<String, Never>.concat([.just(name), name == "c" ? .never() : .empty()])
                .handleEvents(onSubscribe: { log.add("begin \(name)") })
                .finally { log.add("end \(name)") }
        }
        // A re-entrant value arrives while the stream before it is sending.
        let subscription = names.observable.flatMap(.latest) { home($0) }.subscribe { [log, names] name in
            log.add(name)
            if name == "a" { names.send("c") }
            if name == "c" { names.send("d") }
        }
        names.send("a")
        names.send("b")
        subscription.cancel()
        #expect(
            log.entries == [
                "begin a", "a", "end a", "begin c", "c", "end c", "begin d", "d", "end d", "begin b", "b",
                "end b",
            ])
    }

    @Test func anIndicatorIsRightOnALoop() async throws {
        let loop = EventLoop(name: "latest")
        let (running, most) = (Shared(0), Shared(0))
        let numbers = Signal<Int>()
        await withCheckedContinuation { continuation in
            numbers.observable.flatMap(.latest) { number in
                Observable<Int, Never>(scheduler: loop) { $0.next(number) }
                    .handleEvents(onSubscribe: { [log] in
                        log.add("begin")
                        running.change { $0 += 1 }
                        let count = running.value
                        most.change { $0 = max($0, count) }
                    })
                    .finally { [log] in
                        log.add("end")
                        running.change { $0 -= 1 }
                    }
            }.subscribe { number in
                if number == 100 { continuation.resume() }
            }
            for number in 1...100 { numbers.send(number) }
        }
        #expect(most.value == 1)
        loop.shutDown()
        #expect(log.entries.enumerated().allSatisfy { $1 == ($0 % 2 == 0 ? "begin" : "end") })
    }
}
