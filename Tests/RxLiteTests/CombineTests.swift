import RxLite
import RxTesting
import Testing

/// zip, combineLatest, race, withLatestFrom and sample(by:).
@Suite struct CombineTests {

    static func zipped(_ one: String, _ other: String, _ expected: String) -> MarbleCase {
        MarbleCase("zip \(one) with \(other)", expected) {
            let (one, other) = try ($0.cold(one), $0.cold(other))
            return Observable.zip(one, other).map { $0.0 == "x" ? $0.1 : $0.0 }
        }
    }

    static let zips = [
        // The letters of the second stream identify the paired values: x only counts.
        zipped("--x-----x--x--|", "----a-b---------c--|", "----a---b-------(c|)"),
        zipped("-x-x-|", "a-b-c-d|", "-a-b-|"),
        zipped("x-x-x-x|", "-a-b-|", "-a-b-|"),
        zipped("-xxx---------|", "-a-(b|)", "-a-(b|)"),
        zipped("-xx|", "------a-b-c-|", "------a-(b|)"),
        zipped("", "-a-|", ""),
        zipped("", "-a-b", ""),
        zipped("|", "-a-b", "|"),
        zipped("-x-|", "", ""),
        zipped("-x-#", "----a|", "---#"),
        zipped("-x----|", "--a-#", "--a-#"),
        zipped("-xx#", "-----a-|", "---#"),
        zipped("(xxx|)", "(abc|)", "(abc|)"),
        zipped("(xx|)", "(abc|)", "(ab|)"),
        zipped("", "---|", "---|"),
        zipped("#", "-a", "#"),
        MarbleCase("zip of three", "----A-------(B|)") { clock in
            let letters = try clock.cold("-a-b|")
            let numbers = try clock.cold("--a-b|").map { $0 == "a" ? 1 : 2 }
            let flags = try clock.cold("----t-------f-t|").map { $0 == "t" }
            return Observable.zip(letters, numbers, flags).map { letter, number, flag in
                letter == (number == 1 ? "a" : "b") && flag == (number == 1) ? letter.uppercased() : "?"
            }
        },
        MarbleCase("zip of four", "---(a|)") { clock in
            let (a, b) = try (clock.cold("-a|"), clock.cold("--b-|"))
            return try Observable.zip(a, b, clock.cold("---c|"), clock.cold("d|")).map {
                $0 + $1 + $2 + $3 == "abcd" ? "a" : "?"
            }
        },
        MarbleCase("zip of five", "----(a|)") { clock in
            let (a, b) = try (clock.cold("-a|"), clock.cold("--b-|"))
            let (c, d) = try (clock.cold("---c|"), clock.cold("----d|"))
            return try Observable.zip(a, b, c, d, clock.cold("e|")).map {
                $0 + $1 + $2 + $3 + $4 == "abcde" ? "a" : "?"
            }
        },
        MarbleCase("zip of a collection", "---a---(b|)") { clock in
            try Observable<[String], Lost>.zip([
                clock.cold("-a-b|"), clock.cold("---x---y|"), clock.cold("xy|"),
            ])
            .map { $0 == ["a", "x", "x"] || $0 == ["b", "y", "y"] ? $0[0] : "?" }
        },
        MarbleCase("zip of an empty collection", "|") { _ in
            Observable<[String], Lost>.zip([]).map { $0.joined() }
        },
    ]

    static let latest = [
        ("-a---b--|", "---x---y----|", "---A-B-C----|"),
        ("", "-x|", ""),
        ("|", "-x--|", "----|"),
        ("|", "", ""),
        ("|", "|", "|"),
        ("-a|", "---x-y|", "---A-D|"),
        ("-a-#", "--x-y|", "--A#"),
        ("-#", "--x", "-#"),
        ("--a-b|", "-x-#", "--A#"),
        ("(ab|)", "(xy|)", "(BC|)"),
        ("-a-b-----|", "-x-y|", "-A-(BC)--|"),
    ].map { one, other, expected in
        MarbleCase("combineLatest \(one) with \(other)", expected) {
            let (one, other) = try ($0.cold(one), $0.cold(other))
            return Observable.combineLatest(one, other).map { one, other in
                switch (one, other) {
                case ("a", "x"): "A"
                case ("b", "x"): "B"
                case ("b", "y"): "C"
                case ("a", "y"): "D"
                default: "?"
                }
            }
        }
    }

