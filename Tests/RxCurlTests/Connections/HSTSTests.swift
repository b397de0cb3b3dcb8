import FoundationEssentials
import HTTPTypes
import RxClient
import RxCookies
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Hosts that require TLS (RFC 6797), at nginx with the ports of http and https in front.
@Suite(.timeLimit(.minutes(1))) struct HSTSTests {
    private let nginx: NginxServer
    /// Sends back the requested field.
    private let server: RawServer

    init() throws {
        nginx = try .shared()
        server = try RawServer { request in
            [.respond(200, ["Strict-Transport-Security": request.field("X-Test") ?? ""])]
        }
    }

    private func with<Result>(
        _ store: HSTSStore, _ configure: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.hsts = store
                $0.connectTo = [
                    .init(port: 80, toHost: "127.0.0.1", toPort: Int(nginx.port)),
                    .init(port: 443, toHost: "127.0.0.1", toPort: Int(nginx.tlsPort)),
                ]
                configure(&$0)
            }, body)
    }

    /// Makes the server send `value`, at `origin`.
    private func hear(
        _ value: String, at origin: String = "https://localhost", over transport: CurlTransport
    ) async throws {
        var request = try Request.to("\(origin)/relay?port=\(server.port)")
        request.headerFields[HTTPField.Name("X-Test")!] = value
        #expect(try await transport.answer(to: request).status == .ok)
    }

    private func follow(_ url: String, over transport: CurlTransport) async throws -> Response {
        let request = try Request.to(url)
        let responses = transport.send(request, following: RedirectPolicy()).response(to: request)
        return try await responses.value()
    }

    @Test func upgrade() async throws {
        try await with(HSTSStore()) { transport in
            #expect(try await follow("http://localhost/echo", over: transport).echo().scheme == "http")
            try await hear("max-age=600", over: transport)
            let response = try await follow("http://localhost/echo?a=b", over: transport)
            let echo = try response.echo()
            #expect(echo.scheme == "https")
            #expect(echo.target == "/echo?a=b")
            #expect(response.request.url.absoluteString == "https://localhost/echo?a=b")
            #expect(response.metrics.secured > .zero || response.metrics.isConnectionReused)
            #expect(response.metrics.remotePort == Int(nginx.tlsPort))
            // Without following redirects.
            #expect(try await transport.get("http://localhost:80/echo").echo().scheme == "https")
        }
    }

    @Test func forgotten() async throws {
        let store = HSTSStore()
        try await with(store) { transport in
            try await hear("max-age=600", over: transport)
            #expect(store.hosts == ["localhost"])
            try await hear("max-age=0", over: transport)
            #expect(store.hosts.isEmpty)
            #expect(try await follow("http://localhost/echo", over: transport).echo().scheme == "http")
        }
    }

    /// Nothing is learned without TLS, from a server that is not verified, or from an address.
    @Test(arguments: [("http://localhost", true), ("https://localhost", false), ("https://127.0.0.1", true)])
    func notLearnt(origin: String, verifies: Bool) async throws {
        let store = HSTSStore()
        try await with(store, { $0.tls.verifiesServer = verifies }) { transport in
            try await hear("max-age=600; includeSubDomains", at: origin, over: transport)
        }
        #expect(store.hosts.isEmpty)
    }

    @Test func redirects() async throws {
        try await with(HSTSStore()) { transport in
            let url = "https://localhost/redirect/to?url=http://localhost/echo"
            let error = await #expect(throws: NetworkError.self) { try await follow(url, over: transport) }
            #expect(error?.code == .invalidRedirect)
            try await hear("max-age=600", over: transport)
            let response = try await follow(url, over: transport)
            #expect(try response.echo().scheme == "https")
            #expect(response.request.url.absoluteString == "https://localhost/echo")
        }
    }

    /// nginx's certificate on that port is not for this name.
    @Test func nothingIsSentWhereTLSFails() async throws {
        let store = HSTSStore()
        let url = try #require(URL(string: "https://shop.test/"))
        let fields: HTTPFields = [.strictTransportSecurity: "max-age=600; includeSubDomains"]
        store.learn(from: ResponseHead(status: .ok, headerFields: fields), of: url, at: Date())
        try await with(store) { transport in
            let log = try await Recording(transport.send(try .to("http://a.shop.test/echo"))).ended()
            #expect(log.error?.code == .tls)
            #expect(log.error?.isUnsent == true)
            #expect(log.error?.url?.scheme == "https")
        }
    }

    @Test func outlives() async throws {
        try await withFiles { files, folder in
            let path = folder.path + "/hsts.txt"
            let first = HSTSStore(file: path, on: files)
            try await with(first) { try await hear("max-age=600; includeSubDomains", over: $0) }
            try await first.flush().value()
            let second = HSTSStore(file: path, on: files)
            for isFollowed in [true, false] {
                try await with(isFollowed ? second : HSTSStore(file: path, on: files)) { transport in
                    let url = "http://localhost/echo"
                    let response =
                        isFollowed ? try await follow(url, over: transport) : try await transport.get(url)
                    #expect(try response.echo().scheme == "https")
                }
            }
            #expect(second.hosts == ["localhost"])
        }
    }

    @Test func cookies() async throws {
        try await with(HSTSStore()) { transport in
            var configuration = ClientConfiguration(baseURL: "http://localhost")
            let jar = CookieJar(publicSuffixes: .unknown)
            try jar.set("a=1; Secure", from: try #require(URL(string: "https://localhost/")))
            configuration.cookies = jar
            let client = Client(configuration: configuration, transport: transport)
            #expect(try await client.get("/echo").value().echo().cookie.isEmpty)
            try await hear("max-age=600", over: transport)
            let response = try await client.get("/echo").value()
            #expect(try response.echo().cookie == "a=1")
            #expect(response.request.url.scheme == "https")
        }
    }
}
