import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

/// Responses from the examples in descriptions of interfaces.
@Suite struct OpenAPITests {
    private let clock = VirtualScheduler()

    /// The status, the header fields and the body of the response to a request.
    private func answer(
        _ rules: [ScriptedTransport.Rule], _ url: String, _ method: HTTPRequest.Method = .get
    ) throws -> [String] {
        let request = Request(method: method, url: try #require(URL(string: "https://a.test\(url)")))
        let transport = ScriptedTransport(on: clock, rules)
        return try RecordedShop.events(of: request, by: transport, on: clock).map {
            $0.split(separator: " ", maxSplits: 2).last.map(String.init) ?? ""
        }
    }

    private func document(_ text: String) throws -> OpenAPIDocument {
        try OpenAPIDocument(bytes: Array(text.utf8), file: "shop.json")
    }

    /// Examples of OpenAPI's own document: named ones, and JSON that is escaped as a string.
    @Test func namedExamples() throws {
        let versions = try OpenAPIDocument("Fixtures/OpenAPI/api-with-examples.json")
        let all = try answer(try versions.rules(), "/")
        #expect(all.first == "head 200  Content-Type=application/json")
        #expect(all.dropFirst().first?.contains(#""id": "v3.0""#) == true)
        #expect(try answer(try versions.rules(), "/v2").first == all.first)
        #expect(try answer(try versions.rules(), "/v3").first?.hasPrefix("unscripted") == true)

        for (status, start) in [(300, "chunk {\n \"versions\""), (200, "chunk {\n")] {
            let reply = try versions.reply(to: .get, "/", status: status, example: "foo", after: .seconds(1))
            let events = try answer([.when(nil, "*", reply)], "/")
            #expect(events[0].hasPrefix("head \(status)") && events[1].hasPrefix(start), "\(events)")
        }
    }

    /// The interface of a patent office: the path of its server, parameters, operations without examples.
    @Test func patents() throws {
        let patents = try OpenAPIDocument("Fixtures/OpenAPI/uspto.json")
        let rules = try patents.rules()
        let list = try answer(rules, "/ds-api/")
        #expect(list[0].hasPrefix("head 200") && list[1].contains("cancer_moonshot"))
        #expect(try answer(rules, "/").first?.hasPrefix("unscripted no rule") == true)
        #expect(
            try answer(rules, "/ds-api/oa/v1/fields").first
                == "unscripted the operation GET /{dataset}/{version}/fields has no example unsent=false")
        #expect(try answer(rules, "/ds-api/oa/v1/records", .post).first?.contains("POST /{dataset}") == true)

        let missing = try patents.reply(to: .post, "/{dataset}/{version}/records", status: 404)
        #expect(try answer([.when(nil, "*", missing)], "/").first == "head 404  ")
    }

    private static let shop = """
        {"openapi": "3.1.0", "servers": [{"url": "https://{host}/v1/", "variables": {"host": {"default": "shop.test"}}}],
        "paths": {
         "/goods/{id}": {"get": {"responses": {
          "404": {"$ref": "#/components/responses/Missing"}, "5XX": {"description": "", "content": {}},
          "200": {"headers": {"X-Rate": {"$ref": "#/components/headers/Rate"}, "Content-Type": {"example": "x/y"},
            "X-List": {"example": [1, "b"]}, "X-Blank": {"schema": true}},
           "content": {"text/plain": {"example": "tea"},
            "application/json; charset=utf-8": {"examples": {
             "tea": {"$ref": "#/components/examples/Tea"}, "null": {"value": null}, "text": {"value": "[1]"},
             "word": {"value": "brown"}}},
            "image/*": {"schema": {"$ref": "#/components/schemas/Picture"}}}}}},
          "delete": {"responses": {"204": {"description": ""}}}},
         "/goods/new": {"$ref": "#/paths/~1goods~1%7Bid%7D"},
         "/other": {"servers": [{"url": "/w"}], "additionalOperations": {"COPY": {"responses": {
          "default": {"content": {"application/problem+json": {"schema": {"examples": [{"a": 1}]}}}}}}}}},
        "components": {"responses": {"Missing": {"content": {"application/json": {"example": {"code": 7}}}}},
         "headers": {"Rate": {"schema": {"type": "integer", "example": 10}}},
         "examples": {"Tea": {"$ref": "#/components/examples/Drink"}, "Drink": {"value": {"name": "tea"}}},
         "schemas": {"Picture": {"example": "GIF89a"}}}}
        """

