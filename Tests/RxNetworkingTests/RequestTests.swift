import RxNetworking
import Synchronization
import TestServers
import Testing

/// Requests as a server receives them.
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
    private struct Filter: Encodable, Sendable {
        var kind = "green tea"
        var most: Int? = 20
    }

    /// An endpoint that overrides everything about its content.
    private struct Search: Endpoint {
        typealias Output = Response
        var method = HTTPRequest.Method.post
        var path = "/goods/{kind}"
        var pathValues: PathValues = ["kind": "a&b c"]
        var parameters = Parameters.none
        var options = RequestOptions()
    }

    private struct Sent: Sendable {
        var parameters: Parameters
        var query: Parameters.Values = [:]
        var target = "/goods/a%26b%20c"
        var contentType: String?
        var body = ""
    }

    private static let sent = [
        Sent(
            parameters: .query(["q": "green tea", "ids": [1, 2]]),
            target: "/goods/a%26b%20c?ids=1&ids=2&q=green%20tea"),
        Sent(parameters: .query(Filter()), target: "/goods/a%26b%20c?kind=green%20tea&most=20"),
        Sent(
            parameters: .json(Filter()), contentType: "application/json",
            body: #"{"kind":"green tea","most":20}"#),
        Sent(
            parameters: .json([Filter(), Filter(kind: "oolong", most: nil)]), contentType: "application/json",
            body: #"[{"kind":"green tea","most":20},{"kind":"oolong"}]"#),
        Sent(
            parameters: .form(["a": 1, "b": "x y&z"]), contentType: "application/x-www-form-urlencoded",
            body: "a=1&b=x+y%26z"),
        Sent(parameters: .text("key=value&%"), contentType: "text/plain; charset=utf-8", body: "key=value&%"),
        Sent(
            parameters: .json(["a": 1]), query: ["token": "token1"], target: "/goods/a%26b%20c?token=token1",
            contentType: "application/json", body: #"{"a":1}"#),
        Sent(
            parameters: .standard(["a": 1]), contentType: "application/x-www-form-urlencoded", body: "a=1"),
    ]

    /// Parameters in each format: dictionaries, models, lists of models, text.
    @Test(arguments: sent.indices)
    func parameters(index: Int) async throws {
        let sent = Self.sent[index]
        let server = try RawServer { _ in [.respond()] }
        var configuration = ClientConfiguration()
        configuration.parameterFormat = .form
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        _ = try await client.request(Search(parameters: sent.parameters.query(sent.query))).value()
        let request = try #require(server.record.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == sent.target)
        #expect(request.field("Content-Type") == sent.contentType)
        #expect(request.text == sent.body)
    }

    /// A configuration alone creates a client, with its base URL.
    @Test func configurationAlone() async throws {
        let server = try RawServer { _ in [.respond()] }
        let client = Client(configuration: ClientConfiguration(baseURL: server.baseURL + "/v1"))
        _ = try await client.get("/goods").value()
        #expect(server.record.requests.map(\.target) == ["/v1/goods"])
    }

    /// Every method, custom ones included.
    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methods(name: String) async throws {
        let server = try RawServer { request in
            request.method == "HEAD"
                ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")] : [.respond(body: request.method)]
        }
        let client = Client(baseURL: server.baseURL)
        let method = try #require(HTTPRequest.Method(name))
        let response = try await client.request(Search(method: method)).value()
        #expect(response.text == (name == "HEAD" ? "" : name))
        #expect(server.record.requests.map(\.method) == [name])
    }

    /// Rewritten by endpoint and client, then signed over the final parameters; or not, by choice.
    @Test func rewritten() async throws {
        let server = try RawServer { _ in [.respond()] }
        var configuration = ClientConfiguration()
        configuration.rewriteParameters = { $0.adding(["version": "1.0.0"]) }
        configuration.signature = .parameters { content in ["sign": content.canonicalQuery] }
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        var search = Search(method: .get, parameters: .query(["b": 2, "a": 1]))
        _ = try await client.request(search).value()
        search.options.isSigned = false
        _ = try await client.request(search).value()
        search.options.usesParameterRewriting = false
        _ = try await client.request(search).value()
        #expect(
            server.record.requests.map { $0.target.dropFirst("/goods/a%26b%20c?".count) } == [
                "a=1&b=2&sign=a%3D1%26b%3D2%26version%3D1.0.0&version=1.0.0", "a=1&b=2&version=1.0.0",
                "a=1&b=2",
            ])
    }

    /// The client's fields, overridden by the endpoint's; after an invalid one nothing is sent.
    @Test func headers() async throws {
        let server = try RawServer { _ in [.respond()] }
        var configuration = ClientConfiguration()
        configuration.options.headers = ["X-App": "shop", "Accept": "text/plain"]
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        _ = try await client.request(Search(options: RequestOptions(headers: ["Accept": "application/json"])))
            .value()
        let request = try #require(server.record.requests.first)
        #expect(request.field("X-App") == "shop")
        #expect(
            request.fields.filter { $0.name.lowercased() == "accept" }.map(\.value) == ["application/json"])

        for field in [["X-A": "b\r\nX-Evil: 1"], ["X A": "b"], ["X-A": "b\u{0}"]] {
            let error = await #expect(throws: NetworkError.self) {
                _ = try await client.request(Search(options: RequestOptions(headers: Headers(field)))).value()
            }
            #expect(error?.code == .invalidHeader)
        }
        #expect(server.record.requests.count == 1)
    }

    /// Each request has its own id: in the events, in the error, and for cancelling.
    @Test func ids() async throws {
        let server = try RawServer { request in request.target == "/stall" ? [.stall] : [.respond(404)] }
        let client = Client(baseURL: server.baseURL)
        let seen = Mutex<[RequestID]>([])
        let traffic = client.traffic.subscribe { event in
            if case .started = event.kind { seen.withLock { $0.append(event.request.id) } }
        }
        defer { traffic.cancel() }
        let error = await #expect(throws: NetworkError.self) { _ = try await client.get("/missing").value() }
        let stalled = Task { try await client.get("/stall").value() }
        while server.record.requests.count < 2 { await Task.yield() }
        let ids = seen.withLock { $0 }
        #expect(ids.count == 2)
        #expect(Set(ids).count == 2)
        #expect(error?.requestID == ids.first)
        #expect(client.cancel(.id(try #require(ids.last))) == 1)
        let cancelled = await #expect(throws: NetworkError.self) { _ = try await stalled.value }
        #expect(cancelled?.code == .cancelled)
        #expect(cancelled?.requestID == ids.last)
    }
}