    static let moreLatest = [
        MarbleCase("combineLatest of three", "---1-2-3|") { clock in
            let counts = try clock.cold("--a--b|").scan(0) { count, _ in count + 1 }
            let (x, other) = try (clock.cold("-x|"), clock.cold("---u---v|"))
            return Observable.combineLatest(x, counts, other).map { _, count, other in
                "\(count + (other == "v" ? 1 : 0))"
            }
        },
        MarbleCase("combineLatest of four and of five", "----(ab)c|") { clock in
            let (a, b) = try (clock.cold("-a|"), clock.cold("--b|"))
            let (c, d) = try (clock.cold("---c|"), clock.cold("----d|"))
            let e = try clock.cold("----e---f|")
            let four = Observable.combineLatest(a, b, c, d).map { $0 + $1 + $2 + $3 == "abcd" ? "a" : "?" }
            let five = Observable.combineLatest(a, b, c, d, e).map {
                ["abcde": "b", "abcdf": "c"][$0 + $1 + $2 + $3 + $4] ?? "?"
            }
            return .merge(four, five)
        },
        MarbleCase("combineLatest of a collection", "--A-(BC)-|") { clock in
            let streams = try [clock.cold("-a--b|"), clock.cold("--x-y----|")]
            return Observable<[String], Lost>.combineLatest(streams).map { values in
                ["ax": "A", "bx": "B", "by": "C"][values.joined()] ?? "?"
            }
        },
        MarbleCase("combineLatest of an empty collection", "|") { _ in
            Observable<[String], Lost>.combineLatest([]).map { $0.joined() }
        },
    ]

    static let mixed = [
        MarbleCase("merge of a stream that can fail with one that cannot", "-xab--#") { clock in
            try .merge(clock.coldNever("--a"), clock.cold("-x-b--#"))
        },
        MarbleCase("merge of one that cannot fail with one that can", "-xab--#") { clock in
            try .merge(clock.cold("-x-b--#"), clock.coldNever("--a"))
        },
        MarbleCase("merge(with:) a stream that cannot fail", "-xab--#") { clock in
            try clock.cold("-x-b--#").merge(with: clock.coldNever("--a"))
        },
        MarbleCase("merge(with:) a stream that can fail", "-xab--#") { clock in
            try clock.coldNever("--a").merge(with: clock.cold("-x-b--#"))
        },
        MarbleCase("merge(with:) a property", "p-a--#") { clock in
            try clock.cold("--a--#").merge(with: MutableProperty("p").map { $0 })
        },
        MarbleCase("zip with a stream that cannot fail", "--a-#") { clock in
            try Observable.zip(clock.cold("-a--#"), clock.coldNever("--xx")).map { $0.0 }
        },
        MarbleCase("zip of a stream that cannot fail", "--a-#") { clock in
            try Observable.zip(clock.coldNever("--xx"), clock.cold("-a--#")).map { $0.1 }
        },
        MarbleCase("combineLatest with a stream that cannot fail", "--Ab#") { clock in
            try Observable.combineLatest(clock.cold("-a-b#"), clock.coldNever("--x")).map { one, _ in
                one == "a" ? "A" : one
            }
        },
        MarbleCase("combineLatest of a property and a stream that can fail", "-a-b#") { clock in
            try Observable.combineLatest(MutableProperty("x"), clock.cold("-a-b#"))
                .map { $0 == "x" ? $1 : "?" }
        },
        MarbleCase("combineLatest with a closure", "---A-BC-----|") { clock in
            try Observable.combineLatest(clock.cold("-a----b--|"), clock.cold("---x-y------|")) {
                one, other in
                let both = one + other
                return ["ax": "A", "ay": "B", "by": "C"][both] ?? "?"
            }
        },
        MarbleCase("combineLatest of a property with a closure", "-A-B#") { clock in
            try Observable.combineLatest(MutableProperty("x"), clock.cold("-a-b#")) {
                $0 == "x" ? $1.uppercased() : "?"
            }
        },
        MarbleCase("combineLatest with a property and a closure", "-A-B#") { clock in
            try Observable.combineLatest(clock.cold("-a-b#"), MutableProperty("x")) {
                $1 == "x" ? $0.uppercased() : "?"
            }
        },
        MarbleCase("combineLatest of three to five with a closure", "----(abc|)") { clock in
            let (a, b) = try (clock.cold("-a|"), clock.cold("--b|"))
            let (c, d, e) = try (clock.cold("---c|"), clock.cold("----d|"), clock.cold("----e|"))
            let three = Observable.combineLatest(a, b, d) { $0 + $1 + $2 == "abd" ? "a" : "?" }
            let four = Observable.combineLatest(a, b, c, d) { $0 + $1 + $2 + $3 == "abcd" ? "b" : "?" }
            let five = Observable.combineLatest(a, b, c, d, e) {
                $0 + $1 + $2 + $3 + $4 == "abcde" ? "c" : "?"
            }
            return .merge(three, four, five).take(3)
        },
    ]

