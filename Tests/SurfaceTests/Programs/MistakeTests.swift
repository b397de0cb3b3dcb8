import Testing

/// The compiler's messages for common mistakes name the fix.
@Suite(.enabled(if: isPlainBuild)) struct MistakeTests {
    /// A mistake, and the parts of the message that lead to the fix.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let messages: [String]

        init(_ name: String, _ code: String, _ messages: String...) {
            testDescription = name
            self.code = code
            self.messages = messages
        }
    }

    static let mistakes = [
        Mistake(
            "parameters of a GET without a label", #"client.get("/a", ["a": 1]).subscribe()"#,
            "a GET has no body: pass the parameters as 'query:'"),
        Mistake(
            "parameters of a HEAD without a label", #"client.head("/a", ["a": 1]).subscribe()"#,
            "a HEAD has no body: pass the parameters as 'query:'"),
        Mistake(
            "parameters of a GET endpoint without a label",
            #"client.progress(of: .get("/a", ["a": 1])).subscribe()"#,
            "a GET has no body: pass the parameters as 'query:'"),
        Mistake(
            "a model as the parameters", #"client.post("/a", Goods()).subscribe()"#,
            "say how the model is sent: '.json(model)', '.form(model)' or '.query(model)'"),
        Mistake(
            "a model as the parameters of an endpoint",
            #"client.progress(of: .put("/a", Goods())).subscribe()"#,
            "say how the model is sent: '.json(model)', '.form(model)' or '.query(model)'"),
        Mistake("a base URL without a label", #"_ = Client("https://a.test")"#, "'baseURL:'"),
        Mistake(
            "a configuration without a label", "_ = Client(ClientConfiguration())", "'configuration:'"),
        Mistake(
            "an endpoint without an output", #"struct A: Endpoint { let path = "/a" }"#,
            "type 'A' does not conform to protocol 'Endpoint'", "requires nested type 'Output'"),
        Mistake(
            "an endpoint without a path", "struct A: Endpoint { typealias Output = String }",
            "type 'A' does not conform to protocol 'Endpoint'", "requires property 'path'"),
        Mistake(
            "an output that is not Decodable",
            #"struct B {}; struct A: Endpoint { let path = "/a"; typealias Output = B }"#,
            "type 'A' does not conform to protocol 'Endpoint'", "conformed to 'Decodable'"),
        // The reason for the advice in the article Threading.
        Mistake(
            "a closure for AsyncSequence on an actor",
            "Task { @MainActor in await Observable<String, Never>.just(\"a\").first { $0 != \"b\" } }",
            "sending value of non-Sendable type '(String) async -> Bool' risks causing data races"),
    ]

    @Test(arguments: mistakes)
    func theMessageNamesTheFix(_ mistake: Mistake) async throws {
        let compiler = try Compiler()
        let messages = try await compiler.errors(of: [compiler.file(Self.function(mistake.code))])
        for message in mistake.messages { #expect(messages.contains(message), "\(messages)") }
    }

    @Test(arguments: [
        #"_ = Client(configuration: ClientConfiguration(baseURL: "https://a.test"))"#,
        #"client.get("/a", query: ["a": 1]).subscribe()"#,
        #"client.post("/a", .json(Goods())).subscribe()"#, #"client.post("/a", ["a": 1]).subscribe()"#,
    ])
    func theFixCompiles(_ code: String) async throws {
        let compiler = try Compiler()
        try await compiler.typecheck([compiler.file(Self.function(code))])
    }

    private static func function(_ code: String) -> String {
        "import RxNetworking\nstruct Goods: Codable, Sendable { var id = 1 }\nfunc use(_ client: Client) {\n    \(code)\n}\n"
    }
}
