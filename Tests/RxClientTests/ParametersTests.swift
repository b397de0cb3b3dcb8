import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters
import Testing

@testable import RxClient

@Suite struct ParametersTests {
    private func request(
        _ parameters: Parameters, path: String = "/x", query: Parameters.Values = [:],
        headers: Headers = [:],
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) throws(NetworkError) -> Request {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        return try PreparedRequest(
            InlineEndpoint(.post, path, parameters, query: query, headers: headers),
            configuration: configuration
        ).serialized()
    }

    private func query(_ request: Request) -> String? {
        request.url.absoluteString.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init)
    }

    private func body(_ request: Request) -> String? {
        if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    /// Percent-encoding: all but RFC 3986's unreserved; in a form, space is + and ~ is encoded.
    @Test(arguments: [
        ("a-b.c_d~e", "a-b.c_d~e", "a-b.c_d%7Ee"), ("a b", "a%20b", "a+b"), ("a+b", "a%2Bb", "a%2Bb"),
        ("a&b=c", "a%26b%3Dc", "a%26b%3Dc"), ("100%", "100%25", "100%25"), ("%20", "%2520", "%2520"),
        ("grün", "gr%C3%BCn", "gr%C3%BCn"), ("🍵", "%F0%9F%8D%B5", "%F0%9F%8D%B5"), ("*", "%2A", "*"),
        (
            ":/?#[]@!$'(),;", "%3A%2F%3F%23%5B%5D%40%21%24%27%28%29%2C%3B",
            "%3A%2F%3F%23%5B%5D%40%21%24%27%28%29%2C%3B"
        ),
        ("a\r\nb\u{0}", "a%0D%0Ab%00", "a%0D%0Ab%00"), ("", "", ""),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("e\u{301}", "e%CC%81", "e%CC%81"),
    ])
    func percentEncoding(text: String, inQuery: String, inForm: String) throws {
        #expect(try query(request(.query(["k": text]))) == "k=\(inQuery)")
        #expect(try body(request(.form(["k": text]))) == "k=\(inForm)")
        #expect(try query(request(.query([text: 1]))) == "\(inQuery)=1")
    }

    /// Lists repeat their key, objects read key[member], null is omitted, keys are sorted.
    @Test func conventions() throws {
        let nothing: Int? = nil
        let values: Parameters.Values = [
            "z": [1, 2], "a": ["y": 1, "x": 2], "n": nothing, "deep": ["l": [["m": true]]], "e": [Int](),
        ]
        #expect(
            try query(request(.query(values)))
                == "a%5Bx%5D=2&a%5By%5D=1&deep%5Bl%5D%5Bm%5D=true&z=1&z=2")
        #expect(
            try body(request(.json(values)))
                == #"{"a":{"x":2,"y":1},"deep":{"l":[{"m":true}]},"e":[],"z":[1,2]}"#)
        #expect(try query(request(.query([:]))) == nil)
        #expect(try body(request(.json([:]))) == "{}")
        #expect(try body(request(.none)) == nil)
    }

    /// Nil values of a dictionary are omitted, in every format and at any depth of optionals.
    @Test func absent() throws {
        let (nothing, something): (String?, String?) = (nil, "1")
        let deep: Int?? = .some(nil)
        let values: Parameters.Values = [
            "a": something, "b": nothing, "c": nil, "d": deep,
            "e": Optional<Goods>.none as any Encodable & Sendable,
        ]
        #expect(try body(request(.json(values))) == #"{"a":"1"}"#)
        #expect(try body(request(.form(values))) == "a=1")
        #expect(try query(request(.query(values))) == "a=1")
        #expect(try query(request(.none, query: ["a": nil, "b": 2])) == "b=2")
        #expect(try body(request(["a": 1, "b": nil, "c": nothing])) == #"{"a":1}"#)
        // Dictionaries with values of one type, which could be models.
        let texts: [String: String?] = ["a": nothing, "b": "2"]
        #expect(try body(request(.json(["a": nothing, "b": something]))) == #"{"b":"1"}"#)
        #expect(try body(request(.json(texts))) == #"{"b":"2"}"#)
        #expect(try body(request(.form(texts))) == "b=2")
        #expect(try body(request(.standard(texts))) == #"{"b":"2"}"#)
        #expect(try body(request(.json(["a": 1]).adding(["a": nil, "b": nothing]))) == #"{"a":1}"#)
    }

    private struct Goods: Encodable, Sendable {
        var name = "tea"
        var unitPrice: Double? = 1.5
        var made = Date(timeIntervalSince1970: 0)
    }

    /// Models and dictionaries follow the client's encoder, except for a dictionary's keys.
    @Test func encoder() throws {
        let configure: (inout ClientConfiguration) -> Void = {
            $0.encoder.dateEncodingStrategy = .iso8601
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
        }
        #expect(
            try query(request(.query(Goods()), configure))
                == "made=1970-01-01T00%3A00%3A00Z&name=tea&unit_price=1.5")
        let made = Date(timeIntervalSince1970: 0)
        #expect(
            try query(request(.query(["madeAt": made, "all": [made]]), configure))
                == "all=1970-01-01T00%3A00%3A00Z&madeAt=1970-01-01T00%3A00%3A00Z")
        #expect(
            try body(request(.json(["madeAt": made, "goods": Goods(unitPrice: nil)]), configure))
                == #"{"goods":{"made":"1970-01-01T00:00:00Z","name":"tea"},"madeAt":"1970-01-01T00:00:00Z"}"#)
        #expect(
            try body(request(Parameters.json(Goods()).adding(["pageSize": 20, "name": "milk"]), configure))
                == #"{"made":"1970-01-01T00:00:00Z","name":"milk","pageSize":20,"unit_price":1.5}"#)
    }

    /// Numbers keep their spelling, in a query and beside additions.
    @Test(
        arguments: [
            (Int.min as any Encodable & Sendable, "-9223372036854775808"), (Int.max, "9223372036854775807"),
            (UInt64.max, "18446744073709551615"), (1.5, "1.5"), (0.1, "0.1"), (19.99, "19.99"),
            (true, "true"),
            (-0.25, "-0.25"), (Float(0.5), "0.5"),
        ] as [(any Encodable & Sendable, String)])
    func numbers(value: any Encodable & Sendable, text: String) throws {
        #expect(try query(request(.query(["k": value]))) == "k=\(text)")
        #expect(try body(request(Parameters.json(["k": value]).adding(["z": 0]))) == #"{"k":\#(text),"z":0}"#)
    }

    /// A list of models is a JSON array; as a query it has no names.
    @Test func lists() throws {
        #expect(try body(request(.json([[1, 2], [3]]))) == "[[1,2],[3]]")
        #expect(throws: NetworkError.self) { try request(.query([1, 2])) }
        #expect(throws: NetworkError.self) { try request(Parameters.json([1]).adding(["a": 1])) }
    }

    /// A value that cannot be encoded is an error that names the place and not the value.
    @Test(arguments: [
        Double.nan, .infinity, -.infinity,
    ])
    func invalid(number: Double) throws {
        for parameters in [Parameters.query, Parameters.json, Parameters.form]
            as [@Sendable (Parameters.Values) -> Parameters]
        {
            let error = #expect(throws: NetworkError.self) {
                try request(parameters(["password": "secret", "a": ["b": [1, number]]]))
            }
            #expect(error?.code == .invalidParameters)
            #expect(error?.message.contains("a.b[1]") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("secret") == false)
        }
        let error = #expect(throws: NetworkError.self) { try request(.json(Goods(unitPrice: number))) }
        #expect(error?.message.contains("unitPrice") == true)
    }

    private struct Silent: Encodable, Sendable {
        let password = "secret"
        func encode(to _: any Encoder) throws {}
    }

    private struct Failing: Encodable, Sendable {
        struct Reason: Error {}
        func encode(to _: any Encoder) throws { throw Reason() }
    }

    /// A model that encodes nothing, or throws, is an error without its content.
    @Test func silentModels() throws {
        for parameters: Parameters in [.json(Failing()), .query(["a": Failing()]), .query(Silent())] {
            let error = #expect(throws: NetworkError.self) { try request(parameters) }
            #expect(error?.code == .invalidParameters)
            #expect(error?.message.contains("secret") == false, "\(error?.message ?? "")")
        }
    }

    /// A query string beside a body, after the query of the path.
    @Test func queryBesidesBody() throws {
        let request = try request(.json(["a": 1]), path: "/x?p=1", query: ["q": "2 3"])
        #expect(query(request) == "p=1&q=2%203")
        #expect(body(request) == #"{"a":1}"#)
        #expect(try query(self.request(.query(["b": 1]), path: "/x?", query: ["c": 2])) == "b=1&c=2")
        #expect(try query(self.request(.query(["b": 1]), path: "/x?a=1&")) == "a=1&b=1")
        #expect(try query(self.request(.query(["b": 1]), path: "/x?a=1#frag")) == "a=1&b=1")
    }

    /// Content types; a given one stays.
    @Test func contentTypes() throws {
        let type = { (request: Request) in request.headerFields[.contentType] }
        #expect(try type(request(.json([:]))) == "application/json")
        #expect(try type(request(.form([:]))) == "application/x-www-form-urlencoded")
        #expect(try type(request(.text("a=b&c"))) == "text/plain; charset=utf-8")
        #expect(try type(request(.query(["a": 1]))) == nil)
        #expect(
            try type(request(.json([:]), headers: ["content-type": "application/vnd.a+json"]))
                == "application/vnd.a+json")
        #expect(try body(request(.text("a=b&c d"))) == "a=b&c d")
        #expect(try query(request(Parameters.text("t").adding(["page": 1]))) == "page=1")
    }

    /// Additions replace members of the same name, in all formats.
    @Test func additions() throws {
        let values: Parameters.Values = ["page": 1, "a": "b"]
        #expect(try query(request(Parameters.query(values).adding(["page": 2]))) == "a=b&page=2")
        #expect(try body(request(Parameters.form(values).adding(["page": 2]))) == "a=b&page=2")
        #expect(try body(request(Parameters.json(values).adding(["page": 2]))) == #"{"a":"b","page":2}"#)
        #expect(try query(request(Parameters.none.adding(["page": 2]))) == "page=2")
    }
}
