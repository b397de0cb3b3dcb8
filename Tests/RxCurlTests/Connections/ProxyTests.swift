import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Through a proxy on loopback that resolves every host to 127.0.0.1.
@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
    private let server: NginxServer

    init() throws { server = try .shared() }

    private func echo(
        _ url: String, through proxy: Proxy, configure: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) async throws -> (Echo, TransferMetrics) {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: {
                $0.proxy = proxy
                configure(&$0)
            }
        ) { transport in
            let response = try await transport.get(url)
            return (try response.echo(), response.metrics)
        }
    }

    private func failure(_ url: String, through proxy: Proxy) async throws -> NetworkError {
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.proxy = proxy }
        ) { transport in
            try #require(try await Recording(transport.send(try .to(url))).ended().error)
        }
    }

    @Test func plainRequestsAreSentWhole() async throws {
        let proxy = try ProxyServer(.http)
        let url = "http://far.test:\(server.port)/echo?q=1"
        let (echo, metrics) = try await echo(url, through: Proxy("http://127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests == [.init(method: "GET", target: url, credential: "")])
        #expect(echo.host == "far.test")
        #expect(metrics.remotePort == Int(proxy.port))
    }

    @Test func requestsOverTLSGoThroughATunnel() async throws {
        let proxy = try ProxyServer(.http)
        let (echo, metrics) = try await echo(
            server.tlsBaseURL + "/echo", through: Proxy("http://127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(proxy.requests.map(\.target) == ["127.0.0.1:\(server.tlsPort)"])
        #expect(echo.scheme == "https")
        #expect(metrics.secured > .zero)
    }

    @Test(arguments: [("socks5", false), ("socks5h", true)])
    func socks(scheme: String, leavesNames: Bool) async throws {
        let proxy = try ProxyServer(.socks5)
        let host = leavesNames ? "far.test" : "127.0.0.1"
        let (echo, _) = try await echo(
            "http://\(host):\(server.port)/echo", through: Proxy("\(scheme)://127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests == [.init(method: "SOCKS", target: "\(host):\(server.port)", credential: "")])
        #expect(echo.host == host)
    }

    @Test(arguments: [("socks4", false), ("socks4a", true)])
    func socks4(scheme: String, leavesNames: Bool) async throws {
        let proxy = try ProxyServer(.socks4, credential: "me")
        let host = leavesNames ? "far.test" : "127.0.0.1"
        let (echo, _) = try await echo(
            "http://\(host):\(server.port)/echo", through: Proxy("\(scheme)://me@127.0.0.1:\(proxy.port)"))
        #expect(
            proxy.requests == [.init(method: "SOCKS4", target: "\(host):\(server.port)", credential: "me")])
        #expect(echo.host == host)
        let error = try await failure(
            "http://\(host):\(server.port)/echo", through: Proxy("\(scheme)://127.0.0.1:\(proxy.port)"))
        #expect(error.code == .proxy)
        #expect(error.isUnsent)
    }

    @Test func plainRequestsThroughATunnel() async throws {
        let proxy = try ProxyServer(.http)
        var tunnel = Proxy("http://127.0.0.1:\(proxy.port)")
        tunnel.tunnelsHTTP = true
        let (echo, _) = try await echo("http://far.test:\(server.port)/echo?q=1", through: tunnel)
        #expect(
            proxy.requests == [
                .init(method: "CONNECT", target: "far.test:\(server.port)", credential: "")
            ])
        #expect(echo.target == "/echo?q=1")
        #expect(echo.host == "far.test")
    }

    /// nginx accepts requests in the absolute form, as any server must, so its TLS port is such a proxy.
    @Test func overTLSToTheProxyItself() async throws {
        let (echo, metrics) = try await echo(
            "http://far.test/echo", through: Proxy("https://127.0.0.1:\(server.tlsPort)"))
        #expect(echo.scheme == "https")
        #expect(echo.host == "far.test")
        #expect(metrics.remotePort == Int(server.tlsPort))
    }

    @Test func aTLSProxyThatIsNotTrusted() async throws {
        let log = try await withTransport(
            configured: { $0.proxy = Proxy("https://127.0.0.1:\(server.tlsPort)") }
        ) { transport in
            try await Recording(transport.send(try .to("http://far.test/echo"))).ended()
        }
        #expect(log.error?.code == .tls)
        #expect(log.error?.isUnsent == true)
    }

    // MARK: - Credentials

    // "me:s3cret" and "me:s3 cret" in base64.
    @Test(arguments: [
        ("me:s3cret", "Basic bWU6czNjcmV0"), ("me:s3%20cret", "Basic bWU6czMgY3JldA=="),
    ])
    func credentialsAreForTheProxyAlone(userInfo: String, sent: String) async throws {
        let proxy = try ProxyServer(.http, credential: sent)
        for url in [server.tlsBaseURL + "/echo", server.baseURL + "/echo"] {
            let (echo, _) = try await echo(url, through: Proxy("http://\(userInfo)@127.0.0.1:\(proxy.port)"))
            #expect(echo.authorization.isEmpty)
        }
        #expect(proxy.requests.map(\.credential) == [sent, sent])
    }

    @Test func credentialsForSOCKS() async throws {
        let proxy = try ProxyServer(.socks5, credential: "me:s3cret")
        _ = try await echo(
            server.baseURL + "/echo", through: Proxy("socks5://me:s3cret@127.0.0.1:\(proxy.port)"))
        #expect(proxy.requests.map(\.credential) == ["me:s3cret"])
    }

    @Test func wrongCredentialsAreNotShown() async throws {
        let http = try ProxyServer(.http, credential: "other")
        let socks = try ProxyServer(.socks5, credential: "other:other")
        for (scheme, port) in [("http", http.port), ("socks5", socks.port), ("gopher", 1), ("http", 0)] {
            let proxy = Proxy("\(scheme)://me:s3cret@127.0.0.1:\(port)")
            let error = try await failure(server.tlsBaseURL + "/echo", through: proxy)
            #expect([.proxy, .connect, .invalidConfiguration].contains(error.code))
            #expect(error.isUnsent)
            #expect(!error.message.isEmpty)
            for text in ["\(error)", String(reflecting: error), error.message, "\(proxy)"] {
                #expect(!text.contains("s3cret"))
            }
            var shown = ""
            var configuration = CurlTransport.Configuration()
            configuration.proxy = proxy
            dump(configuration, to: &shown)
            #expect(!shown.contains("s3cret"))
        }
    }

    // MARK: - Failures

    @Test func aTunnelThatIsRefused() async throws {
        let proxy = try ProxyServer(.http, refusesTunnels: true)
        let error = try await failure(
            server.tlsBaseURL + "/echo", through: Proxy("http://127.0.0.1:\(proxy.port)"))
        #expect(error.code == .proxy)
        #expect(error.message.contains("403"))
        #expect(error.isUnsent)
    }

    @Test(arguments: ["http", "https", "socks4", "socks5", "socks5h"], [[], ["other.test"]])
    func aProxyThatIsNotThere(scheme: String, exceptions: [String]) async throws {
        let port = try DeadPort(.refusing)
        let proxy = Proxy("\(scheme)://127.0.0.1:\(port.port)", exceptions: exceptions)
        for url in [server.baseURL, server.tlsBaseURL] {
            let error = try await failure(url + "/echo", through: proxy)
            #expect(error.code == .proxy)
            #expect(error.isUnsent)
        }
        let direct = try DeadPort(.refusing)
        let exceptional = Proxy(port.baseURL, exceptions: ["127.0.0.1"])
        #expect(try await failure(direct.baseURL, through: exceptional).code == .connect)
    }

    /// The proxy connects the request to its server, where the connection ends in the TLS handshake.
    @Test func aServerBehindTheProxyThatIsLost() async throws {
        let lost = try RawServer([[.closeWithoutReading]])
        let proxy = try ProxyServer(.http)
        let error = try await failure(
            "https://127.0.0.1:\(lost.port)/", through: Proxy("http://127.0.0.1:\(proxy.port)"))
        #expect([.connect, .tls].contains(error.code))
        #expect(error.isUnsent)
    }

    /// A client must take an informational response before the final one (RFC 9110 §15.2); libcurl takes it for a refusal.
    @Test func aTunnelWithAnInformationalResponse() async throws {
        let proxy = try RawServer([
            [.readHead, .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), .waitForClientClose]
        ])
        var tunnel = Proxy("http://127.0.0.1:\(proxy.port)")
        tunnel.tunnelsHTTP = true
        let error = try await failure("http://far.test/", through: tunnel)
        #expect(error.code == .proxy)
        #expect(error.isUnsent)
        #expect(error.message.contains("100"))
    }

    @Test func aProxyWithoutAnAddress() async throws {
        let unknown = try await failure(server.baseURL, through: Proxy("http://nothing.invalid:1"))
        #expect(unknown.code == .resolve)
        #expect(unknown.isUnsent)
    }

    // MARK: - Exceptions

    /// Exceptions from the proxy.
    @Test(arguments: [
        (["127.0.0.1"], false), (["127.0.0.0/8"], false), (["*"], false), (["other.test"], true),
        ([], true),
        (["other.test", "127.0.0.1"], false),
    ])
    func exceptions(hosts: [String], isUsed: Bool) async throws {
        let proxy = try ProxyServer(.http)
        _ = try await echo(
            server.baseURL + "/echo", through: Proxy("http://127.0.0.1:\(proxy.port)", exceptions: hosts))
        #expect(proxy.requests.count == (isUsed ? 1 : 0))
    }

    /// In a separate process, since the environment is shared.
    @Test func anExplicitProxyIgnoresTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            for name in ["no_proxy", "NO_PROXY"] { unsafe setenv(name, "127.0.0.1", 1) }
            let proxy = try ProxyServer(.http)
            let url = "http://127.0.0.1:\(proxy.port)"
            let tests = try ProxyTests()
            _ = try await tests.echo(tests.server.baseURL + "/echo", through: Proxy(url))
            #expect(proxy.requests.count == 1)
            let exceptional = Proxy(url, exceptions: ["other.test"])
            _ = try await tests.echo(tests.server.baseURL + "/echo", through: exceptional)
            #expect(proxy.requests.count == 2)
            let honoring = Proxy(url, exceptions: ["other.test"], honorsEnvironmentExceptions: true)
            _ = try await tests.echo(tests.server.baseURL + "/echo", through: honoring)
            _ = try await tests.echo("http://far.test:\(tests.server.port)/echo", through: honoring)
            #expect(proxy.requests.count == 3)
            tests.server.stop()
        }
    }

    /// libcurl reports that as a lack of memory.
    @Test func aSecretThatIsTooLarge() async throws {
        let proxy = try ProxyServer(.http)
        var configured = Proxy("http://me:\(String(repeating: "x", count: 1 << 20))@127.0.0.1:\(proxy.port)")
        configured.tunnelsHTTP = true
        let log = try await withTransport(configured: { $0.proxy = configured }) { transport in
            try await Recording(transport.send(try .to("http://far.test/"))).ended()
        }
        #expect(log.error?.code == .tooLarge)
        #expect(log.error?.isUnsent == true)
    }

    @Test func theAddressOfTheProxyIsTheOneThatCounts() async throws {
        let proxy = try ProxyServer(.http)
        let log = try await withTransport(configured: {
            $0.proxy = Proxy("http://127.0.0.1:\(proxy.port)")
            $0.forbidsPrivateAddresses = true
        }) { transport in
            try await Recording(transport.send(try .to("http://far.test/"))).ended()
        }
        #expect(log.error?.code == .forbiddenAddress)
        #expect(proxy.requests.isEmpty)
    }
}
