import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Paths and header fields; nothing invalid is sent.
@Suite struct RequestTests {
    private let clock = VirtualScheduler()

    private func url(
        _ path: String, base: String = "https://a.test/v1", allowsOtherOrigins: Bool = false
    ) throws(NetworkError) -> String {
        var configuration = ClientConfiguration(baseURL: base)
        configuration.allowsOtherOrigins = allowsOtherOrigins
        let servers = Client(configuration: configuration, transport: ScriptedTransport(on: clock, []))
            .servers
        return try servers.pair.url(for: path, allowingOtherOrigins: allowsOtherOrigins).absoluteString
    }

    /// Paths are below the base URL, in any spelling.
    @Test(arguments: [
        ("https://a.test/v1", "/x", "https://a.test/v1/x"),
        ("https://a.test/v1", "x", "https://a.test/v1/x"),
        ("https://a.test/v1/", "/x", "https://a.test/v1/x"),
        ("https://a.test/v1/", "x", "https://a.test/v1/x"),
        ("https://a.test", "", "https://a.test"), ("https://a.test", "?q=1", "https://a.test?q=1"),
        ("https://a.test/", "?q=1", "https://a.test/?q=1"),
        ("https://a.test", "/x#f", "https://a.test/x#f"),
        ("https://a.test", "//evil.test/x", "https://a.test//evil.test/x"),
        ("https://a.test/", "//evil.test/x", "https://a.test//evil.test/x"),
        ("https://a.test", "@evil.test", "https://a.test/@evil.test"),
        ("https://a.test", ":80@evil.test", "https://a.test/:80@evil.test"),
        ("https://a.test", ".evil.test", "https://a.test/.evil.test"),
        ("https://a.test", "ftp://evil.test", "https://a.test/ftp://evil.test"),
        ("https://a.test", "javascript:x", "https://a.test/javascript:x"),
        ("https://a.test", "/grün/🍵", "https://a.test/gr%C3%BCn/%F0%9F%8D%B5"),
        ("https://a.test", "/a%20b%2Fc", "https://a.test/a%20b%2Fc"),
        ("https://a.test", "/a?b=c d".replacing(" ", with: "%20"), "https://a.test/a?b=c%20d"),
        ("http://[::1]:8080", "/x", "http://[::1]:8080/x"), ("HTTPS://A.test", "/x", "HTTPS://A.test/x"),
    ])
    func joining(base: String, path: String, expected: String) throws {
        let url = try url(path, base: base)
        #expect(url == expected)
        #expect(URL(string: url).flatMap { Origin($0) } == URL(string: base).flatMap { Origin($0) })
    }

    /// An absolute URL of the same origin is used unchanged.
    @Test(arguments: ["https://a.test/other", "https://a.test:443/other", "HTTPS://A.TEST/other"])
    func sameOrigin(path: String) throws {
        #expect(try url(path) == path)
    }

    /// A URL of another origin is refused unless allowed, or unless there is no base URL.
    @Test(arguments: [
        "https://b.test/x", "http://a.test/x", "https://a.test:8443/x", "https://a.test@evil.test/x",
        "https://a.test.evil.test/", "HTTP://evil.test/",
    ])
    func otherOrigin(path: String) throws {
        let error = #expect(throws: NetworkError.self) { _ = try url(path) }
        #expect(error?.code == .invalidURL)
        let origin = try #require(URL(string: path).flatMap { Origin($0) })
        #expect(error?.message.contains("://\(origin.host):\(origin.port) ") == true)
        #expect(try url(path, allowsOtherOrigins: true) == path)
        #expect(try url(path, base: "") == path)
    }

    /// An invalid URL is refused.
    @Test(arguments: [
        ("https://a.test", "/a b"), ("https://a.test", "/a\r\nHost: evil"), ("https://a.test", "/\u{0}"),
        ("https://a.test", "/\u{7F}"), ("https://a.test", " /x"), ("", "/x"), ("", ""), ("", "x"),
        ("", "//evil.test"), ("ftp://a.test", "/x"), ("a.test", "/x"), ("https://", "/x"),
        ("https:///", "/x"), ("https://a.test:99999", "/x"), ("https://[::1", "/x"),
        ("https://a.test?key=1", "/x"), ("https://a.test#f", "/x"), ("https://a.test", "https://[evil"),
    ])
    func invalid(base: String, path: String) throws {
        let error = #expect(throws: NetworkError.self) { _ = try url(path, base: base) }
        #expect(error?.code == .invalidURL)
    }

