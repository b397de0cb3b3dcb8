import RxLite
import RxTesting
import Testing

/// interval, debounce, throttle, sample(every:) and buffer.
@Suite struct TimeTests {
    static let intervals = [
        MarbleCase("interval", "---0--1--(2|)") {
            Observable<Int, Lost>.interval(.milliseconds(3), on: $0).take(3).map { "\($0)" }
        },
        MarbleCase("interval of zero", "(012|)") {
            Observable<Int, Lost>.interval(.zero, on: $0).take(3).map { "\($0)" }
        },
        MarbleCase("interval of less than zero", "(01|)") {
            Observable<Int, Lost>.interval(.seconds(-1), on: $0).take(2).map { "\($0)" }
        },
        MarbleCase("interval without an error type", "---0--1--(2|)") {
            Observable.interval(.milliseconds(3), on: $0).take(3).map { "\($0)" }.setFailureType()
        },
        MarbleCase("timer without an error type", "---(x|)") {
            Observable.timer(.milliseconds(3), on: $0).map { "x" }.setFailureType()
        },
        MarbleCase("interval, cancelled", "--0-1", span: "^-----!") {
            Observable<Int, Lost>.interval(.milliseconds(2), on: $0).map { "\($0)" }
        },
    ]

    static let debounces = [
        ("-a--b-c-----d-|", 3, "---------c----(d|)"),
        ("-a--------b------c----|", 2, "---a--------b------c--|"),
        ("-a--b--c--|", 9, "----------(c|)"),
        ("-a--b--c--#", 9, "----------#"),
        ("-a--b--#", 2, "---a--b#"),
        ("|", 3, "|"),
        ("#", 3, "#"),
        ("", 3, ""),
        ("(abc|)", 2, "(c|)"),
        ("(abc)----|", 2, "--c------|"),
        ("-a-b-|", 0, "-a-b-|"),
        ("(ab)-c|", 0, "b----c|"),
        // A value at that very instant restarts the pause.
        ("-a--b--------|", 3, "-------b-----|"),
    ].map { source, pause, expected in
        MarbleCase("debounce \(source) by \(pause) ms", expected) {
            try $0.cold(source).debounce(.milliseconds(pause))
        }
    }

    static let throttles = [
        ("-a-b-c----d-e-|", 4, true, false, "-a--------d---|"),
        ("-a-b-c----d-e-|", 4, true, true, "-a---c----d---(e|)"),
        ("-a-b-c----d-e-|", 4, false, true, "-----c--------(e|)"),
        ("-a-b-c-----|", 4, false, false, "-----------|"),
        ("-abcd----|", 2, true, false, "-a--d----|"),
        ("-abcdef----|", 5, true, false, "-a---------|"),
        ("-abcdef----|", 5, true, true, "-a----f----|"),
        ("-abcdef----|", 5, false, true, "------f----|"),
        ("-a---------b--|", 3, true, true, "-a---------b--|"),
        ("-a---------b---|", 3, false, true, "----a---------b|"),
        ("-ab---c-d--|", 4, true, false, "-a----c----|"),
        ("-ab---c-d--|", 4, true, true, "-a---b---d-|"),
        ("-ab---c-d--|", 4, false, true, "-----b---d-|"),
        ("-ab|", 5, true, true, "-a----(b|)"),
        ("-ab|", 5, true, false, "-a-|"),
        ("-a|", 5, false, true, "------(a|)"),
        ("-a|", 5, true, true, "-a|"),
        ("-ab#", 5, true, true, "-a-#"),
        ("-ab#", 5, false, true, "---#"),
        ("(abc|)", 5, true, false, "(a|)"),
        ("(abc|)", 5, true, true, "a----(c|)"),
        ("|", 5, true, true, "|"),
        ("#", 5, false, true, "#"),
        ("-(ab)-(cd)-|", 0, true, false, "-a----c----|"),
        ("-(ab)-(cd)-|", 0, true, true, "-(ab)-(cd)-|"),
        ("-(ab)-(cd)-|", 0, false, true, "-b----d----|"),
    ].map { source, window, leading, trailing, expected in
        MarbleCase(
            "throttle \(source) by \(window) ms\(leading ? ", leading" : "")\(trailing ? ", trailing" : "")",
            expected
        ) {
            try $0.cold(source).throttle(.milliseconds(window), leading: leading, trailing: trailing)
        }
    }

    static let samples = [
        ("-a-b-------c-d-|", 5, "-----b---------|"),
        ("-a-b-------c-d--|", 5, "-----b---------d|"),
        ("-a-b-------c|", 5, "-----b------|"),
        ("-a-b-c-#", 5, "-----c-#"),
        ("|", 5, "|"),
        ("----(abc)-----|", 5, "-----c--------|"),
    ].map { source, period, expected in
        MarbleCase("sample \(source) every \(period) ms", expected) {
            try $0.cold(source).sample(every: .milliseconds(period))
        }
    }

