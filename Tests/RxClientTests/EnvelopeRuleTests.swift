import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The places of an envelope's parts, and the meaning of its codes.
@Suite struct EnvelopeRuleTests {
    private let clock = VirtualScheduler()

    private func response(_ json: String) throws -> Response {
        Response(
            head: ResponseHead(status: .ok), body: Array(json.utf8),
            request: Request(url: try #require(URL(string: "https://a.test/x"))))
    }

    private func open<T: Decodable>(_ json: String, _ envelope: Envelope, as _: T.Type = T.self) throws -> T {
        try envelope.open(response(json)).decode(T.self)
    }

    private func failure(_ json: String, _ envelope: Envelope) throws -> NetworkError? {
        #expect(throws: NetworkError.self) { _ = try envelope.open(response(json)) }
    }

    private func client(
        _ answers: [ScriptedTransport.Reply], envelope: Envelope, session: Session? = nil
    ) -> (Client, ScriptedTransport) {
        let left = Mutex(answers[...])
        let transport = ScriptedTransport(on: clock) { _ in
            left.withLock { $0.popFirst() } ?? .failure(.connectionLost)
        }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.envelope = envelope
        configuration.session = session
        configuration.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(1)))
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// Keys lead into objects; of several places the first one with content counts.
    @Test func keys() throws {
        let nested = Envelope(code: "status.code", message: "status.text", payload: "result.data", success: 1)
        #expect(
            try open(#"{"result":{"data":7},"status":{"text":"","code":"1"}}"#, nested, as: Int.self) == 7)
        let error = try failure(#"{"status":{"code":5,"text":"no"}}"#, nested)
        #expect(error?.envelopeCode == "5")
        #expect(error?.message == "no")

        let either = Envelope(
            code: ["errcode", "code"], message: ["msg", "error.text"], payload: ["data", "result.list"],
            success: [0, 200])
        #expect(try open(#"{"code":200,"data":1}"#, either, as: Int.self) == 1)
        #expect(try open(#"{"errcode":0,"code":9,"result":{"list":[2]}}"#, either, as: [Int].self) == [2])
        #expect(
            try open(#"{"errcode":null,"code":0,"data":null,"result":{"list":[3]}}"#, either, as: [Int].self)
                == [3])
        #expect(try failure(#"{"code":9,"error":{"text":"no"}}"#, either)?.message == "no")
        #expect(try open(#"{"code":0,"data":null}"#, either, as: Int?.self) == nil)
        #expect(try open(#"{"code":0}"#, either, as: Int?.self) == nil)

        let dotted = Envelope(code: [["err.code"]], payload: [["a.b", "c"]])
        #expect(try open(#"{"err.code":0,"a.b":{"c":4}}"#, dotted, as: Int.self) == 4)
    }

    /// An envelope whose keys are among those of the content.
    @Test func flat() throws {
        struct Goods: Decodable, Equatable { let name: String }
        for envelope in [Envelope(payload: ""), Envelope(payload: [])] {
            #expect(try open(#"{"code":0,"name":"tea"}"#, envelope, as: Goods.self) == Goods(name: "tea"))
            #expect(try failure(#"{"code":1,"name":"tea"}"#, envelope)?.code == .envelope)
        }
    }

    /// A code that is sent only with failures.
    @Test func absentCode() throws {
        let envelope = Envelope(code: "error.code", message: "error.message", success: .absent)
        #expect(try open(#"{"data":1}"#, envelope, as: Int.self) == 1)
        #expect(try open(#"{"data":1,"error":null}"#, envelope, as: Int.self) == 1)
        #expect(try open(#"{"data":1,"error":{"code":null}}"#, envelope, as: Int.self) == 1)
        #expect(try failure(#"{"error":{"code":7,"message":"no"}}"#, envelope)?.envelopeCode == "7")
        #expect(try failure(#"{"data":1,"error":{"code":{}}}"#, envelope)?.code == .decoding)
        let missing = try failure(#"{"data":1}"#, Envelope(code: ["a.b", "c"]))
        #expect(missing?.code == .decoding)
        #expect(missing?.codingPath == "a.b or c")
    }

    private static let mixed: Envelope.Codes = [0, "OK", .range(200...210), true]

    static let codeCases: [(Envelope.Codes, String, Bool)] = [
        (.range(200...299), "204", true), (.range(200...299), "\"250\"", true),
        (.range(200...299), "300", false),
        (.range(0...1), "\"x\"", false), (.range(0...1), "true", false), (mixed, "\"OK\"", true),
        (mixed, "205", true), (mixed, "true", true), (mixed, "7", false),
        (.range(.min ... .max), "9223372036854775808", false),
    ]

    /// Codes: a range, several of all kinds, text.
    @Test(arguments: codeCases)
    func codes(rule: Envelope.Codes, code: String, isSuccess: Bool) throws {
        let json = #"{"code":\#(code),"data":1}"#
        let envelope = Envelope(success: rule)
        if isSuccess {
            #expect(try open(json, envelope, as: Int.self) == 1)
        } else {
            #expect(try failure(json, envelope)?.code == .envelope)
        }
    }

    private static let meaning = Envelope(
        success: 0, loginExpired: [11010, "GONE"], noContent: 404, retryLater: .range(500...599),
        retryDelay: ["wait", "data.seconds"])

    /// The code determines the kind of the failure.
    @Test(arguments: [
        ("11010", NetworkError.Code.loginExpired), (#""GONE""#, .loginExpired), ("404", .noContent),
        ("503", .retryLater), ("1", .envelope),
    ])
    func kinds(code: String, kind: NetworkError.Code) throws {
        let error = try failure(#"{"code":\#(code),"message":"why"}"#, Self.meaning)
        #expect(error?.code == kind)
        #expect(error?.message == "why")
        #expect(error?.envelopeCode == code.filter { $0 != "\"" })
        #expect(error?.requestID != nil)
        #expect(error?.status == .ok)
        #expect(error?.body.isEmpty == false)
        #expect(error?.shown.contains("why") == false, "the server's words are not shown")
    }

    /// A success stays a success, regardless of other meanings of its code.
    @Test func successFirst() throws {
        let envelope = Envelope(success: 200, noContent: .range(0...999))
        #expect(try open(#"{"code":200,"data":1}"#, envelope, as: Int.self) == 1)
    }

    static let delayCases: [(String, Duration?)] = [
        ("\"wait\":3", .seconds(3)), ("\"wait\":\"2.5\"", .milliseconds(2500)), ("\"wait\":-1", .zero),
        ("\"data\":{\"seconds\":4}", .seconds(4)), ("\"wait\":null,\"data\":{\"seconds\":4}", .seconds(4)),
        ("\"wait\":\"soon\"", nil), ("\"wait\":1e300", .seconds(1 << 31)), ("\"wait\":\"nan\"", nil),
        ("\"x\":1", nil), ("\"wait\":\"inf\"", nil),
    ]

    /// The delay is a number or a string, from the first place that has one.
    @Test(arguments: delayCases)
    func delays(members: String, delay: Duration?) throws {
        #expect(try failure(#"{"code":500,\#(members)}"#, Self.meaning)?.retryDelay == delay)
        #expect(try failure(#"{"code":1,\#(members)}"#, Self.meaning)?.retryDelay == nil)
    }

    /// A failure that asks to retry later is retried after the server's delay, if a retry is safe.
    @Test func retryLater() throws {
        let busy = ScriptedTransport.Reply.json(#"{"code":503,"wait":7}"#)
        let fine = ScriptedTransport.Reply.json(#"{"code":0,"data":1}"#)
        let (client, transport) = client([busy, fine], envelope: Self.meaning)
        let recorder = Recorder(client.get("/x").decode(Int.self), on: clock)
        try clock.run()
        #expect(recorder.values == [1])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(7)])

        let (other, sent) = self.client([busy, fine], envelope: Self.meaning)
        let posted = Recorder(other.post("/x"), on: clock)
        try clock.run()
        #expect(posted.failure?.code == .retryLater)
        #expect(sent.requests.count == 1)
    }

    /// A delay over the policy's cap is not waited for.
    @Test func longDelay() throws {
        let (client, transport) = client([.json(#"{"code":503,"wait":61}"#)], envelope: Self.meaning)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .retryLater)
        #expect(transport.requests.count == 1)
    }

    /// An expired login is renewed by a session that knows none of the codes.
    @Test(arguments: [200, 403])
    func relogin(status: Int) throws {
        let session = Session(credential: Credential(token: "old"), clock: clock) {
            .just(Credential(token: "new"))
        }
        let expired = ScriptedTransport.Reply.json(
            #"{"code":11010,"message":"gone"}"#, status: .init(code: status))
        let (client, transport) = client(
            [expired, .json(#"{"code":0,"data":1}"#), expired, expired], envelope: Self.meaning,
            session: session)
        let recorder = Recorder(client.get("/x").decode(Int.self), on: clock)
        try clock.run()
        #expect(recorder.values == [1])
        #expect(transport.requests.map(\.token) == ["old", "new"])
        let refused = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(refused.failure?.code == .loginExpired)
        #expect(refused.failure?.message == "gone")
    }

    /// A code counts in the body of an error status, too.
    @Test(arguments: [("404", NetworkError.Code.noContent), ("9", .status)])
    func errorStatus(code: String, kind: NetworkError.Code) throws {
        let body = #"{"code":\#(code),"message":"why"}"#
        let (client, _) = client([.json(body, status: .badRequest)], envelope: Self.meaning)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == kind)
        #expect(recorder.failure?.status == .badRequest)
        #expect(recorder.failure?.message == "why")
        #expect(recorder.failure?.envelopeCode == code)
        #expect(recorder.failure?.body == Array(body.utf8))
    }

    /// A number is the same code in an error status as in a success, however it is written.
    @Test(arguments: ["404", "404.0", "4.04e2", "40400E-2", "1.50", "-0", "12345678901234567890", "true"])
    func sameNumbers(code: String) throws {
        let body = #"{"code":\#(code)}"#
        var envelope = Self.meaning
        envelope.success = "none"
        let (client, _) = client([.json(body, status: .badRequest)], envelope: envelope)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        let opened = try failure(body, envelope)
        #expect(recorder.failure?.envelopeCode == opened?.envelopeCode)
        #expect((recorder.failure?.code == .noContent) == (opened?.code == .noContent))
    }

    /// An error status is read at nested places, too, with the retry delay.
    @Test func nestedErrorStatus() throws {
        let envelope = Envelope(
            code: "e.code", message: "e.text", retryLater: 7, retryDelay: "e.after")
        let (client, transport) = client(
            [
                .json(#"{"e":{"code":7,"text":"later","after":"2"}}"#, status: .badRequest),
                .json(#"{"e":{"code":8,"text":"never"}}"#, status: .badRequest),
            ], envelope: envelope)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(2)])
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.message == "never")
    }
}
