import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters
import Testing

@testable import RxClient

@Suite struct ParameterStyleTests {
    private let values: Parameters.Values = [
        "id": [1, 2], "user": ["name": "anna", "tags": ["a", "b"]] as Tree, "list": [["x": 1], ["x": 2]],
    ]

    private struct Tree: Encodable, Sendable, ExpressibleByDictionaryLiteral {
        var members: [String: any Encodable & Sendable]
        init(dictionaryLiteral elements: (String, any Encodable & Sendable)...) {
            members = Dictionary(uniqueKeysWithValues: elements)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for (key, value) in members { try container.encode(value, forKey: AnyCodingKey(key)) }
        }
    }

    private func request(
        _ parameters: Parameters, _ method: HTTPRequest.Method = .get,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) throws -> Request {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        return try PreparedRequest(InlineEndpoint(method, "/x", parameters), configuration: configuration)
            .serialized()
    }

    private func query(_ request: Request) -> String {
        request.url.query()?.percentDecoded ?? ""
    }

    /// Lists and objects are written in the given style.
    @Test(arguments: [
        (
            ParameterStyle.Lists.repeated, false,
            "id=1&id=2&list[x]=1&list[x]=2&user[name]=anna&user[tags]=a&user[tags]=b"
        ),
        (
            .brackets, false,
            "id[]=1&id[]=2&list[][x]=1&list[][x]=2&user[name]=anna&user[tags][]=a&user[tags][]=b"
        ),
        (
            .indexed, true,
            "id[0]=1&id[1]=2&list[0].x=1&list[1].x=2&user.name=anna&user.tags[0]=a&user.tags[1]=b"
        ),
        (.commaSeparated, true, "id=1,2&list.x=1&list.x=2&user.name=anna&user.tags=a,b"),
    ])
    func styles(lists: ParameterStyle.Lists, usesDots: Bool, expected: String) throws {
        let style = ParameterStyle(lists: lists, usesDots: usesDots)
        #expect(try query(request(.query(values)) { $0.parameterStyle = style }) == expected)
        #expect(try query(request(Parameters.query(values).styled(style))) == expected)
        let form = try request(Parameters.form(values).styled(style), .post)
        guard case .bytes(let bytes) = form.body else { return #expect(Bool(false)) }
        #expect(String(decoding: bytes, as: UTF8.self).percentDecoded == expected)
    }

    /// An empty list is omitted in every style.
    @Test(arguments: [
        ParameterStyle.Lists.repeated, .brackets, .indexed, .commaSeparated,
    ])
    func emptyList(lists: ParameterStyle.Lists) throws {
        let parameters = Parameters.query(["a": [Int](), "b": 1]).styled(ParameterStyle(lists: lists))
        #expect(try request(parameters).url.query() == "b=1")
    }

    /// A client can write queries its own way; the result is checked, and errors are passed on.
    @Test func customQuery() throws {
        let parameters = Parameters.query(["b": [1, 2], "a": "x y"])
        let written = try request(parameters) {
            $0.parameterStyle.query = { $0.map { "\($0.name):\($0.value.count)" }.joined(separator: ";") }
        }
        #expect(written.url.query() == "a:3;b:1;b:1")
        let refused = NetworkError(.invalidParameters, "not today")
        let error = #expect(throws: NetworkError.self) {
            try request(parameters) {
                $0.parameterStyle.query = { _ throws(NetworkError) in throw refused }
            }
        }
        #expect(error?.message == "not today")
        for text in ["a b", "a\r\nb", "é#"] {
            #expect(throws: NetworkError.self) {
                try request(parameters) { $0.parameterStyle.query = { _ in text } }
            }
        }
    }

    /// Parameters without a format use the client's with methods that have content, else the query.
    @Test(
        arguments: [
            (HTTPRequest.Method.get, ParameterFormat.json, nil, "id=7"), (.delete, .form, nil, "id=7"),
            (.head, .json, nil, "id=7"), (.post, .json, #"{"id":7}"#, nil), (.put, .form, "id=7", nil),
            (.patch, .query, nil, "id=7"),
        ] as [(HTTPRequest.Method, ParameterFormat, String?, String?)])
    func standard(
        method: HTTPRequest.Method, format: ParameterFormat, body: String?, query: String?
    ) throws {
        struct Model: Encodable, Sendable { let id = 7 }
        for parameters in [["id": 7], .standard(Model())] as [Parameters] {
            let request = try request(parameters, method) { $0.parameterFormat = format }
            #expect(request.url.query() == query)
            let text: String? =
                if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else {
                    nil
                }
            #expect(text == body)
        }
    }

    /// A removed member is gone, also from a model; added again it is back.
    @Test func removing() throws {
        struct Model: Encodable, Sendable { let id = 7, name = "tea" }
        let parameters = Parameters.query(Model()).adding(["page": 1]).removing("id", "page", "none")
        #expect(try request(parameters).url.query() == "name=tea")
        #expect(try request(parameters.adding(["id": 8])).url.query() == "id=8&name=tea")
    }
}
