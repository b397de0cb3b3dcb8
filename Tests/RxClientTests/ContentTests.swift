import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// The checks of a response before it counts as one: its content type, the requested part, the validator.
@Suite struct ContentTests {
    private struct Goods: Decodable, Sendable, Equatable { let name: String }

    private struct Fetch<Content: Decodable & Sendable>: Endpoint {
        typealias Output = Content
        let path = "/x"
        let method = HTTPRequest.Method.get
        var part: PayloadPath = ""
        var types: ContentTypes?
        var options: RequestOptions { RequestOptions(contentTypes: types, part: part) }
    }

    private let clock = VirtualScheduler()

    private func client(
        _ body: String, type: String? = "application/json", status: HTTPResponse.Status = .ok,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .never
        configure(&configuration)
        var headers = HTTPFields()
        headers[.contentType] = type
        let answer = ScriptedTransport.Reply.bytes(Array(body.utf8), status: status, headers: headers)
        return Client(configuration: configuration, transport: ScriptedTransport(on: clock) { _ in answer })
    }

    private func run<T>(_ stream: Observable<T, NetworkError>) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        return recorder
    }

    // MARK: - Types

    /// Patterns.
    @Test(
        arguments: [
            (ContentTypes.json, "application/json", true), (.json, "Application/JSON; charset=utf-8", true),
            (.json, "application/problem+json", true), (.json, "text/json", true),
            (.json, "text/html", false),
            (.json, "application/jsonp", false), (.json, "json", false), (.json, nil, true),
            (.json, "", true),
            (.json.or("text/html"), "text/html;charset=gbk", true), (.json.or("TEXT/*"), "text/plain", true),
            (["image/*"], "image/png", true), (["image/*"], "images/png", false),
            (["image/png"], "image/png", true), (["image/png"], "image/gif", false),
            (["*/*"], "application/octet-stream", true), ([], "text/plain", false), (.any, "text/html", true),
            (.any.or("a/b"), "c/d", true), (["*+xml"], "image/svg+xml", true),
            (.json, "\u{301}", false), (["image/*"], "image/\u{E9}", true), (.json, "a/\u{301}+json", true),
        ] as [(ContentTypes, String?, Bool)])
    func patterns(types: ContentTypes, type: String?, isAccepted: Bool) {
        var fields = HTTPFields()
        fields[.contentType] = type
        #expect(types.accepts(ResponseHead(status: .ok, headerFields: fields)) == isAccepted)
    }

    /// A field of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [HTTPField.Name.contentType, .vary, .cacheControl, .connection, .age])
    func combiningMarks(name: HTTPField.Name) throws {
        let fixture = CacheFixture()
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        var headers: HTTPFields = [.cacheControl: "max-age=0", .eTag: "\"a\""]
        headers[name] = marks
        let (client, _) = fixture.client(
            .http, .when(.get, "/goods", .json("[1]", headers: headers), .json("[2]", headers: headers)))
        for output in [[1], [2]] {
            let recorder = try fixture.run(CacheFixture.Goods(), client)
            if name == .contentType {
                #expect(recorder.failure?.code == .contentType)
            } else {
                #expect(recorder.values.map(\.output) == [output])
            }
        }
    }

    /// Decoding from JSON requires a JSON content type, unless the client or the endpoint overrides it.
    @Test func json() throws {
        let page = client("7", type: "text/html; charset=utf-8")
        let refused = try run(page.request(Fetch<Int>()))
        #expect(refused.failure?.code == .contentType)
        #expect(
            refused.failure?.message
                == "the content type is text/html; accepted: application/json, text/json, *+json")
        #expect(refused.failure?.body == Array("7".utf8))
        #expect(refused.failure?.status == .ok)
        #expect(refused.failure?.requestID != nil)
        #expect(try run(page.request(Fetch<Int>(types: .json.or("text/html")))).values == [7])
        let lenient = client("7", type: "text/html") { $0.options.contentTypes = .json.or("text/html") }
        #expect(try run(lenient.request(Fetch<Int>())).values == [7])
        #expect(try run(client("7", type: nil).request(Fetch<Int>())).values == [7])
    }

    /// Plain text is a string, at an endpoint and by hand; of JSON and other outputs nothing changes.
    @Test func plainText() throws {
        let plain = client("green \u{2615}, \"tea\"", type: "Text/Plain; charset=utf-8")
        let text = "green \u{2615}, \"tea\""
        #expect(try run(plain.request(Fetch<String>())).values == [text])
        #expect(try run(plain.get("/x").decode(String.self)).values == [text])
        #expect(try run(plain.request(Fetch<String>(types: .json))).failure?.code == .contentType)
        #expect(try run(plain.request(Fetch<Int>())).failure?.code == .contentType)
        #expect(try run(plain.get("/x").decode(Int.self)).failure?.code == .contentType)
        #expect(try run(client("", type: "text/plain").request(Fetch<String>())).values == [""])
        let json = client(#""tea""#)
        #expect(try run(json.request(Fetch<String>())).values == ["tea"])
        #expect(try run(json.get("/x").decode(String.self)).values == ["tea"])
        let html = client("<html>", type: "text/html")
        #expect(try run(html.request(Fetch<String>())).failure?.code == .contentType)
        let labelled = client(#"{"code":0,"data":"tea"}"#, type: "text/plain") {
            $0.options.envelope = Envelope()
        }
        #expect(try run(labelled.request(Fetch<String>())).values == ["tea"])
    }

    /// Responses and empty outputs accept any content type by default.
    @Test func anything() throws {
        let page = client("<html>", type: "text/html")
        #expect(try run(page.get("/x")).values.first?.text == "<html>")
        struct Ping: Endpoint {
            typealias Output = Void
            let path = "/x"
            let method = HTTPRequest.Method.get
        }
        #expect(try run(page.request(Ping())).values.count == 1)
        var call = InlineEndpoint(.get, "/x")
        call.options.contentTypes = ["image/*"]
        #expect(try run(page.request(call)).failure?.code == .contentType)
        call.options.contentTypes = nil
        #expect(try run(page.request(call)).values.first?.text == "<html>")
    }

    /// Decoding a response by hand checks the same content types as an endpoint.
    @Test func byHand() throws {
        let page = client("7", type: "text/html")
        #expect(try run(page.get("/x")).values.first?.text == "7")
        #expect(try run(page.get("/x").decode(Int.self)).failure?.code == .contentType)
        #expect(try run(page.get("/x").checkContentType(["text/html"]).decode(Int.self)).values == [7])
        let lenient = client("7", type: "text/html") { $0.options.contentTypes = .json.or("text/html") }
        #expect(try run(lenient.get("/x").decode(Int.self)).values == [7])
        var call = InlineEndpoint(.get, "/x")
        call.options.contentTypes = ["text/html"]
        #expect(try run(page.request(call).decode(Int.self)).values == [7])
        call.options.contentTypes = .any
        #expect(try run(page.request(call).decode(Int.self)).values == [7])
        call.options.envelope = .absent
        #expect(try run(page.request(call).decode(Int.self)).values == [7])
        call.options.contentTypes = nil
        #expect(try run(page.request(call).decode(Int.self)).failure?.code == .contentType)
        #expect(try run(page.request(Fetch<Int>(types: .any))).values == [7])
        #expect(try run(client("7", type: nil).get("/x").decode(Int.self)).values == [7])
        #expect(try run(client("7").get("/x").decode(Int.self)).values == [7])
        let broken = client("<html>", type: "text/html", status: .badGateway)
        #expect(try run(broken.get("/x").decode(Int.self)).failure?.code == .status)
    }

    /// A 204 or 205 is nil for an optional, with and without an envelope.
    @Test(arguments: [204, 205, 200])
    func noContent(status: Int) throws {
        for envelope in [nil, Envelope()] {
            let empty = client("", type: nil, status: .init(code: status)) { $0.options.envelope = envelope }
            let typed = try run(empty.request(Fetch<Int?>()))
            let byHand = try run(empty.get("/x").decode(Int?.self))
            for recorder in [typed, byHand] where status != 200 { #expect(recorder.values == [nil]) }
            for recorder in [typed, byHand] where status == 200 {
                #expect(recorder.failure?.code == .decoding)
            }
            #expect(try run(empty.request(Fetch<Int?>(part: "a"))).values == (status == 200 ? [] : [nil]))
            #expect(try run(empty.request(Fetch<Int>())).failure?.code == .decoding)
            #expect(try run(empty.get("/x").decode(Int.self)).failure?.code == .decoding)
        }
    }

    /// An error status stays an error status, and no content has no content type.
    @Test func statusFirst() throws {
        let broken = client("<html>", type: "text/html", status: .badGateway)
        #expect(try run(broken.request(Fetch<Int>())).failure?.code == .status)
        let empty = client("", type: "text/html", status: .noContent)
        #expect(try run(empty.request(Fetch<Int>())).failure?.code == .decoding)
    }

    // MARK: - Parts

    /// A part of the content is the output, with and without an envelope.
    @Test(
        arguments: [
            ("count", 3, #"{"code":0,"data":{"count":3}}"#),
            ("page.total", 9, #"{"code":0,"data":{"page":{"total":9}}}"#),
            ("", 5, #"{"code":0,"data":5}"#),
        ] as [(PayloadPath, Int, String)])
    func parts(part: PayloadPath, output: Int, body: String) throws {
        let wrapped = client(body) { $0.options.envelope = Envelope() }
        #expect(try run(wrapped.request(Fetch<Int>(part: part))).values == [output])
        let path = PayloadPath(["data"] + part.keys)
        #expect(try run(client(body).request(Fetch<Int>(part: path))).values == [output])
        #expect(try run(client(body).get("/x").part(path).decode(Int.self)).values == [output])
    }

    /// A key with a dot in it; a missing part.
    @Test func oddParts() throws {
        let client = client(#"{"a.b":{"c":1},"a":{"b":null}}"#)
        #expect(try run(client.request(Fetch<Int>(part: ["a.b", "c"]))).values == [1])
        #expect(try run(client.request(Fetch<Int?>(part: "a.x"))).values == [nil])
        #expect(try run(client.request(Fetch<Int?>(part: "a.b"))).values == [nil])
        let absent = try run(client.request(Fetch<Int>(part: "a.x")))
        #expect(absent.failure?.code == .decoding)
        #expect(absent.failure?.codingPath == "a.x")
        #expect(PayloadPath("a.b").description == "a.b")
    }

    /// A call has all the settings of an endpoint.
    @Test func callSettings() throws {
        let transport = ScriptedTransport(
            on: clock, [.when(nil, "/x", .status(.serviceUnavailable), .json(#"{"a":{"b":7}}"#))])
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .never
        configuration.options.envelope = Envelope()
        configuration.rewriteParameters = { $0.adding(["version": 1]) }
        configuration.signature = .parameters { _ in ["sign": "s"] }
        let client = Client(configuration: configuration, transport: transport)
        var call = InlineEndpoint(.post, "/x", .query(["q": 1]))
        call.options.envelope = .absent
        call.options.part = "a.b"
        call.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        call.options.isIdempotent = true
        call.options.timeouts = Timeouts(total: .seconds(7))
        call.options.usesParameterRewriting = false
        call.options.isSigned = false
        #expect(try run(client.request(call).decode(Int.self)).values == [7])
        #expect(transport.requests.map { $0.url.query() } == ["q=1", "q=1"])
        #expect(transport.requests.map(\.timeouts.total) == [.seconds(7), .seconds(7)])
    }

    // MARK: - Validators

    private struct Shelf: Endpoint {
        typealias Output = [Goods]
        let path = "/x"
        let method = HTTPRequest.Method.get
        var error = NetworkError(.noContent, "nothing to sell")

        func validate(_ answer: TypedResponse<[Goods]>) throws(NetworkError) {
            if answer.output.isEmpty { throw error }
        }
    }

    /// A validator's error keeps its kind, and has the response's details that it did not set.
    @Test func validator() throws {
        #expect(try run(client(#"[{"name":"tea"}]"#).request(Shelf())).values == [[Goods(name: "tea")]])
        let empty = try run(client("[]").request(Shelf()))
        #expect(empty.failure?.code == .noContent)
        #expect(empty.failure?.message == "nothing to sell")
        #expect(empty.failure?.requestID != nil)
        #expect(empty.failure?.url?.path == "/x")
        #expect(empty.failure?.status == .ok)
        #expect(empty.failure?.body == Array("[]".utf8))
        var own = NetworkError(NetworkError.Code(rawValue: "soldOut"), "")
        own.body = [1]
        let kept = try run(client("[]").request(Shelf(error: own)))
        #expect(kept.failure?.code.rawValue == "soldOut")
        #expect(kept.failure?.body == [1])
    }

    /// The validator runs once, after the retries, and its failure is not retried.
    @Test func notRetried() throws {
        let transport = ScriptedTransport(on: clock) { _ in .json("[]") }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        #expect(try run(client.request(Shelf())).failure?.code == .noContent)
        #expect(transport.requests.count == 1)
    }

    /// The raw body is available beside the typed value.
    @Test func rawBody() throws {
        let answers = try run(client(#"{"name": "tea"}"#).typedResponse(Fetch<Goods>())).values
        #expect(answers.map(\.output) == [Goods(name: "tea")])
        #expect(answers.map(\.response.text) == [#"{"name": "tea"}"#])
    }
}