    static let races = [
        (["--a--b|", "-x---y---|"], "-x---y---|"),
        (["-a-b|", "-x-y|"], "-a-b|"),
        (["---a|", "--|"], "--|"),
        (["---a|", "--#"], "--#"),
        (["", "--a-#"], "--a-#"),
        (["--a|", "", "-x|"], "-x|"),
        (["--a", "-x---#"], "-x---#"),
        (["", ""], ""),
        (["-a|"], "-a|"),
        ([], ""),
    ].map { streams, expected in
        MarbleCase("race \(streams)", expected) { clock in
            try .race(streams.map { try clock.cold($0) })
        }
    }

    static let samples = [
        ("--a-b---c--|", "-----x-x--x-x", "-----b----c|"),
        ("-a-b-c|", "", "------|"),
        ("-a---b-|", "--x|", "--a----|"),
        ("-a---b-|", "--x#", "--a#"),
        ("-a-#", "--x-x", "--a#"),
        ("-a-", "--x-x-|", "--a"),
        ("|", "x", "|"),
        ("--a|", "--x-", "--a|"),
    ].map { source, notifier, expected in
        MarbleCase("sample \(source) by \(notifier)", expected) {
            try $0.cold(source).sample(by: $0.cold(notifier))
        }
    }

    static let others = [
        MarbleCase("sample by a signal that cannot fail", "--a--|") {
            try $0.cold("-a---|").sample(by: $0.coldNever("--x|"))
        },
        MarbleCase("withLatestFrom, other fails", "---1-#") {
            try $0.cold("a--b---c|").withLatestFrom($0.cold("-1---#"))
        },
        MarbleCase("withLatestFrom, other fails at once", "#") {
            try $0.cold("a--b|").withLatestFrom(.fail(Lost()))
        },
        MarbleCase("withLatestFrom, never both", "----|") {
            try $0.cold("-a--|").withLatestFrom($0.coldNever(""))
        },
        MarbleCase("withLatestFrom combined", "---A|") {
            try $0.cold("---a|").withLatestFrom($0.cold("--x|")) { $0 == "a" && $1 == "x" ? "A" : "?" }
        },
        MarbleCase("withLatestFrom, closure throws", "---#") {
            try $0.cold("---a|").withLatestFrom($0.cold("--x|")) { _, _ throws(Lost) -> String in
                throw Lost()
            }
        },
    ]

    @Test(arguments: zips) func zip(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: latest + moreLatest) func combineLatest(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: mixed) func failingWithNeverFailing(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: races) func race(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: samples + others) func sampling(_ line: MarbleCase) throws { try line.check() }

