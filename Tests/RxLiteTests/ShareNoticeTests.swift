import RxLite
import RxTesting
import Testing

/// share(keepingAlive:) and share(when:): runs that are dropped after a time, or when another stream sends.
@Suite struct ShareNoticeTests {
    private let clock = VirtualScheduler()

    private func source(_ marbles: String) throws -> MarbleSource<String, Lost> {
        try clock.cold(marbles, error: Lost())
    }

    private func notices(_ marbles: String) throws -> MarbleSource<String, Never> {
        try clock.cold(marbles)
    }

    /// The first subscriber leaves at 3 ms; a run without subscribers is kept for 5 ms.
    @Test(
        arguments: [
            // No further subscriber.
            ("-a-b-c-d-e-f|", nil, nil, ["^-------!"]),
            // The second joins in time, and leaves again: the time starts anew.
            ("-a-b-c-d-e-f-g|", "------^-!", "-------d", ["^------------!"]),
            ("-a-b-c-d-e-f|", "------^------!", "-------d-e-f|", ["^-----------!"]),
            // The second joins too late.
            ("-a-b-c-d-e-f|", "---------^--!", "----------a-", ["^-------!", "---------^-------!"]),
            // The source ends without subscribers, or fails.
            ("-a--b|", "------^---", "-------a--b|", ["^----!", "------^----!"]),
            ("-a--b#", "------^---", "-------a--b#", ["^----!", "------^----!"]),
        ] as [(String, String?, String?, [String])])
    func keepingAlive(marbles: String, span: String?, expected: String?, runs: [String]) throws {
        let source = try source(marbles)
        let shared = source.observable.share(keepingAlive: .milliseconds(5), on: clock)
        _ = Recorder(shared, on: clock, span: try SubscriptionSpan("^--!"))
        let second = try span.map { try Recorder(shared, on: clock, span: SubscriptionSpan($0)) }
        try clock.run()
        if let expected { try second?.expect(expected, error: Lost()) }
        #expect(try source.subscriptions == runs.map { try SubscriptionSpan($0) })
        #expect(clock.pendingCount == 0)
    }

    /// The run ends, or loses its subscriber, at 2 ms; the notice comes 3 ms later.
    @Test(
        arguments: [
            ("-a|", "---x", "^---", "----^---", "----(a|)", 1),
            ("-a|", "---x", "^---", "------^---", "-------a|", 2),
            ("-a#", "---x", "^---", "----^---", "----(a#)", 1),
            ("-a#", "---x", "^---", "------^---", "-------a#", 2),
            ("-a---b|", "---x", "^-!", "----^---", "----ab|", 1),
            ("-a---b|", "---x", "^-!", "------^-----", "-------a---b|", 2),
            // Notifiers that end without a value, or never send, drop nothing; an immediate one drops at
            // once.
            ("-a|", "---|", "^---", "------^---", "------(a|)", 1),
            ("-a|", "", "^---", "------^---", "------(a|)", 1),
            ("-a---b--c|", "---|", "^-!", "------^---", "------b-c|", 1),
            ("-a|", "(xx)", "^---", "------^---", "-------a|", 2),
        ] as [(String, String, String, String, String, Int)])
    func when(
        marbles: String, notice: String, first: String, second: String, expected: String, runs: Int
    ) throws {
        let (source, notices) = try (source(marbles), notices(notice))
        let shared = source.observable.share(replay: 1, when: { _ in notices.observable })
        _ = Recorder(shared, on: clock, span: try SubscriptionSpan(first))
        let recorder = Recorder(shared, on: clock, span: try SubscriptionSpan(second))
        try clock.run()
        #expect(recorder.values.joined() == expected.filter(\.isLetter))
        #expect(recorder.completion == (expected.contains("|") ? .finished : .failed(Lost())))
        #expect(source.subscriptions.count == runs)
    }

