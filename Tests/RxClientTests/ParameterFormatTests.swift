import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient
@testable import RxParameters

/// Formats of parameters, for the client and for one request.
@Suite struct ParameterFormatTests {
    /// Writes lines of `name: value`, as another format might.
    private static let lines = ParameterFormat.custom(contentType: "text/x-lines") { value in
        let tree = JSONValue(parsing: Array(try JSONEncoder().encode(value)))
        return Array(
            (tree ?? .null).pairs(ParameterStyle()).map { "\($0.name): \($0.value)\n" }.joined().utf8)
    }

    private struct Goods: Encodable, Sendable {
        var name = "tea"
        var price = 3
    }

    private struct Written {
        let query: String?
        let contentType: String?
        let body: String?
    }

    private func write(
        _ parameters: Parameters, _ method: HTTPRequest.Method = .post,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) throws -> Written {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configure(&configuration)
        let request = try PreparedRequest(
            InlineEndpoint(method, "/x", parameters), configuration: configuration
        )
        .sent()
        let body: String? =
            if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else { nil }
        return Written(
            query: request.url.query(), contentType: request.headerFields[.contentType], body: body)
    }

    /// The client's format applies to parameters without a format, with methods that have content.
    @Test(
        arguments: [
            (ParameterFormat.json, nil, "application/json", #"{"name":"tea","price":3}"#),
            (.form, nil, "application/x-www-form-urlencoded", "name=tea&price=3"),
            (.query, "name=tea&price=3", nil, nil),
            (lines, nil, "text/x-lines", "name: tea\nprice: 3\n"),
        ] as [(ParameterFormat, String?, String?, String?)])
    func clientWide(format: ParameterFormat, query: String?, contentType: String?, body: String?) throws {
        for parameters: Parameters in [.standard(Goods()), ["price": 3, "name": "tea"]] {
            let written = try write(parameters) { $0.parameterFormat = format }
            #expect(written.query == query)
            #expect(written.contentType == contentType)
            #expect(written.body == body)
            let fetched = try write(parameters, .get) { $0.parameterFormat = format }
            #expect(fetched.query == "name=tea&price=3")
            #expect(fetched.body == nil)
        }
        #expect(try write(.json(Goods())) { $0.parameterFormat = format }.contentType == "application/json")
    }

    /// One request can use another format than the client's, with any method.
    @Test func perRequest() throws {
        let form = try write(.standard(Goods()).sent(as: .form))
        #expect(form.body == "name=tea&price=3")
        let custom = try write(Parameters.json(Goods()).sent(as: Self.lines), .delete)
        #expect(custom.body == "name: tea\nprice: 3\n")
        #expect(custom.query == nil)
        let query = try write(.standard(["a": 1]).sent(as: .query)) { $0.parameterFormat = .form }
        #expect(query.query == "a=1")
        let text = try write(.text("as it is").sent(as: .json))
        #expect(text.body == "as it is")
    }

    /// As a multipart form each value is a text part; lists follow the style.
    @Test func multipart() throws {
        let parameters: Parameters = ["title": "tea", "tags": ["a", "b"], "size": ["w": 2]]
        for form in [
            try write(parameters.sent(as: .multipart)),
            try write(parameters) { $0.parameterFormat = .multipart },
        ] {
            #expect(form.contentType?.hasPrefix("multipart/form-data; boundary=") == true)
            let body = try #require(form.body)
            let names = body.split(separator: "\r\n").filter { $0.hasPrefix("Content-Disposition") }
            #expect(
                names.map { $0.split(separator: "name=").last } == [
                    "\"size[w]\"", "\"tags\"", "\"tags\"", "\"title\"",
                ])
        }
    }

    /// Rewriting, removing and signing apply to a serializer's parameters.
    @Test func rewritten() throws {
        let written = try write(
            Parameters.standard(Goods()).sent(as: Self.lines).adding(["v": 1]).removing("price")
        ) {
            $0.signature = .parameters { content in ["sign": content.canonicalQuery] }
        }
        #expect(written.body == "name: tea\nsign: name=tea&v=1\nv: 1\n")
    }

    /// The endpoint's own header field takes precedence.
    @Test func ownContentType() throws {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.parameterFormat = Self.lines
        let call = InlineEndpoint(.post, "/x", ["a": 1], headers: ["Content-Type": "text/lines; v=2"])
        let request = try PreparedRequest(call, configuration: configuration).sent()
        #expect(request.headerFields[.contentType] == "text/lines; v=2")
    }

    /// An error of a serializer fails the request before anything is sent, and contains no value.
    @Test func failures() throws {
        struct Secret: Error, CustomStringConvertible { var description: String { "hunter2" } }
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { _ in .json("1") }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        let serializers = [
            ParameterFormat.custom(contentType: "text/x") { _ in throw Secret() },
            ParameterFormat.custom(contentType: "text/x") { _ in
                throw NetworkError(.invalidParameters, "own words")
            },
            ParameterFormat.custom(contentType: "text/x") { _ in
                throw EncodingError.invalidValue(
                    "hunter2", .init(codingPath: [], debugDescription: "no text"))
            },
        ]
        let messages = try serializers.map { serializer in
            let recorder = Recorder(
                client.post("/x", .standard(["password": "hunter2"]).sent(as: serializer)), on: clock
            )
            try clock.run()
            #expect(recorder.failure?.code == .invalidParameters)
            return recorder.failure?.message ?? ""
        }
        #expect(messages[0] == "the parameters cannot be encoded as text/x: Secret")
        #expect(messages[1] == "own words")
        #expect(messages[2].hasSuffix("no text"))
        #expect(transport.requests.isEmpty)
    }
}