    static let counted = [
        ("-a-b-c-d-e-|", 2, nil, "---A---B---(I|)"),
        ("-a-b-|", 2, nil, "---A-|"),
        ("-a-b-c-#", 2, nil, "---A---#"),
        ("(abc|)", 1, nil, "(DEC|)"),
        ("-a-|", 0, nil, "-D-|"),
        ("-a-|", 9, nil, "---(D|)"),
        ("|", 2, nil, "|"),
        ("-a-b-c-|", 2, 1, "---A-F-(C|)"),
        ("-a-b-c-d-|", 3, 2, "-----G---(B|)"),
        ("-a-b-c-d-e-|", 1, 2, "-D---C---I-|"),
        ("-a-b-c-d-e-|", 1, 0, "-D-E-C-J-I-|"),
        ("-a-b-c|", 3, 1, "-----G(FC|)"),
    ].map { source, count, step, expected in
        MarbleCase("buffer \(source) by \(count)\(step.map { " every \($0)" } ?? "")", expected) {
            try $0.cold(source).buffer(count: count, every: step).map(letter)
        }
    }

    static let timed = [
        ("-a-b-----e-|", .max, 4, "----A---X--(I|)"),
        // The list closes before a cold source ends at the same instant, after a hot one.
        ("-a-b|", .max, 4, "----(AX|)"),
        ("-a-b-|", .max, 4, "----A(X|)"),
        ("|", .max, 4, "(X|)"),
        ("-a-#", .max, 4, "---#"),
        ("---- -a-b-#", .max, 4, "----X---A#"),
        ("-ab----e-|", 2, 4, "--A---X--(I|)"),
        ("(ab)|", 2, 4, "A---(X|)"),
        ("-a-b-c-|", 1, 5, "-D-E-C-(X|)"),
    ].map { source, count, time, expected in
        MarbleCase("buffer \(source) of \(time) ms\(count == .max ? "" : " or \(count)")", expected) {
            let source = try $0.cold(source)
            let time = Duration.milliseconds(time)
            let lists = count == .max ? source.buffer(time: time) : source.buffer(count: count, time: time)
            return lists.map(letter)
        }
    }

    static let zeroTime = [
        MarbleCase("buffer of no time", "(XX|)") {
            try $0.cold("--a|").buffer(time: .zero).take(2).map(letter)
        }
    ]

    /// The representation of a list in the marbles.
    @Sendable private static func letter(of list: [String]) -> String {
        let letters = [
            "": "X", "ab": "A", "cd": "B", "c": "C", "a": "D", "b": "E", "bc": "F", "abc": "G",
            "e": "I", "d": "J",
        ]
        return letters[list.joined()] ?? "?"
    }

    @Test(arguments: intervals) func interval(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: debounces) func debounce(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: throttles) func throttle(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: samples) func sample(_ line: MarbleCase) throws { try line.check() }
    @Test(arguments: counted + timed + zeroTime) func buffer(_ line: MarbleCase) throws { try line.check() }

    @Test func theBeatDoesNotDrift() throws {
        let clock = LateClock()
        let log = Log<Duration>()
        let subscription = Observable<Int, Never>.interval(.seconds(10), on: clock).subscribe { _ in
            log.add(clock.now)
        }
        for late in [1, 0, 3, 25, 0, 0] { clock.fire(late: .seconds(late)) }
        subscription.cancel()
        // The fourth is more than a period late: the fifth comes at once, and the interval starts anew.
        #expect(log.entries == [11, 20, 33, 65, 65, 75].map { .seconds($0) })
    }

    @Test func aTimerThatFiredWhileItWasCalledOffDoesNothing() throws {
        let clock = LateClock()
        let log = Log<Int>()
        let source = Signal<Int>()
        source.observable.throttle(.seconds(1), on: clock, trailing: true).subscribe { value in
            // The window closes and its timer waits for the lane during this.
            if value == 1 { clock.fire(late: .zero) }
            log.add(value)
        }
        source.send(1)
        source.send(2)
        clock.fire(late: .zero)
        #expect(log.entries == [1, 2])
    }

    typealias Application = @Sendable (Observable<Counted, Never>, VirtualScheduler) -> Observable<Int, Never>

    static let holding: [Application] = [
        { source, clock in source.debounce(.seconds(1), on: clock).map { _ in 1 } },
        { source, clock in
            source.throttle(.seconds(1), on: clock, leading: false, trailing: true).map { _ in 1 }
        },
        { source, clock in source.sample(every: .seconds(1), on: clock).map { _ in 1 } },
        { source, _ in source.buffer(count: 9).map { $0.count } },
        { source, clock in source.buffer(time: .seconds(1), on: clock).map { $0.count } },
    ]

    @Test(arguments: holding.indices) func valuesThatWaitAreLetGoOf(_ index: Int) {
        let count = LiveCount()
        let signal = Signal<Counted>()
        let clock = VirtualScheduler()
        let subscription = Self.holding[index](signal.observable, clock).subscribe()
        signal.send(Counted(count))
        #expect(count.alive == 1)
        subscription.cancel()
        #expect(count.alive == 0)
        #expect(clock.pendingCount == 0)
    }
}
