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

    @Test("The rules of a transport that the suite makes count, and a test that uses them passes")
    func used() throws { try useAll() }

    @Test("Rules without a request are named by an issue at the test")
    func unused() async throws {
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

    @Test("A test that throws an error has no issue about its rules")
    func thrown() async throws {
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

    @Test("Replies that a closure chooses have no rules")
    func closures() throws {
        try useAll()
        try ask(ScriptedTransport(on: clock) { _ in .status(.ok) }, "/x")
    }
}
