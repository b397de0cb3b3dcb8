import RxLite
import RxTesting
import Testing

@Suite struct MarbleTests {
    typealias Source = MarbleSource<String, Lost>

    struct Lost: Error, Equatable {}

    private let clock = VirtualScheduler()

    private func times(_ marbles: String) throws -> [String] {
        let source: Source = try clock.cold(marbles, error: Lost())
        let recorder = Recorder(source.observable, on: clock)
        try clock.run()
        return recorder.events.map { event in
            let milliseconds = event.time / .milliseconds(1)
            return switch event.kind {
            case .next(let value): "\(value)\(Int(milliseconds))"
            case .end(.finished): "|\(Int(milliseconds))"
            case .end(.failed): "#\(Int(milliseconds))"
            }
        }
    }

    @Test(
        arguments: [
            ("", []), ("---", []), ("a", ["a0"]), ("--a-b|", ["a2", "b4", "|5"]), ("-#", ["#1"]),
            ("a b - c", ["a0", "b1", "c3"]), ("-(ab|)", ["a1", "b1", "|1"]), ("(ab)-c", ["a0", "b0", "c5"]),
            ("10ms a 1s b", ["a10", "b1011"]), ("a 1m |", ["a0", "|60001"]), ("0.5s a", ["a500"]),
            ("1-2-3", ["10", "22", "34"]), ("a 10ms", ["a0"]), ("a9 1s", ["a0", "91"]),
        ] as [(String, [String])])
    func diagramsAreRead(marbles: String, events: [String]) throws {
        #expect(try times(marbles) == events)
    }

    @Test(
        arguments: [
            ("-(ab", .openGroup, 1), ("-ab)", .strayParenthesis, 3), ("((a))", .unexpected("("), 1),
            ("(a-b)", .unexpected("-"), 2), ("a|b", .afterEnd, 2), ("a||", .afterEnd, 2),
            ("a^b^", .repeated("^"), 3), ("a!", .unexpected("!"), 1), ("a*b", .unexpected("*"), 1),
            ("a 1.5x b", .badTime("1.5x"), 2), ("a 1.2.3s b", .badTime("1.2.3s"), 2),
        ] as [(String, MarbleError.Problem, Int)])
    func badDiagramsAreErrors(marbles: String, problem: MarbleError.Problem, position: Int) {
        #expect(throws: MarbleError(problem: problem, position: position, text: marbles)) {
            let _: Source = try clock.cold(marbles, error: Lost())
        }
    }

    @Test func missingMeaningsAreErrors() {
        #expect(throws: MarbleError(problem: .noError, position: 1, text: "a#")) {
            let _: Source = try clock.cold("a#")
        }
        #expect(throws: MarbleError(problem: .noValue("b"), position: 1, text: "ab")) {
            let _: MarbleSource<Int, Never> = try clock.cold("ab", values: ["a": 1])
        }
    }

    @Test func errorsShowThePlace() {
        let error = MarbleError(problem: .unexpected("*"), position: 3, text: "--a*b")
        #expect("\(error)" == "'*' has no meaning here, at 3:\n--a*b\n   ^")
    }

    @Test func aColdSourceBeginsAnewForEachSubscriber() throws {
        let source: Source = try clock.cold("-a-b|")
        let first = Recorder(source.observable, on: clock)
        let second = Recorder(source.observable, on: clock, span: try SubscriptionSpan("--^-!"))
        try clock.run()
        try first.expect("-a-b|")
        try second.expect("---a")
        #expect(try source.subscriptions == [SubscriptionSpan("^---!"), SubscriptionSpan("--^-!")])
        #expect(try second.span == SubscriptionSpan("--^-!"))
    }

    @Test func aHotSourceRunsByItself() throws {
        let source: Source = try clock.hot("a-b-^c-d-(e#)", error: Lost())
        let first = Recorder(source.observable, on: clock)
        let second = Recorder(source.observable, on: clock, span: try SubscriptionSpan("--^"))
        let late = Recorder(source.observable, on: clock, span: try SubscriptionSpan("7ms ^"))
        try clock.run()
        try first.expect("-c-d-(e#)", error: Lost())
        try second.expect("---d-(e#)", error: Lost())
        try late.expect("7ms #", error: Lost())
        #expect(try source.subscriptions.first == SubscriptionSpan("^----!"))
    }

    @Test(
        arguments: [
            (
                "--a--b|", "--a--c|",
                "the streams differ at 0.005 seconds\nexpected  --a--b|\nactual    --a--c|\n               ^"
            ),
            ("a|", "a", "the streams differ at 0.001 seconds\nexpected  a|\nactual    a-\n           ^"),
            (
                "a 1s b", "(ab)",
                "the streams differ at 0.0 seconds\nexpected  a--- 1.0 seconds b\nactual    (ab) 1.0 seconds -\n          ^"
            ),
            ("-|", "-#", "the streams differ at 0.001 seconds\nexpected  -|\nactual    -#\n           ^"),
        ])
    func mismatchesShowBothDiagrams(expected: String, actual: String, text: String) throws {
        let source: Source = try clock.cold(actual, error: Lost())
        let recorder = Recorder(source.observable, on: clock)
        try clock.run()
        #expect(try recorder.mismatch(with: expected, error: Lost())?.description == text)
        #expect(throws: MarbleMismatch.self) { try recorder.expect(expected, error: Lost()) }
    }

    @Test func unexpectedValuesGetALetterAndALegend() throws {
        let stream = Observable<Int, Never>.sequence([1, 42, 42, 7])
        let recorder = Recorder(stream, on: clock)
        let mismatch = try recorder.mismatch(with: "(ab|)", values: ["a": 1, "b": 2])
        #expect(
            mismatch?.description == """
                the streams differ at 0.0 seconds
                expected  (ab|)--
                actual    (aAAB|)
                          ^
                A = 42
                B = 7
                """)
    }

    @Test func moreValuesThanLettersStayApart() throws {
        let source: MarbleSource<Int, Never> = try clock.cold(
            "(abcd)", values: ["a": 1, "b": 2, "c": 3, "d": 4])
        let many = Observable<Int, Never>.sequence(100..<200)
        let recorder = Recorder(.concat([many, source.observable]), on: clock)
        try clock.run()
        let mismatch = try #require(try recorder.mismatch(with: "(a)", values: ["a": 100]))
        #expect(mismatch.legend.count == 103)
        #expect(Set(mismatch.legend).count == 103)
        #expect(mismatch.legend.contains("<60> = 160"))
    }

    @Test func theRecorderPausesAndCancels() throws {
        let source: Source = try clock.cold("-a-b-c|")
        let recorder = Recorder(source.observable, on: clock)
        try clock.advance(by: .milliseconds(2))
        recorder.cancel()
        try clock.run()
        #expect(recorder.values == ["a"])
        #expect(recorder.completion == nil)
        #expect(try recorder.span == SubscriptionSpan("^-!"))
        #expect(clock.pendingCount == 0)
    }
}
