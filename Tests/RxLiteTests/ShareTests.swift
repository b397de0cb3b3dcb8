import RxLite
import RxTesting
import Testing

@Suite struct ShareTests {
    private let clock = VirtualScheduler()

    private func source(_ marbles: String) throws -> MarbleSource<String, Lost> {
        try clock.cold(marbles, error: Lost())
    }

    @Test(arguments: [
        (0, ["c", "d"]), (1, ["b", "c", "d"]), (2, ["a", "b", "c", "d"]), (9, ["a", "b", "c", "d"]),
    ])
    func lateSubscribersGetTheReplayFirst(replay: Int, values: [String]) throws {
        let source = try source("-ab-c---d|")
        let shared = source.observable.share(replay: replay)
        let first = Recorder(shared, on: clock)
        let late = Recorder(shared, on: clock, span: try SubscriptionSpan("---^"))
        try clock.run()
        try first.expect("-ab-c---d|", error: Lost())
        #expect(late.values == values)
        #expect(late.completion == .finished)
        #expect(source.subscriptions.count == 1)
    }

    @Test(
        arguments: [
            ("-a|", ShareReset.always, 2, ["a"]), ("-a|", [], 1, ["a"]), ("-a|", .finished, 2, ["a"]),
            ("-a|", .failed, 1, ["a"]), ("-a|", .unused, 1, ["a"]), ("-a#", .always, 2, ["a"]),
            ("-a#", [], 1, ["a"]),
            ("-a#", .failed, 2, ["a"]), ("-a#", .finished, 1, ["a"]),
        ] as [(String, ShareReset, Int, [String])])
    func subscribersAfterTheEnd(marbles: String, reset: ShareReset, runs: Int, values: [String]) throws {
        let source = try source(marbles)
        let shared = source.observable.share(replay: 1, reset: reset)
        let first = Recorder(shared, on: clock)
        try clock.run()
        let second = Recorder(shared, on: clock)
        try clock.run()
        for recorder in [first, second] {
            #expect(recorder.values == values)
            #expect(recorder.completion == (marbles.hasSuffix("|") ? .finished : .failed(Lost())))
        }
        #expect(source.subscriptions.count == runs)
    }

    @Test(arguments: [(ShareReset.always, 2, true), ([], 1, false)] as [(ShareReset, Int, Bool)])
    func whenTheLastSubscriberLeaves(reset: ShareReset, runs: Int, isCancelled: Bool) throws {
        let source = try source("-a-b-c-d|")
        let shared = source.observable.share(reset: reset)
        let first = Recorder(shared, on: clock)
        let second = Recorder(shared, on: clock)
        try clock.advance(by: .milliseconds(2))
        first.cancel()
        #expect(source.subscriptions[0].end == nil)
        second.cancel()
        #expect((source.subscriptions[0].end != nil) == isCancelled)
        let third = Recorder(shared, on: clock)
        try clock.run()
        #expect(source.subscriptions.count == runs)
        #expect(third.values == (isCancelled ? ["a", "b", "c", "d"] : ["b", "c", "d"]))
    }

    @Test func whoSubscribesFromWithinTheEndStartsAnew() throws {
        let source = try source("-a|")
        let shared = source.observable.share(replay: 1)
        let log = Log<String>()
        shared.subscribe(
            onNext: { log.add("1\($0)") },
            onFinish: { shared.subscribe(onNext: { log.add("2\($0)") }, onFinish: { log.add("end") }) })
        try clock.run()
        #expect(log.entries == ["1a", "2a", "end"])
        #expect(source.subscriptions.count == 2)
    }

    @Test func retryOfASharedStreamSubscribesAnew() throws {
        let source = try source("-a#")
        let recorder = Recorder(source.observable.share().retry(1), on: clock)
        try clock.run()
        try recorder.expect("-a-a#", error: Lost())
    }

    @Test func anEndlessSynchronousSourceStopsWhenItsSubscriberHasEnough() {
        let taken = Shared(0)
        let values = Log<Int>()
        Observable<Int, Never>.sequence(0...).handleEvents(onNext: { _ in taken.change { $0 += 1 } })
            .share().take(3).subscribe { values.add($0) }
        #expect(values.entries == [0, 1, 2])
        #expect(taken.value == 3)
    }

    @Test func replayedAndLiveValuesComeOnceAndInOrder() async {
        let signal = Signal<Int>()
        let shared = signal.observable.share(replay: 1000)
        let keeper = shared.subscribe()
        let logs = (0..<20).map { _ in Log<Int>() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<1000 { signal.send(number) } }
            group.addTask { for log in logs { shared.subscribe { log.add($0) } } }
        }
        for log in logs { #expect(log.entries == Array(0..<1000)) }
        keeper.cancel()
    }

    @Test func joiningAndLeavingFromManyThreadsLeavesNoRunBehind() async {
        let running = Shared(0)
        let signal = Signal<Int>()
        let shared = signal.observable
            .handleEvents(
                onSubscribe: { running.change { $0 += 1 } }, onCancel: { running.change { $0 -= 1 } }
            )
            .share()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<500 { shared.subscribe().cancel() } }
            }
            group.addTask { for number in 0..<500 { signal.send(number) } }
        }
        #expect(running.value == 0)
    }
}
