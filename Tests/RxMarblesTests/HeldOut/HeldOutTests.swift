import FoundationEssentials
import Testing

/// Forms of arguments that the recordings lack, and invalid recordings.
@Suite struct HeldOutTests {
    @Test(arguments: ofValues + ofTime + ofWindows + ofStreams)
    func casesPass(_ line: HeldOutCase) { line.check() }

    static let unknown = [
        HeldOutCase("an argument too many", [.hot("-a|"), .pipe(0, "take", 1, 2)], gives: "-(a|)"),
        HeldOutCase(
            "a member that is unknown", [.hot("-a|"), .pipe(0, "throttleTime", 1, .null, ["first": true])],
            gives: "-a|"),
        HeldOutCase(
            "an argument of another kind", [.hot("-a|"), .pipe(0, "debounceTime", "x")], gives: "-a|"),
        HeldOutCase("values replayed by age", [.hot("-a|"), .pipe(0, "shareReplay", 1, 5)], gives: "-a|"),
        HeldOutCase("an operator that is unknown", [.hot("-a|"), .pipe(0, "triple")], gives: "-a|"),
        HeldOutCase("a creator that is unknown", [.create("dice", 6)], gives: "-a|"),
        HeldOutCase(
            "a stream that is not told", [.create("defer", .function(0))], [[.call(gives: .opaque)]],
            gives: "|"),
    ]

    @Test(arguments: unknown) func whatIsUnknownIsNotApplicable(_ line: HeldOutCase) {
        guard case .unsupported = line.verdict else {
            Issue.record("\(line.verdict)")
            return
        }
    }

    /// The diagram of a source is a comment: one that RxTesting's parser refuses has no effect.
    @Test func oneBadCaseFailsAlone() {
        let source = #"{"kind":"hot","marbles":"--?*","events":[{"t":2,"k":"N","v":"a"},{"t":3,"k":"C"}]}"#
        let pipe = #"{"kind":"pipe","source":0,"ops":[{"op":"take","args":[1]}]}"#
        let end = #"{"of":{"$":"node","node":1},"subscription":null,"events":"#
        let good = """
            {"file":"f","name":"good","fns":[],"subs":[],"nodes":[\(source),\(pipe)],\
            "expects":[\(end)[{"t":2,"k":"N","v":"a"},{"t":2,"k":"C"}]}]}
            """
        let lines = ["{}", good, good.replacing("\"t\":2,\"k\":\"C\"", with: "\"t\":9,\"k\":\"C\"")]
        let report = Report(on: Recording.all(in: Data(lines.joined(separator: "\n").utf8)))
        #expect(report.passed == 1)
        #expect(report.failures.map(\.title) == ["line 1", "f good"])
    }

    /// Fewer calls than recorded are an error, unless all of them are repeated, by another subscriber.
    @Test(arguments: [(["a", "a"], true), (["a", "b"], false), (["b"], false)] as [([Value], Bool)])
    func callsThatAreLeft(recorded: [Value], areOfAnother: Bool) throws {
        let journal = Journal()
        let calls = recorded.map { Recording.Function.Call.call($0, gives: 1) } + [.call("c", gives: 1)]
        let table = CallTable(
            Recording.Function(calls: calls + (areOfAnother ? [.call("c", gives: 1)] : [])), number: 0,
            journal: journal)
        try table("c")
        if recorded.first == "a" { try table("a") }
        table.close()
        #expect(journal.problems.isEmpty == areOfAnother)
    }
}
