import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import RxTestingSupport
import Testing

@Suite(.usesEveryRule) struct RequiredRulesTraitTests {
    private let clock = VirtualScheduler()
    private let transport: ScriptedTransport

    init() {
        transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/a", query: ["b": "c"], .status(.ok)), .when(nil, "/d", .status(.ok)),
                .when(.post, "/e", body: .json("{}"), if: { _ in true }, .status(.ok)),
            ])
    }

    private func ask(_ transport: ScriptedTransport, _ url: String, _ body: Body = .empty) throws {
        let request = Request(
            method: body.isEmpty ? .get : .post, url: try #require(URL(string: "https://a.test\(url)")),
            body: body)
        let recorder = Recorder(transport.send(request), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
    }

    private func useAll() throws {
        try ask(transport, "/a?b=c")
        try ask(transport, "/d")
        try ask(transport, "/e", .text("{}"))
    }

    /// The rules of a transport that the suite makes count, and a test that uses them passes.
    @Test func used() throws { try useAll() }

    /// Rules without a request are named by an issue at the test.
    @Test func unused() async throws {
        try useAll()
        try await withKnownIssue {
            try await RequiredRulesTrait.usesEveryRule.provideScope(
                for: try #require(Test.current), testCase: nil
            ) {
                let transport = ScriptedTransport(
                    on: clock,
                    [
                        .when(.get, "/a", query: ["b": "c"], .status(.ok)), .when(nil, "/d", .status(.ok)),
                        .when(.post, "/e", body: .json("{}"), if: { _ in true }, .status(.ok)),
                    ])
                try ask(transport, "/d")
            }
        } matching: { issue in
            issue.comments.map(\.rawValue) == [
                """
                no request used these rules of the scripted transport:
                  GET /a?b=c
                  POST /e with the JSON {} if a condition holds
                """
            ] && issue.sourceLocation == Test.current?.sourceLocation
        }
    }

    /// A test that throws an error has no issue about its rules.
    @Test func thrown() async throws {
        try useAll()
        await #expect(throws: CancellationError.self) {
            try await RequiredRulesTrait.usesEveryRule.provideScope(
                for: try #require(Test.current), testCase: nil
            ) {
                _ = ScriptedTransport(on: clock, [.when(nil, "/d", .status(.ok))])
                throw CancellationError()
            }
        }
    }

    /// Replies that a closure chooses have no rules.
    @Test func closures() throws {
        try useAll()
        try ask(ScriptedTransport(on: clock) { _ in .status(.ok) }, "/x")
    }
}
