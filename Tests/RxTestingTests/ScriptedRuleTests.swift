import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct ScriptedRuleTests {
    private let clock = VirtualScheduler()

    private func answer(
        _ rule: ScriptedTransport.Rule, to method: HTTPRequest.Method, _ url: String, body: Body = .empty
    ) throws -> Bool {
        let rules = RequiredRules()
        let transport = RequiredRules.$current.withValue(rules) { ScriptedTransport(on: clock, [rule]) }
        let request = Request(
            method: method, url: try #require(URL(string: "https://a.test\(url)")),
            headerFields: [.accept: "x"],
            body: body)
        let recorder = Recorder(transport.send(request), on: clock)
        try clock.run()
        #expect(rules.unused.isEmpty == recorder.isFinished)
        return recorder.isFinished
    }

    /// Parameters of the query are compared decoded, and others may follow.
    @Test(arguments: [
        ("/a?page=2&q=a+b", true), ("/a?q=a%20b&page=2&x", true), ("/a?page=2", false), ("/a", false),
        ("/a?page=22&q=a+b", false), ("/b?page=2&q=a+b", false), ("/a#?page=2&q=a+b", false),
    ])
    func queries(url: String, matches: Bool) throws {
        let rule = ScriptedTransport.Rule.when(.get, "/a", query: ["page": "2", "q": "a b"], .status(.ok))
        #expect(try answer(rule, to: .get, url) == matches)
    }

    /// Content is compared by its kind.
    @Test(
        arguments: [
            (.json(#"{"a": 1, "b": [true]}"#), .text(#"{"b":[true],"a":1}"#), true),
            (.json(#"{"a": 1}"#), .text(#"{"a":2}"#), false), (.json("{}"), .text("{"), false),
            (.form(["a": "b c", "d": ""]), .text("d=&a=b+c"), true),
            (.form(["a": "b"]), .text("a=b&c=d"), false),
            (.text("tea"), .text("tea"), true), (.text("tea"), .text("teas"), false),
            (.containing("ea"), .text("tea"), true), (.containing("x"), .empty, false),
            (.containing(""), .stream(.just([65])), false),
        ] as [(ScriptedTransport.Rule.Content, Body, Bool)])
    func contents(content: ScriptedTransport.Rule.Content, body: Body, matches: Bool) throws {
        let rule = ScriptedTransport.Rule.when(.post, "/a", body: content, .status(.ok))
        #expect(try answer(rule, to: .post, "/a", body: body) == matches)
    }

    @Test(arguments: [("x", true), ("y", false)])
    func aConditionIsAskedAboutTheRequest(accept: String, matches: Bool) throws {
        let rule = ScriptedTransport.Rule.when(
            nil, "*", if: { $0.headerFields[.accept] == accept }, .status(.ok))
        #expect(try answer(rule, to: .get, "/a") == matches)
    }

    /// A fixture is a file beside the test, with its type.
    private func response(_ transport: ScriptedTransport, to path: String) throws -> Response {
        let request = Request(url: try #require(URL(string: "https://a.test" + path)))
        let recorder = Recorder(transport.send(request).response(to: request), on: clock)
        try clock.run()
        return try #require(recorder.values.first)
    }

    @Test func fixtures() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/goods", try .fixture("Fixtures/goods.json")),
                .when(
                    .get, "/bad",
                    try .fixture("Fixtures/goods.json", status: .badRequest, headers: [.contentType: "a/b"])),
            ])
        let goods = try response(transport, to: "/goods")
        #expect(goods.status == .ok)
        #expect(goods.head.headerFields == [.contentType: "application/json"])
        #expect(String(decoding: goods.body, as: UTF8.self) == "[1, 2]\n")
        let bad = try response(transport, to: "/bad")
        #expect(bad.status == .badRequest)
        #expect(bad.head.headerFields == [.contentType: "a/b"])
        #expect(throws: (any Error).self) { try ScriptedTransport.Reply.fixture("Fixtures/none.json") }
    }
}