    @Test func whoJoinsWithdrawsTheNoticeUnlessTheSourceHasEnded() throws {
        let (source, notices) = try (source("-a-b-c-d-e|"), notices("---x"))
        let shared = source.observable.share(when: { _ in notices.observable })
        for span in ["^-!", "----^-!", "-------^----------", "------------^-"] {
            _ = Recorder(shared, on: clock, span: try SubscriptionSpan(span))
        }
        try clock.run()
        #expect(
            try notices.subscriptions
                == ["--^-!", "------^!", "----------^--!"].map { try SubscriptionSpan($0) })
        #expect(try source.subscriptions == [SubscriptionSpan("^---------!")])
    }

    @Test func theEndAsksAnewAndCancelsTheNoticeBefore() throws {
        let (source, notices) = try (source("-a--#"), notices("------x"))
        let ends = Log<Completion<Lost>?>()
        let shared = source.observable.share(
            when: { end in
                ends.add(end)
                return notices.observable
            })
        _ = Recorder(shared, on: clock, span: try SubscriptionSpan("^-!"))
        try clock.run()
        #expect(ends.entries == [nil, .failed(Lost())])
        #expect(
            try notices.subscriptions == [SubscriptionSpan("--^-!"), SubscriptionSpan("----^-----!")])
    }

    @Test(
        arguments: [("-a|", .unused), ("-a|", .failed), ("-a#", .finished), ("-a-----b|", [])]
            as [(String, ShareReset)])
    func otherCasesAreNotAskedAbout(marbles: String, reset: ShareReset) throws {
        let source = try source(marbles)
        let shared = source.observable.share(
            reset: reset,
            when: { _ in
                Issue.record("asked")
                return Observable<Int, Never>.just(1)
            })
        _ = Recorder(shared, on: clock, span: try SubscriptionSpan("^---!"))
        try clock.run()
        _ = Recorder(shared, on: clock)
        try clock.run()
        #expect(source.subscriptions.count == 1)
    }

    @Test func whoSubscribesFromWithinTheEndStartsAnew() throws {
        let source = try source("-a|")
        let shared = source.observable.share(replay: 1, when: { _ in Observable<Int, Never>.just(1) })
        let log = Log<String>()
        shared.subscribe(
            onNext: { log.add("1\($0)") },
            onFinish: { shared.subscribe(onNext: { log.add("2\($0)") }, onFinish: { log.add("end") }) })
        try clock.run()
        #expect(log.entries == ["1a", "2a", "end"])
        #expect(source.subscriptions.count == 2)
    }

    /// Joining from within the closure counts as joining before the notice.
    @Test func theClosureMaySubscribe() throws {
        let source = try source("-a-b-c|")
        let (streams, log) = (Log<Observable<String, Lost>>(), Log<String>())
        let shared = source.observable.share(
            when: { end in
                if end == nil { streams.entries.first?.subscribe { log.add($0) } }
                return Observable<Int, Never>.just(1)
            })
        streams.add(shared)
        _ = Recorder(shared, on: clock, span: try SubscriptionSpan("^-!"))
        try clock.run()
        #expect(log.entries == ["b", "c"])
        #expect(try source.subscriptions == [SubscriptionSpan("^-----!")])
    }

    @Test(arguments: [true, false])
    func joiningAndLeavingFromManyThreadsLeavesNoRunBehind(atOnce: Bool) async {
        let running = Shared(0)
        let (signal, notices) = (Signal<Int>(), Signal<Void>())
        let shared = signal.observable
            .handleEvents(
                onSubscribe: { running.change { $0 += 1 } }, onCancel: { running.change { $0 -= 1 } }
            )
            .share(when: { _ in atOnce ? .just(()) : notices.observable })
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<500 { shared.subscribe().cancel() } }
            }
            group.addTask { for _ in 0..<500 { notices.send() } }
        }
        notices.send()
        #expect(running.value == 0)
    }
}