    /// References, header fields, ranges of statuses, media types and names.
    @Test(
        arguments: [
            (
                nil, nil, nil, "200  X-Rate=10;X-List=1,b;Content-Type=application/json; charset=utf-8",
                #"{"name": "tea"}"#
            ),
            (
                200, nil, "null", "200  X-Rate=10;X-List=1,b;Content-Type=application/json; charset=utf-8",
                "null"
            ),
            (
                200, nil, "text", "200  X-Rate=10;X-List=1,b;Content-Type=application/json; charset=utf-8",
                "[1]"
            ),
            (
                200, nil, "word", "200  X-Rate=10;X-List=1,b;Content-Type=application/json; charset=utf-8",
                #""brown""#
            ),
            (nil, "Text/Plain", nil, "200  X-Rate=10;X-List=1,b;Content-Type=text/plain", "tea"),
            (nil, "image/*", nil, "200  X-Rate=10;X-List=1,b", "GIF89a"),
            (404, nil, nil, "404  Content-Type=application/json", #"{"code": 7}"#),
            (503, nil, nil, "503  ", "finished"),
        ] as [(Int?, String?, String?, String, String)])
    func choices(status: Int?, type: String?, example: String?, head: String, body: String) throws {
        let reply = try document(Self.shop).reply(
            to: .get, "/goods/{id}", status: status, type: type, example: example)
        let events = try answer([.when(nil, "*", reply)], "/")
        #expect(events.first == "head \(head)")
        #expect(events.dropFirst().first?.hasSuffix(body) == true, "\(events)")
    }

    /// Rules: texts before parameters, the path of a server, and methods of other names.
    @Test func rules() throws {
        let rules = try document(Self.shop).rules()
        let required = RequiredRules()
        RequiredRules.$current.withValue(required) { _ = ScriptedTransport(on: clock, rules) }
        #expect(required.unused.isEmpty)
        #expect(try answer(rules, "/v1/goods/7")[1].hasSuffix(#"{"name": "tea"}"#))
        #expect(try answer(rules, "/v1/goods/new", .delete) == ["head 204  ", "finished", "|"])
        #expect(try answer(rules, "/goods/7").first?.hasPrefix("unscripted no rule") == true)
        let copy = try answer(rules, "/w/other", try #require(HTTPRequest.Method("COPY")))
        #expect(copy.prefix(2) == ["head 200  Content-Type=application/problem+json", #"chunk {"a": 1}"#])
    }

    private static func responses(_ text: String) -> String {
        #"{"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": \#(text)}}}}"#
    }

    /// A document that cannot be used names the place.
    @Test(arguments: [
        ("", "shop.json:1:1: here the text ends too early or is not JSON"),
        (#"{"swagger": "2.0"}"#, "openapi is missing"), (#"{"openapi": 3.1}"#, "openapi is not a string"),
        (#"{"openapi": "2.9"}"#, "openapi is 2.9, which cannot be read"),
        (#"{"openapi": "3.0.0"}"#, "paths is missing"),
        (#"{"openapi": "3.0.0", "paths": []}"#, "paths is not an object"),
        (#"{"openapi": "3.0.0", "paths": {"a": {}}}"#, "paths.a: a path begins with a slash"),
        (#"{"openapi": "3.0.0", "paths": {"/a": 1}}"#, "paths./a is not an object"),
        (#"{"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}"#, "paths./a.get.responses is missing"),
        (responses("[]"), "paths./a.get.responses is not an object"),
        (
            responses(#"{"2000": {}}"#),
            "responses.2000: 2000 is not a status, such as 200, 2XX or default"
        ),
        (
            responses(#"{"200": {"headers": {"a b": {}}}}"#),
            "headers.a b: a b is not the name of a header field"
        ),
        (
            responses(#"{"200": {"headers": {"a": {"example": {}}}}}"#),
            "headers.a.example is not a string, a number or an array of them"
        ),
        (responses(#"{"200": {"content": [1]}}"#), "200.content is not an object"),
        (
            responses(#"{"200": {"content": {"a/b": {"examples": {"c": {}}}}}}"#),
            "examples.c.value is missing"
        ),
        (
            responses(#"{"200": {"content": {"a/b": {"examples": {"c": {"externalValue": "d.txt"}}}}}}"#),
            "c.externalValue: d.txt is not in this document"
        ),
        (
            responses(##"{"200": {"$ref": "#/paths/~1a/get/responses/201"}}"##),
            "responses.200.$ref: #/paths/~1a/get/responses/201 does not exist"
        ),
        (responses(#"{"200": {"$ref": "b.json#/a"}}"#), "200.$ref: b.json#/a is not in this document"),
        (
            responses(
                ##"{"200": {"$ref": "#/paths/~1a/get/responses/201"}, "201": {"$ref": "#/paths/~1a/get/responses/200"}}"##
            ), "200.$ref: the reference leads back to itself"
        ),
        (
            #"{"openapi": "3.0.0", "servers": [{"url": "{a}", "variables": {"a": {}}}], "paths": {"/a": {"get": {}}}}"#,
            "servers[0].variables.a.default is missing"
        ),
    ])
    func nonsense(text: String, problem: String) throws {
        let error = #expect(throws: FixtureError.self) { try document(text).rules() }
        let description = try #require(error).description
        #expect(description.hasPrefix("shop.json:1:") && description.hasSuffix(problem), "\(description)")
    }

    /// An operation, a response or an example that is not there is an error.
    @Test func absences() throws {
        let shop = try document(Self.shop)
        func problem(_ reply: () throws -> ScriptedTransport.Reply) -> String? {
            #expect(throws: FixtureError.self) { try reply() }?.description
        }
        #expect(problem { try shop.reply(to: .get, "/x") }?.hasSuffix("paths./x is missing") == true)
        #expect(problem { try shop.reply(to: .put, "/goods/{id}") }?.hasSuffix("{id}.put is missing") == true)
        #expect(
            problem { try shop.reply(to: .get, "/goods/{id}", status: 400) }?.hasSuffix(
                "responses.400 is missing") == true)
        for (type, example) in [("a/b", nil), (nil, "milk"), ("text/plain", "tea")] {
            #expect(
                problem { try shop.reply(to: .get, "/goods/{id}", type: type, example: example) }?.hasSuffix(
                    "paths./goods/{id}.get.responses has no example") == true)
        }
        #expect(throws: FixtureError.self) { try OpenAPIDocument("Fixtures/OpenAPI/none.json") }
    }

    /// A document that is cut off anywhere is refused.
    @Test func cutOff() throws {
        for count in 0..<Self.shop.utf8.count {
            let error = #expect(throws: FixtureError.self) {
                try OpenAPIDocument(bytes: Array(Self.shop.utf8.prefix(count)))
            }
            #expect(error?.problem == .notJSON)
        }
    }
}