    @Test(
        arguments: [
            ("---a|", "-x-|", "^!", "^--!"),
            ("-a-|", "---x|", "^--!", "^!"),
            ("(a|)", "-x|", "(^!)", "(^!)"),
        ])
    func theLosersOfARaceAreCancelled(_ one: String, _ other: String, _ first: String, _ second: String)
        throws
    {
        let clock = VirtualScheduler()
        let sources: [MarbleSource<String, Lost>] = [
            try clock.cold(one, error: Lost()), try clock.cold(other, error: Lost()),
        ]
        Observable.race(sources.map(\.observable)).subscribe()
        try clock.run()
        #expect(
            try sources.map(\.subscriptions) == [[SubscriptionSpan(first)], [SubscriptionSpan(second)]])
    }

    @Test func aStreamThatSendsAtOnceKeepsTheLaterOnesFromStarting() throws {
        let log = Log<String>()
        let late = Observable<Int, Never>.never().handleEvents(onSubscribe: { log.add("started") })
        Observable.race(.just(1), late).subscribe { log.add("\($0)") }
        #expect(log.entries == ["1"])
    }

    @Test func theOtherInputOfAZipIsCancelledAtTheEnd() throws {
        let clock = VirtualScheduler()
        let endless: MarbleSource<String, Lost> = try clock.cold("-a-b-c", error: Lost())
        let short: MarbleSource<String, Lost> = try clock.cold("-x-|", error: Lost())
        let recorder = Recorder(Observable.zip(endless.observable, short.observable).map(\.0), on: clock)
        try clock.run()
        try recorder.expect("-a-|", error: Lost())
        #expect(try endless.subscriptions == [SubscriptionSpan("^--!")])
    }

    @Test func anEmptyInputKeepsTheLaterOnesOfAZipFromStarting() {
        let log = Log<String>()
        let late = Observable<Int, Never>.never().handleEvents(onSubscribe: { log.add("started") })
        Observable.zip(Observable<Int, Never>.empty(), late).subscribe(onFinish: { log.add("end") })
        #expect(log.entries == ["end"])
    }

    @Test func aZipPausesTheInputThatIsSixteenAhead() {
        let taken = Shared(0)
        let fast = Observable<Int, Never>.sequence(0...).handleEvents(onNext: { _ in
            taken.change { $0 += 1 }
        })
        let slow = Signal<Int>()
        let log = Log<Int>()
        let subscription = Observable.zip(fast, slow.observable).subscribe { log.add($0.0) }
        #expect(taken.value == 16)
        for number in 0..<100 {
            slow.send(number)
            #expect(taken.value <= number + 1 + 16)
        }
        #expect(log.entries == Array(0..<100))
        subscription.cancel()
    }

    @Test func aZipOfTwoEndlessSequencesStopsWithItsSubscriber() {
        let log = Log<Bool>()
        Observable<(Int, Int), Never>.zip(.sequence(0...), .sequence(0...)).take(100_000)
            .subscribe { if $0.0 != $0.1 || $0.0 == 99_999 { log.add($0.0 == $0.1) } }
        #expect(log.entries == [true])
    }

    @Test func aZipLetsGoOfWhatIsAheadAtItsEnd() {
        let count = LiveCount()
        let ahead = Signal<Counted>()
        let other = Signal<Int>()
        let end = Signal<Void>()
        let ended = Shared(false)
        let stream = Observable.zip(ahead.observable, other.observable.take(until: end.observable))
        stream.subscribe(onFinish: { ended.change { $0 = true } })
        for _ in 0..<5 { ahead.send(Counted(count)) }
        #expect(count.alive == 5)
        end.send()
        #expect(ended.value)
        #expect(count.alive == 0)
    }

    @Test func theFirstKnownSchedulerIsTheCombinationsOwn() throws {
        let clock = VirtualScheduler()
        let timer = Observable<Void, Never>.timer(.seconds(1), on: clock)
        let plain = Observable<Int, Never>.just(1)
        #expect(Observable.zip(plain, timer).scheduler === clock)
        #expect(Observable.combineLatest(plain, plain, timer).scheduler === clock)
        #expect(Observable.race(timer, timer).scheduler === clock)
        #expect(Observable.zip(plain, plain).scheduler == nil)
    }
}
