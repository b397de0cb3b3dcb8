import Foundation
import RxNetworking
import TestServers
import Testing

/// Each kind of failure, caused by a server.
@Suite(.timeLimit(.minutes(1))) struct ErrorKindTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let code: NetworkError.Code
        var testDescription: String
        var steps: [RawServer.Step] = [.readRequest, .respond(body: "{}")]
        var parameters: Parameters = .none
        var headers: Headers = [:]
        var path = "/x"
        /// Whether the server receives any of it.
        var isSent = true
        var scheme = "http"
        var message: String?
        var configure: @Sendable (inout ClientConfiguration) -> Void = { _ in }
    }

    private struct Fetch: Endpoint {
        typealias Output = Goods
        var path = "/x"
        let method = HTTPRequest.Method.post
        var parameters: Parameters = .none
        var headers: Headers = [:]
        var options: RequestOptions { RequestOptions(headers: headers) }

        func validate(_ answer: TypedResponse<Goods>) throws(NetworkError) {
            if answer.output.list.contains(0) { throw NetworkError(.noContent, "nothing of use") }
        }
    }

    private struct Goods: Decodable, Sendable {
        let list: [Int]
    }

    /// A source of network status without a network.
    private struct Offline: Reachability {
        let status = NetworkStatus.unreachable
        var statuses: Observable<NetworkStatus, Never> { .just(status) }
        func start() {}
        func stop() {}
    }

    private static let short = Duration.milliseconds(400)

    @Sendable
    private static func wrapped(_ configuration: inout ClientConfiguration) {
        configuration.options.envelope = Envelope(
            success: 0, loginExpired: 11010, noContent: 404, retryLater: 503)
    }

    private static func answer(_ body: String, _ status: Int = 200) -> [RawServer.Step] {
        [.readRequest, .respond(status, ["Content-Type": "application/json"], body: body)]
    }

    static let kinds: [Kind] = [
        Kind(
            code: .invalidParameters, testDescription: "bad parameters", parameters: .json(["a": Double.nan]),
            isSent: false),
        Kind(
            code: .invalidHeader, testDescription: "a header with CR and LF", headers: ["A": "b\r\nC: d"],
            isSent: false),
        Kind(
            code: .invalidHeader, testDescription: "a header with NUL", headers: ["A": "b\0"], isSent: false),
        Kind(code: .invalidHeader, testDescription: "a header's name", headers: ["A B": "c"], isSent: false),
        Kind(
            code: .invalidURL, testDescription: "a path that leads elsewhere", path: "/a/../b", isSent: false),
        Kind(
            code: .unreachable, testDescription: "no network", isSent: false,
            configure: { $0.reachability = Offline() }),
        Kind(
            code: .firstByteTimeout, testDescription: "no first byte", steps: [.readRequest, .stall],
            configure: { $0.options.timeouts = Timeouts(firstByte: short) }),
        Kind(
            code: .idleTimeout, testDescription: "silence",
            steps: [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall],
            configure: { $0.options.timeouts = Timeouts(idle: short) }),
        Kind(
            code: .attemptTimeout, testDescription: "the attempt", steps: [.readRequest, .stall],
            configure: { $0.options.timeouts = Timeouts(attempt: short) }),
        Kind(
            code: .totalTimeout, testDescription: "all of it", steps: [.readRequest, .stall],
            configure: { $0.options.timeouts = Timeouts(total: short) }),
        Kind(
            code: .tls, testDescription: "TLS", steps: [.send("no TLS at all\r\n"), .close], scheme: "https"),
        Kind(code: .emptyReply, testDescription: "no answer", steps: [.readRequest, .close]),
        Kind(
            code: .partialBody, testDescription: "half an answer",
            steps: [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]),
        Kind(
            code: .tooLarge, testDescription: "too large", steps: answer(#"{"list":[1]}"#),
            configure: { $0.bodyLimit = 5 }),
        Kind(
            code: .status, testDescription: "an error status", steps: answer(#"{"message":"closed"}"#, 500),
            message: "closed"),
        Kind(
            code: .status, testDescription: "an error status with a page",
            steps: [.readRequest, .respond(404, ["Content-Type": "text/html"], body: "<html>")],
            message: "Scripted"),
        Kind(
            code: .envelope, testDescription: "an envelope",
            steps: answer(#"{"code":"7","message":"no tea"}"#),
            message: "no tea", configure: wrapped),
        Kind(
            code: .loginExpired, testDescription: "an expired login",
            steps: answer(#"{"code":11010,"message":"log in"}"#), message: "log in", configure: wrapped),
        Kind(
            code: .noContent, testDescription: "nothing, by the envelope",
            steps: answer(#"{"code":404,"message":"sold out"}"#, 404), message: "sold out", configure: wrapped
        ),
        Kind(
            code: .retryLater, testDescription: "later, by the envelope", steps: answer(#"{"code":503}"#),
            configure: wrapped),
        Kind(
            code: .noContent, testDescription: "nothing, by the validator", steps: answer(#"{"list":[0]}"#),
            message: "nothing of use"),
        Kind(
            code: .contentType, testDescription: "a page",
            steps: [.readRequest, .respond(200, ["Content-Type": "text/html"], body: "<html>")]),
        Kind(code: .decoding, testDescription: "another document", steps: answer(#"{"list":[1,"a"]}"#)),
    ]

    @Test(arguments: kinds)
    func isToldFromTheOthers(_ kind: Kind) async throws {
        let server = try RawServer([kind.steps])
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        kind.configure(&configuration)
        let client = Client(
            baseURL: "\(kind.scheme)://127.0.0.1:\(server.port)", configuration: configuration)
        let fetch = Fetch(path: kind.path, parameters: kind.parameters, headers: kind.headers)
        let error = await #expect(throws: NetworkError.self) { _ = try await client.request(fetch).value() }
        #expect(error?.code == kind.code)
        if let message = kind.message { #expect(error?.message == message) }
        if kind.code == .decoding { #expect(error?.codingPath == "list[1]") }
        if [.status, .envelope, .loginExpired, .noContent, .retryLater, .contentType, .decoding].contains(
            kind.code)
        {
            #expect(error?.body.isEmpty == false, "the raw body is there")
            #expect(error?.status != nil)
        }
        #expect(server.record.connections.isEmpty == !kind.isSent)
        #expect(server.record.requests.isEmpty || kind.isSent)
    }

    /// No server listens, or none accepts the connection.
    @Test(arguments: [DeadPort.Kind.refusing, .full])
    func connect(kind: DeadPort.Kind) async throws {
        let port = try DeadPort(kind)
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        configuration.options.timeouts = Timeouts(connect: kind == .full ? Self.short : .seconds(30))
        let client = Client(baseURL: port.baseURL, configuration: configuration)
        let error = await #expect(throws: NetworkError.self) { _ = try await client.get("/").value() }
        #expect(error?.code == (kind == .full ? .connectTimeout : .connect))
        #expect(error?.isUnsent == true)
    }

    /// JSON with another content type is accepted by choice, bytes and pages if nothing is decoded.
    @Test func contentTypes() async throws {
        let server = try RawServer { _ in
            [.respond(200, ["Content-Type": "text/html; charset=utf-8"], body: #"{"list":[1]}"#)]
        }
        var configuration = ClientConfiguration()
        configuration.options.contentTypes = .json.or("text/html")
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        #expect(try await client.request(Fetch()).value().list == [1])
        let strict = Client(baseURL: server.baseURL)
        #expect(try await strict.get("/").map(\.text).value() == #"{"list":[1]}"#)
        var call = InlineEndpoint(.get, "/")
        call.options.contentTypes = .json
        let error = await #expect(throws: NetworkError.self) { _ = try await strict.request(call).value() }
        #expect(error?.code == .contentType)
        #expect(error?.body == Array(#"{"list":[1]}"#.utf8))
    }

    /// Envelopes over a socket: nested keys, another one for an endpoint, none, a part of the payload.
    @Test func envelopes() async throws {
        struct Part: Endpoint {
            typealias Output = Int
            let path = "/x"
            let method = HTTPRequest.Method.get
            var options = RequestOptions(part: "page.count")
        }
        let server = try RawServer { _ in
            [.respond(body: #"{"status":{"code":"OK"},"result":{"page":{"count":3}},"ok":true,"extra":{}}"#)]
        }
        var configuration = ClientConfiguration()
        configuration.options.envelope = Envelope(code: "status.code", payload: "result", success: "OK")
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        #expect(try await client.request(Part()).value() == 3)
        let answer = try await client.typedResponse(
            Part(options: RequestOptions(envelope: .absent, part: "result.page.count"))
        ).value()
        #expect(answer.output == 3)
        #expect(answer.response.text.hasPrefix(#"{"status""#) == true)
        let own = Envelope(code: "ok", payload: "result.page", success: true)
        #expect(
            try await client.request(Part(options: RequestOptions(envelope: own, part: "count"))).value() == 3
        )
    }
}
