import FoundationEssentials
import RxNetworking
import TestServers
import Testing

/// Guarantees of a client for any input from its caller or a server: over sockets, through the public API.
@Suite(.timeLimit(.minutes(2))) struct SafetyTests {
    private func client(
        _ baseURL: String,
        _ change: (inout ClientConfiguration, inout CurlTransport.Configuration) -> Void = { _, _ in }
    ) -> Client {
        var (configuration, connections) = (
            ClientConfiguration(baseURL: baseURL), CurlTransport.Configuration()
        )
        configuration.options.retry = .never
        change(&configuration, &connections)
        return Client(
            configuration: configuration, transport: CurlTransport(loop: .shared, configuration: connections))
    }

    private func failure(_ stream: Observable<Response, NetworkError>) async -> NetworkError? {
        await #expect(throws: NetworkError.self) { _ = try await stream.value() }
    }

    // MARK: - Input of the caller

    static let splitting = ["a\r\nX-Evil: 1", "a\rb", "a\nb", "a\0b", "\r\n\r\nGET /evil HTTP/1.1\r\n\r\n"]

    /// CR, LF and NUL in fields and multipart names are refused, and nothing is sent.
    @Test(arguments: splitting)
    func splits(text: String) async throws {
        let server = try RawServer { _ in [.respond()] }
        let client = client(server.baseURL)
        #expect(await failure(client.get("/", headers: ["X-A": text]))?.code == .invalidHeader)
        #expect(await failure(client.get("/", headers: [text: "a"]))?.code == .invalidHeader)
        for part in [
            Multipart.Part.text(text, "x"), .bytes("a", [1], fileName: text),
            .bytes("a", [1], contentType: text),
        ] {
            let upload = InlineEndpoint(.post, "/", .multipart([part]))
            #expect(await failure(client.response(upload))?.code == .invalidParameters)
        }
        let all = self.client(server.baseURL) { configuration, _ in
            configuration.options.headers = ["X-A": text]
        }
        #expect(await failure(all.get("/"))?.code == .invalidHeader)
        #expect(server.record.connections.isEmpty)
    }

    /// In a URL and in parameters they are escaped, so that one request stays one.
    @Test(arguments: splitting)
    func escapes(text: String) async throws {
        let server = try RawServer { _ in [.respond()] }
        let client = client(server.baseURL)
        _ = try? await client.get("/" + text).value()
        _ = try await client.get("/a", query: ["q": text]).value()
        let placed = client.response(.get("/b/{id}", at: ["id": text]))
        if text.contains("/") {
            #expect(await failure(placed)?.code == .invalidURL)
        } else {
            _ = try await placed.value()
        }
        for request in server.record.requests {
            #expect(request.method == "GET" && !request.target.contains("evil HTTP"))
            #expect(request.field("X-Evil") == nil)
        }
        #expect((1...3).contains(server.record.requests.count))
    }

    /// An absolute URL as a path stays at the base URL's origin, unless allowed; then without credentials.
    @Test func leaves() async throws {
        let (base, other) = (try RawServer { _ in [.respond()] }, try RawServer { _ in [.respond()] })
        let secretive = { (configuration: inout ClientConfiguration) in
            configuration.options.headers = [
                "Authorization": "Bearer canary", "X-Key": "canary", "X-App": "1",
            ]
            configuration.secretFields = [.init("X-Key")!]
        }
        let client = client(base.baseURL) { configuration, _ in secretive(&configuration) }
        #expect(await failure(client.get(other.baseURL + "/x"))?.code == .invalidURL)
        _ = try await client.get("//127.0.0.1:\(other.port)/x").value()
        #expect(other.record.connections.isEmpty)
        #expect(base.record.requests.map(\.target) == ["//127.0.0.1:\(other.port)/x"])

        let allowed = self.client(base.baseURL) { configuration, _ in
            secretive(&configuration)
            configuration.allowsOtherOrigins = true
        }
        _ = try await allowed.get(other.baseURL + "/x").value()
        let request = try #require(other.record.requests.first)
        #expect(request.field("X-App") == "1")
        #expect(!request.fields.contains { $0.value.contains("canary") })
    }

    /// Http and https only.
    @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "data:,x"])
    func schemes(url: String) async throws {
        let server = try RawServer { _ in [.respond(302, ["Location": url])] }
        #expect(await failure(client("").get(url))?.code == .invalidURL)
        #expect(await failure(client(server.baseURL).get("/"))?.code == .invalidRedirect)
        #expect(server.record.requests.count == 1)
    }

    // MARK: - Input of the server

    /// A redirect to another origin carries no secret; one to the same origin does.
    @Test(arguments: [307, 302])
    func redirects(status: Int) async throws {
        let other = try RawServer { _ in [.respond()] }
        let server = try RawServer { request in
            switch request.target {
            case "/out": [.respond(status, ["Location": other.baseURL + "/there"])]
            case "/in": [.respond(status, ["Location": "/here"])]
            default: [.respond()]
            }
        }
        let client = client(server.baseURL) { configuration, _ in
            configuration.options.headers = [
                "Authorization": "Bearer canary", "Cookie": "a=canary", "X-Key": "canary", "X-App": "1",
            ]
            configuration.secretFields = [.init("X-Key")!]
        }
        _ = try await client.get("/in").value()
        _ = try await client.get("/out").value()
        let (here, there) = (server.record.requests[1], other.record.requests[0])
        #expect(here.fields.count { $0.value.contains("canary") } == 3)
        #expect(there.fields.count { $0.value.contains("canary") } == 0)
        #expect(there.field("X-App") == "1")
    }

    /// A redirect from https to http is not followed.
    @Test func downgrade() async throws {
        let (nginx, plain) = (try NginxServer.shared(), try RawServer { _ in [.respond()] })
        let client = client(nginx.tlsBaseURL) { _, connections in
            connections.tls.caBundlePath = nginx.certificatePath
        }
        let error = await failure(client.get("/redirect/to?url=" + plain.baseURL + "/"))
        #expect(error?.code == .invalidRedirect)
        #expect(plain.record.connections.isEmpty)
        #expect(try await client.get("/redirect/302").value().status == .ok)
    }

    /// A certificate without a trusted authority is refused by default.
    @Test func verifies() async throws {
        let nginx = try NginxServer.shared()
        #expect(await failure(client(nginx.tlsBaseURL).get("/json"))?.code == .tls)
    }

    /// Ten redirects, and no more.
    @Test func redirectLimit() async throws {
        let server = try RawServer { request in
            let count = Int(request.target.dropFirst()) ?? 0
            return count == 0 ? [.respond(body: "there")] : [.respond(302, ["Location": "/\(count - 1)"])]
        }
        let client = client(server.baseURL)
        #expect(try await client.get("/10").value().text == "there")
        #expect(await failure(client.get("/11"))?.code == .tooManyRedirects)
    }

    /// A head over 256 KiB, and a body over its limit, end the request; files have no limit.
    @Test func sizes() async throws {
        let server = try RawServer { request in
            switch request.target {
            case "/head":
                [
                    .send("HTTP/1.1 200 OK\r\n"),
                    .sendRepeatedly(Array("A: b\r\n".utf8), times: .max),
                ]
            default: [.respond(body: String(repeating: "x", count: 70_000))]
            }
        }
        let client = client(server.baseURL) { configuration, _ in configuration.bodyLimit = 69_999 }
        #expect(ClientConfiguration().bodyLimit == 256 << 20)
        #expect(await failure(client.get("/head"))?.code == .tooLarge)
        #expect(await failure(client.get("/body"))?.code == .tooLarge)
        let folder = try TemporaryFolder()
        let events = try await client.download(.get("/body"), to: folder.file("f")).collect().value()
        guard case .finished(let file) = events.last else {
            Issue.record("no file")
            return
        }
        #expect(file.size == 70_000)
    }

    // MARK: - Addresses of a name

    /// Private addresses, when forbidden: by number and by name, and no request reaches them.
    @Test func privateAddresses() async throws {
        let server = try RawServer { _ in [.respond()] }
        let careful = client("") { _, connections in connections.forbidsPrivateAddresses = true }
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
            #expect(await failure(careful.get("http://\(host):\(server.port)/"))?.code == .forbiddenAddress)
        }
        #expect(server.record.requests.isEmpty)
    }
}
