import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

@Suite struct EnvelopeTests {
    private static let envelope = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)

    private struct Goods: Decodable, Sendable, Equatable {
        let name: String
        var price: Double?
    }

    private func response(
        _ json: String, status: HTTPResponse.Status = .ok, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Response {
        Response(
            head: ResponseHead(status: status), body: Array(json.utf8),
            request: Request(url: try #require(URL(string: "https://a.test/x"))), decoder: decoder)
    }

    private func open<T: Decodable>(
        _ json: String, _ envelope: Envelope = envelope, as _: T.Type = T.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> T {
        try envelope.open(response(json, decoder: decoder)).decode(T.self)
    }

    /// Success as number, Bool, string, list or rule; the code as number or string.
    @Test(arguments: [
        (Envelope.Codes(integerLiteral: 200), "200", true), (200, #""200""#, true), (200, "201", false),
        (200, "200.0", true), (0, "0", true), (0, #""0""#, true), (0, "-0", true), (0, #""""#, false),
        (-1, "-1", true), (true, "true", true), (true, #""true""#, true), (true, "false", false),
        (false, "false", true), ("ok", #""ok""#, true), ("ok", #""OK""#, false), ("1", "1", true),
        (.either, "0", true), (.either, #""200""#, true), (.either, "1", false), (.neither, "0", false),
        (.when { $0.hasPrefix("2") }, "204", true), (.when { $0.hasPrefix("2") }, "404", false),
    ])
    func success(rule: Envelope.Codes, code: String, isSuccess: Bool) throws {
        let envelope = Envelope(code: "c", message: "m", payload: "d", success: rule)
        let json = #"{"c": \#(code), "m": "text", "d": 7}"#
        guard isSuccess else {
            let error = #expect(throws: NetworkError.self) { let _: Int = try open(json, envelope) }
            #expect(error?.code == .envelope)
            #expect(error?.message == "text")
            return
        }
        #expect(try open(json, envelope, as: Int.self) == 7)
    }

    /// Default keys: code, message, data, success 0; other keys are ignored.
    @Test func defaults() throws {
        let json = #"{"traceId": {"x": [1]}, "code": 0, "message": "ok", "data": {"name": "tea"}, "z": null}"#
        #expect(try open(json, Envelope(), as: Goods.self) == Goods(name: "tea"))
    }

    /// A failure carries code, message and body, for any kind of message.
    @Test(arguments: [
        (#"{"errcode": 11010, "msg": "expired"}"#, "11010", "expired"),
        (#"{"errcode": "E1", "msg": null, "data": {}}"#, "E1", ""), (#"{"errcode": 5}"#, "5", ""),
        (#"{"errcode": 5, "msg": 42}"#, "5", "42"), (#"{"errcode": 5, "msg": {"a": 1}}"#, "5", ""),
        (#"{"errcode": false, "msg": "no"}"#, "false", "no"), (#"{"errcode": 5, "msg": ["a"]}"#, "5", ""),
        (#"{"errcode": 18446744073709551615, "msg": ""}"#, "18446744073709551615", ""),
    ])
    func failure(json: String, code: String, message: String) throws {
        let error = #expect(throws: NetworkError.self) { _ = try Self.envelope.open(response(json)) }
        #expect(error?.code == .envelope)
        #expect(error?.envelopeCode == code)
        #expect(error?.message == message)
        #expect(error?.body == Array(json.utf8))
        #expect(error?.status == .ok)
        #expect(error?.requestID != nil)
    }

    /// A missing or null payload: nil for an optional, an error that names it for other types.
    @Test func payload() throws {
        for json in [#"{"errcode": 200}"#, #"{"errcode": 200, "data": null}"#] {
            #expect(try open(json, as: Goods?.self) == nil)
            #expect(try open(json, as: [Int]?.self) == nil)
            for attempt: () throws -> Void in [
                { let _: Goods = try open(json) }, { let _: [Int] = try open(json) },
                { let _: Int = try open(json) },
            ] {
                let error = #expect(throws: NetworkError.self, performing: attempt)
                #expect(error?.code == .decoding)
                #expect(error?.codingPath == "data")
                #expect(error?.body == Array(json.utf8))
            }
        }
        #expect(try open(#"{"errcode": 200, "data": []}"#, as: [Goods].self) == [])
        #expect(
            try open(#"{"errcode": 200, "data": {"name": "tea"}}"#, as: Goods?.self) == Goods(name: "tea"))
    }

    /// A body that is not such an envelope is a decoding error that keeps the body.
    @Test(arguments: [
        "", "not json", "[1, 2]", "7", "null", "\"text\"", "{}", #"{"code": 200, "data": 1}"#,
        #"{"errcode": null}"#, #"{"errcode": {}}"#, #"{"errcode": [200]}"#, #"{"errcode": 200"#,
        "<html></html>", "\u{FEFF}", String(repeating: "[", count: 5000),
        #"{"errcode": "# + String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + "}",
    ])
    func noEnvelope(text: String) throws {
        let error = #expect(throws: NetworkError.self) { _ = try Self.envelope.open(response(text)) }
        #expect(error?.code == .decoding)
        #expect(error?.body == Array(text.utf8))
    }

    /// Invalid UTF-8 and mutated envelopes are errors and never traps.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let json = Array(#"{"errcode": 200, "msg": "a\u00e9", "data": [{"name": "tea", "price": 1e3}]}"#.utf8)
        for _ in 0..<300 {
            var mutated = try response("")
            mutated.body = json.mutated(by: &random)
            do throws(NetworkError) {
                _ = try Self.envelope.open(mutated).decode([Goods].self)
            } catch {
                #expect([.decoding, .envelope].contains(error.code))
                #expect(error.body == mutated.body)
            }
        }
    }

    /// A decoder that converts keys converts those of the content; the envelope's keys are literal.
    @Test func keyConversion() throws {
        struct Snake: Decodable, Equatable { let unitPrice: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let envelope = Envelope(code: "err_code", message: "err_msg", payload: "result_data", success: 0)
        let json = #"{"err_code": 0, "err_msg": "", "result_data": {"unit_price": 3}}"#
        #expect(try open(json, envelope, as: Snake.self, decoder: decoder) == Snake(unitPrice: 3))
    }

    private static func client(
        _ answer: ScriptedTransport.Reply, on clock: VirtualScheduler
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.envelope = envelope
        configuration.options.retry = .never
        return Client(configuration: configuration, transport: ScriptedTransport(on: clock) { _ in answer })
    }

    private struct Chosen<Content: Decodable & Sendable>: Endpoint {
        typealias Output = Content
        let path = "/x"
        let method = HTTPRequest.Method.get
        var options = RequestOptions()
    }

    /// Each endpoint uses the client's envelope, none, or its own.
    @Test func choice() throws {
        let clock = VirtualScheduler()
        let client = Self.client(.json(#"{"errcode": 200, "ok": true, "data": 1, "result": 2}"#), on: clock)
        let own = Envelope(code: "ok", payload: "result", success: true)
        let first = Recorder(client.request(Chosen<Int>()), on: clock)
        let second = Recorder(client.request(Chosen<Int>(options: RequestOptions(envelope: own))), on: clock)
        let third = Recorder(
            client.request(Chosen<[String: Unread]>(options: RequestOptions(envelope: .absent))), on: clock
        )
        try clock.run()
        #expect(first.values == [1])
        #expect(second.values == [2])
        #expect(third.values.first?.count == 4)
    }

    /// An error status has the server's message and code, if its body contains them.
    @Test(arguments: [
        (#"{"errcode": 9, "msg": "no such tea"}"#, "no such tea", "9"),
        (#"{"message": "from the usual names"}"#, "from the usual names", nil),
        (#"{"error": {"message": "inside"}}"#, "inside", nil), (#"{"error": "plain"}"#, "plain", nil),
        (#"{"title": "t", "detail": "RFC 9457"}"#, "RFC 9457", nil), ("<html>", "Not Found", nil),
        ("", "Not Found", nil), ("[]", "Not Found", nil), (#"{"msg": null}"#, "Not Found", nil),
        (#"{"msg": "", "errcode": "x"}"#, "Not Found", "x"),
        (
            #"{"error":"# + String(repeating: #"{"error":"#, count: 400) + "1"
                + String(repeating: "}", count: 401), "1", nil
        ),
    ])
    func errorStatus(body: String, message: String, code: String?) throws {
        let clock = VirtualScheduler()
        let client = Self.client(.bytes(Array(body.utf8), status: .notFound), on: clock)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.status == .notFound)
        #expect(recorder.failure?.message == message)
        #expect(recorder.failure?.envelopeCode == code)
        #expect(recorder.failure?.body == Array(body.utf8))
    }

    /// The message of a success is beside the output.
    @Test(
        arguments: [
            (#"{"errcode":200,"msg":"saved","data":7}"#, "saved"),
            (#"{"errcode":200,"msg":"caf\u00e9","data":7}"#, "café"),
            (#"{"errcode":200,"msg":5,"data":7}"#, "5"), (#"{"errcode":200,"msg":null,"data":7}"#, nil),
            (#"{"errcode":200,"msg":{"a":1},"data":7}"#, nil), (#"{"errcode":200,"data":7}"#, nil),
            (#"{"errcode":200,"msg":"","data":7}"#, ""),
        ] as [(String, String?)])
    func successMessage(json: String, expected: String?) throws {
        let clock = VirtualScheduler()
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.envelope = Self.envelope
        let client = Client(
            configuration: configuration, transport: ScriptedTransport(on: clock) { _ in .json(json) })
        struct Save: Endpoint {
            typealias Output = Int
            let path = "/x"
            let method = HTTPRequest.Method.get
        }
        let typed = Recorder(client.typedResponse(Save()), on: clock)
        let bare = Recorder(client.typedResponse(.get("/x")), on: clock)
        try clock.run()
        #expect(typed.values.map(\.output) == [7])
        #expect(typed.values.map(\.serverMessage) == [expected])
        #expect(bare.values.map(\.serverMessage) == [expected])
    }
}

extension Envelope.Codes {
    fileprivate static let either: Self = [0, 200]
    fileprivate static let neither: Self = []
}

/// A member of any form, whose value does not matter.
private struct Unread: Decodable, Sendable {
    init(from _: any Decoder) {}
}
