import RxLite
import RxTesting
import Testing

/// finally, debug and subscribe(on:).
@Suite struct WatchingTests {
    static let unchanged = [
        MarbleCase("finally", "-a-#") { try $0.cold("-a-#").finally {} },
        MarbleCase("debug", "-a-#") { try $0.cold("-a-#").debug("tea", to: { _ in }) },
        MarbleCase("subscribe(on:)", "-a-(bc)#") { try $0.cold("-a-(bc)#").subscribe(on: $0) },
        MarbleCase("subscribe(on:) of one that sends at once", "(abc|)") {
            .sequence(["a", "b", "c"]).subscribe(on: $0)
        },
        MarbleCase("subscribe(on:) in flatMap", "-(ab)|") { clock in
            try clock.cold("-a---|").flatMap { .sequence([$0, "b"]).subscribe(on: clock) }
        },
    ]

    @Test(arguments: unchanged) func watchingOperators(_ line: MarbleCase) throws { try line.check() }

    @Test(arguments: [
        ("-a|", "^", ["a", "end", "finally"]), ("-a#", "^", ["a", "end", "finally"]),
        ("-a--|", "^-!", ["a", "finally"]), ("---a|", "^-!", ["finally"]),
    ])
    func finallyComesLastAndOnce(_ marbles: String, _ span: String, _ expected: [String]) throws {
        let clock = VirtualScheduler()
        let log = Log<String>()
        let source = try clock.cold(marbles).finally { log.add("finally") }
        let subscription = source.subscribe(onNext: { log.add($0) }, onEnd: { _ in log.add("end") })
        if let end = try SubscriptionSpan(span).end {
            try clock.advance(to: end)
            subscription.cancel()
            subscription.cancel()
        }
        try clock.run()
        #expect(log.entries == expected)
    }

    @Test func finallyNearestToTheSourceComesFirst() {
        let log = Log<String>()
        Observable<Int, Never> { observer in
            observer.scope.onClose { log.add("source") }
            observer.finish()
        }
        .finally { log.add("inner") }.map { $0 }.finally { log.add("outer") }
        .subscribe(onFinish: { log.add("end") })
        #expect(log.entries == ["end", "source", "inner", "outer"])
    }

    @Test func finallyOfEachAttempt() {
        let log = Log<String>()
        Observable<Int, Lost>.fail(Lost()).finally { log.add("finally") }.retry(1)
            .handleEvents(onSubscribe: { log.add("begin") })
            .subscribe(onFailure: { _ in log.add("end") })
        #expect(log.entries == ["begin", "finally", "finally", "end"])
    }

    @Test func finallyOfASubscriptionCancelledBeforeItsStart() {
        let log = Log<String>()
        let scope = Scope()
        scope.cancel()
        let observer = Observer<Int, Never>(scope: scope, next: { _ in }, end: { _ in })
        scope.lane.enter { Observable.just(1).finally { log.add("finally") }.subscribe(observer) }
        #expect(log.entries == ["finally"])
    }

    @Test func debugWritesALineForEachEvent() throws {
        let clock = VirtualScheduler()
        let log = Log<String>()
        let stream = try clock.cold("-a 1200ms b#").map { $0 == "b" ? "b\r\nc" : $0 }
            .debug("tea", to: { log.add($0) })
        stream.subscribe()
        try clock.run()
        stream.take(1).subscribe()
        let cancelled = stream.subscribe()
        cancelled.cancel()
        try clock.run()
        try clock.cold("|").debug("rest", to: { log.add($0) }).subscribe()
        try clock.run()
        #expect(
            log.entries == [
                "0.000 s  tea #1 subscribed",
                "0.001 s  tea #1 value 1: a",
                "1.202 s  tea #1 value 2: b\\nc",
                "1.203 s  tea #1 failed after 2 values: lost",
                "1.203 s  tea #2 subscribed",
                "1.203 s  tea #3 subscribed",
                "1.203 s  tea #3 cancelled after 0 values",
                "1.204 s  tea #2 value 1: a",
                "1.204 s  tea #2 cancelled after 1 value",
                "1.204 s  rest #1 subscribed",
                "1.204 s  rest #1 finished after 0 values",
            ])
    }

    /// The threads on which a source starts and its values arrive, by the stream around it.
    @Test func subscribeOnStartsOnItsScheduler() throws {
        let clock = VirtualScheduler()
        let other = VirtualScheduler()
        let log = Log<String>()
        @Sendable func place() -> String {
            switch (clock.isCurrent, other.isCurrent) {
            case (true, false): "clock"
            case (false, true): "other"
            default: "test"
            }
        }
        let start: @Sendable (Observer<Int, Never>) -> Void = { observer in
            log.add("start on \(place())")
            observer.scope.enter {
                observer.next(1)
                if observer.scope.isOpen { observer.finish() }
            }
        }
        let homeless = Observable(source: start).subscribe(on: clock)
        let signal = Signal<Void>()
        for (stream, expected) in [
            (homeless, "clock"),
            (Observable(scheduler: other, source: start).subscribe(on: clock), "other"),
            (Observable<Void, Never>.timer(.seconds(1), on: other).flatMap { homeless }, "other"),
            (signal.observable.flatMap { homeless }, "clock"),
        ] {
            stream.subscribe { _ in log.add("value on \(place())") }
            signal.send()
            for _ in 1...2 {
                try other.run()
                try clock.run()
            }
            #expect(log.entries.suffix(2) == ["start on clock", "value on \(expected)"])
        }
        #expect(log.entries.count == 8)
    }

    @Test func subscribeOnOfACancelledSubscriptionDoesNotStart() throws {
        let clock = VirtualScheduler()
        let log = Log<String>()
        let stream = Observable<Int, Never>.never().handleEvents(onSubscribe: { log.add("start") })
        stream.subscribe(on: clock).subscribe().cancel()
        try clock.run()
        #expect(log.entries == [])
        stream.subscribe(on: clock).subscribe()
        #expect(log.entries == [])
        try clock.run()
        #expect(log.entries == ["start"])
    }

    @Test func subscribeOnManyAtOnce() async {
        let actors = (0..<3).map { _ in ActorScheduler(Background()) }
        let stream = Observable<Int, Never>.sequence(0..<300).flatMap { number in
            Observable<Int, Never>.sequence([number, number]).subscribe(on: actors[number % 3])
        }
        var count = 0
        var sum = 0
        for await number in stream.values(buffering: .unbounded) {
            count += 1
            sum += number
        }
        #expect(count == 600)
        #expect(sum == 299 * 300)
    }

    private actor Background {}
}