    /// The error shows neither user info nor query.
    @Test func redacted() throws {
        for (base, path) in [
            ("https://u:secret@a.test", "/a b?token=secret"), ("https://u:secret@a.test", "https://b.test/"),
            ("", "/x?secret"), ("https://a.test?secret", "/x"),
            ("https://a.test", "https://u:secret@b.test/?secret"),
            ("https://a.test", "https://u:secret@[b/"), ("https://u:secret#x@a.test", "/x"),
            ("https://u:secret?x@a.test", "/x"), ("https://secret#x@a.test", "/x"),
            ("https://a.test", "https://u:secret/x#x@b.test"), ("u:secret#x@a.test", "/x"),
            ("https://a.test?e=a@b&secret", "/x"),
        ] {
            let error = #expect(throws: NetworkError.self) { _ = try url(path, base: base) }
            #expect(error.map { "\($0)".contains("secret") } == false, "\(base) \(path)")
        }
    }

    /// Invalid header fields of client and endpoint are an error, and nothing is sent.
    @Test(arguments: [
        ("X-A", "a\rb"), ("X-A", "a\nb"), ("X-A", "a\u{0}"), ("", "a"), ("X A", "a"), ("X-Ä", "a"),
        ("X-A", "ä"), ("X\r\nX", "a"),
    ])
    func headers(name: String, value: String) throws {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        let plain = Client(configuration: configuration, transport: transport)
        configuration.options.headers = [name: value]
        let flawed = Client(configuration: configuration, transport: transport)
        for stream in [plain.get("/x", headers: [name: value]), flawed.get("/x")] {
            let recorder = Recorder(stream, on: clock)
            try clock.run()
            #expect(recorder.failure?.code == .invalidHeader)
        }
        #expect(transport.requests.isEmpty)
    }

    /// Invalid paths and parameters, too: an error, nothing is sent, no login begins.
    @Test func nothingSent() throws {
        let fixture = LoginFixture()
        for stream in [
            fixture.client.get("https://evil.test/"), fixture.client.get("/a\r\nb"),
            fixture.client.post("/x", .json(["a": Double.nan])),
            fixture.client.get("/x", query: ["a": Double.nan]),
        ] {
            let recorder = Recorder(stream, on: fixture.clock)
            try fixture.clock.run()
            #expect([.invalidURL, .invalidParameters].contains(recorder.failure?.code))
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    /// An endpoint's header fields replace the client's, in any case.
    @Test func headerOrder() throws {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.userAgent = nil
        configuration.options.headers = ["X-A": "client", "X-B": "client"]
        let request = try PreparedRequest(
            InlineEndpoint(.get, "/x", headers: ["x-a": "endpoint"]), configuration: configuration
        )
        .serialized()
        #expect(
            Set(request.headerFields.map { "\($0.name.canonicalName): \($0.value)" }) == [
                "x-a: endpoint", "x-b: client",
            ])
    }

    /// Another origin gets no credential of client and session, but the endpoint's own fields.
    @Test func foreignOrigin() throws {
        let transport = ScriptedTransport(on: clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.allowsOtherOrigins = true
        configuration.userAgent = nil
        configuration.options.headers = ["Authorization": "Basic client", "X-Key": "client", "X-App": "1"]
        configuration.secretFields = [try #require(HTTPField.Name("X-Key"))]
        configuration.session = Session(
            credential: Credential(token: "t"), placement: .header("X-Token"), clock: clock
        ) {
            .never()
        }
        let client = Client(configuration: configuration, transport: transport)
        client.get("https://b.test/x", headers: ["X-Key": "for b"]).subscribe()
        client.get("https://a.test/x").subscribe()
        try clock.run()
        let names = transport.requests.map { Set($0.headerFields.map { "\($0.name): \($0.value)" }) }
        #expect(
            names == [
                ["X-Key: for b", "X-App: 1"],
                ["Authorization: Basic client", "X-Key: client", "X-App: 1", "X-Token: t"],
            ])
    }

    /// Endpoint over client: timeouts; from the client: body limit, secret names.
    @Test func settings() throws {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.timeouts = Timeouts(attempt: .seconds(1))
        configuration.bodyLimit = 7
        configuration.secretFields = [.userAgent]
        let request = try PreparedRequest(InlineEndpoint(.get, "/x"), configuration: configuration)
            .serialized()
        #expect(request.timeouts == Timeouts(attempt: .seconds(1)))
        #expect(request.bodyLimit == 7)
        #expect(request.secretFields == [.userAgent])
        #expect(!request.isDeclaredIdempotent)
    }
}
