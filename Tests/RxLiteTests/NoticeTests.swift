import RxLite
import RxTesting
import Testing

/// repeat(when:) and buffer(by:): operators that are controlled by another stream.
@Suite struct NoticeTests {
    static let repeating = [
        MarbleCase("repeat(when:)", "-a- --- -a- --- -a-", span: "^ 14ms !") { clock in
            try clock.cold("-a-|").repeat(when: { $0.delay(.milliseconds(3), on: clock) })
        },
        MarbleCase("repeat(when:), as documented", "--1------1-|") { clock in
            let notices = try clock.coldNever("----x---|")
            return try clock.cold("--1|").repeat(when: { _ in notices })
        },
        MarbleCase("repeat(when:) at once", "-a-a-a-a", span: "^------- !") {
            try $0.cold("-a|").repeat(when: { $0 })
        },
        MarbleCase("repeat(when:), the run fails", "-a#") { try $0.cold("-a#").repeat(when: { $0 }) },
        MarbleCase("repeat(when:), notices finish at once", "-a|") {
            try $0.cold("-a|").repeat(when: { _ in Observable<Int, Never>.empty() })
        },
        MarbleCase("repeat(when:), a notice and the end at once", "-a-a|") {
            try $0.cold("-a|").repeat(when: { _ in Observable<Int, Never>.just(1) })
        },
        MarbleCase("repeat(when:), notices never come", "-a", span: "^-----!") {
            try $0.cold("-a|").repeat(when: { _ in Observable<Int, Never>.never() })
        },
        MarbleCase("repeat(when:), notices fail during a run", "-a---a-#") { clock in
            let notices = try clock.cold("--x--#")
            let runs = Counter()
            let streams = try [clock.cold("-a|"), clock.cold("-a---b|")]
            return Observable.deferred { () throws(Lost) in streams[runs.next()] }
                .repeat(when: { _ in notices })
        },
        // The end of the notifier waits for the run, and its values meanwhile are ignored.
        MarbleCase("repeat(when:), notices end during a run", "-a---a-b|") { clock in
            let notices = try clock.coldNever("--x-xx|")
            let runs = Counter()
            let streams = try [clock.cold("-a|"), clock.cold("-a-b|"), clock.cold("c|")]
            return Observable.deferred { () throws(Lost) in streams[runs.next()] }
                .repeat(when: { _ in notices })
        },
        MarbleCase("repeat(when:), of how many runs", "-a-a-a|") { clock in
            try clock.cold("-a|").repeat(when: { runs in runs.take(while: { $0 < 3 }) })
        },
    ]

    static let buffering = [
        ("-a-b-----c-|", "----x---x--", "----A---X--(C|)"),
        ("-a-b-----c-|", "----x|", "----A------(C|)"),
        ("-a-b-----c-|", "", "-----------(F|)"),
        ("-a-b-#", "--x", "--D--#"),
        ("-a-b-|", "--x#", "--D#"),
        ("|", "x", "(X|)"),
        ("-----|", "(xx)", "(XX)-(X|)"),
        ("(ab|)", "---x", "(A|)"),
    ].map { source, notifier, expected in
        MarbleCase("buffer \(source) by \(notifier)", expected) { clock in
            let notifier = try clock.cold(notifier)
            return try clock.cold(source).buffer(by: notifier).map { letters[$0.joined()] ?? "?" }
        }
    }

    /// The representation of a list in the marbles.
    private static let letters = ["": "X", "ab": "A", "c": "C", "a": "D", "abc": "F"]

    @Test(arguments: repeating) func repeatWhen(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: buffering) func bufferBy(_ line: MarbleCase) throws { try line.check() }

    @Test func theFinishedRunIsClosedBeforeTheNotice() {
        let log = Log<String>()
        let source = Observable<Int, Lost> { observer in
            log.add("begin")
            observer.scope.onClose { log.add("closed") }
            observer.finish()
        }
        source.repeat(when: { runs in
            runs.take(2).handleEvents(onNext: { log.add("\($0)") }).setFailureType(to: Lost.self)
        })
        .subscribe(onFinish: { log.add("end") })
        #expect(
            log.entries == ["begin", "closed", "1", "begin", "closed", "2", "begin", "closed", "end"])
    }

    /// A stream that ends at once, repeated at once, yields in no other way.
    @Test func repeatWhenStopsWhilePaused() {
        let seen = Log<Int>()
        let scope = Scope()
        let observer = Observer<Int, Never>(
            scope: scope,
            next: { number in
                seen.add(number)
                if seen.entries.count % 5 == 0 { scope.pause() }
            },
            end: { _ in scope.close() })
        scope.lane.enter { Observable.just(7).repeat(when: { $0 }).subscribe(observer) }
        #expect(seen.entries.count == 5)
        scope.lane.enter { scope.resume() }
        #expect(seen.entries.count == 10)
        scope.cancel()
    }

    @Test func runsAndNoticesAreStoppedByACancel() throws {
        let clock = VirtualScheduler()
        let source: MarbleSource<String, Never> = try clock.cold("-a|")
        let notices: MarbleSource<String, Never> = try clock.cold("--x----x")
        let recorder = Recorder(source.observable.repeat(when: { _ in notices.observable }), on: clock)
        try clock.advance(by: .milliseconds(5))
        recorder.cancel()
        try clock.run()
        try recorder.expect("-a---a")
        #expect(try notices.subscriptions == [SubscriptionSpan("--^--!")])
        #expect(clock.pendingCount == 0)
    }

    @Test func valuesOfAListAreLetGoOf() {
        let count = LiveCount()
        let signal = Signal<Counted>()
        let subscription = signal.observable.buffer(by: Signal<Void>().observable).subscribe()
        signal.send(Counted(count))
        #expect(count.alive == 1)
        subscription.cancel()
        #expect(count.alive == 0)
    }

    @Test func aSignalClosesLists() {
        let (numbers, save, log) = (Signal<Int>(), Signal<Void>(), Log<[Int]>())
        numbers.observable.buffer(by: save.observable).subscribe { log.add($0) }
        numbers.send(1)
        numbers.send(2)
        save.send()
        save.send()
        numbers.send(3)
        #expect(log.entries == [[1, 2], []])
    }
}
