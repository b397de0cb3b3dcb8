import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import TestServers
import Testing

/// Hosts, ports and addresses other than those of the URL and DNS.
@Suite(.timeLimit(.minutes(1))) struct OverrideTests {
    typealias ConnectTo = CurlTransport.ConnectTo
    typealias HostOverride = CurlTransport.HostOverride

    /// A route to the server's port from `http://shop.test:81/`.
    static let ways: [@Sendable (Int) -> ConnectTo] = [
        { ConnectTo(host: "shop.test", port: 81, toHost: "127.0.0.1", toPort: $0) },
        { ConnectTo(host: "SHOP.test", toHost: "127.0.0.1", toPort: $0) },
        { ConnectTo(port: 81, toHost: "127.0.0.1", toPort: $0) },
        { ConnectTo(toHost: "here.test", toPort: $0) },
    ]

    /// The connection goes elsewhere, and the request is unchanged.
    @Test(arguments: ways.indices)
    func connectTo(way: Int) async throws {
        let server = try RawServer { request in [.respond(body: request.field("Host") ?? "")] }
        let elsewhere = ConnectTo(host: "other.test", toHost: "127.0.0.1", toPort: 1)
        try await withTransport(configured: {
            $0.connectTo = [elsewhere, Self.ways[way](Int(server.port))]
            $0.hostOverrides = [.init(host: "here.test", port: Int(server.port), addresses: ["127.0.0.1"])]
        }) { transport in
            for isReused in [false, true] {
                let response = try await transport.get("http://shop.test:81/")
                #expect(response.text == "shop.test:81")
                #expect(response.metrics.remotePort == Int(server.port))
                #expect(response.metrics.isConnectionReused == isReused)
            }
        }
    }

    @Test func onlyThePort() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        try await withTransport(configured: {
            $0.connectTo = [.init(port: 81, toPort: Int(server.port))]
        }) { transport in
            for port in [81, server.port] {
                let text = try await transport.get("http://127.0.0.1:\(port)/").text
                #expect(text == "here")
            }
        }
    }

    @Test func anAddressOfIPv6() async throws {
        let server = try RawServer { request in [.respond(body: request.field("Host") ?? "")] }
        try await withTransport(configured: {
            $0.connectTo = [
                .init(host: "2001:db8::7", port: 81, toHost: "127.0.0.1", toPort: Int(server.port))
            ]
        }) { transport in
            let text = try await transport.get("http://[2001:db8::7]:81/").text
            #expect(text == "[2001:db8::7]:81")
        }
    }

    /// TLS asks for the URL's host, and verifies it.
    @Test func certificate() async throws {
        let server = try NginxServer.shared()
        let override = ConnectTo(port: 443, toHost: "127.0.0.1", toPort: Int(server.certificatePort))
        try await withTransport(caBundlePath: server.authorityPath, configured: { $0.connectTo = [override] })
        {
            transport in
            #expect(try await transport.get("https://good.test/").text.hasPrefix("good.test"))
            let log = try await Recording(transport.send(try .to("https://wrong.test/"))).ended()
            #expect(log.error?.tlsFailure == .hostMismatch)
        }
    }

    @Test func anHTTPProxyMakesATunnel() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let proxy = try ProxyServer(.http)
        try await withTransport(configured: {
            $0.proxy = Proxy("http://127.0.0.1:\(proxy.port)")
            $0.connectTo = [.init(host: "shop.test", toHost: "far.test", toPort: Int(server.port))]
        }) { transport in
            let text = try await transport.get("http://shop.test/").text
            #expect(text == "here")
        }
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
        #expect(proxy.requests.map(\.target) == ["far.test:\(server.port)"])
    }

    /// The override applies to the name of the proxy, and no name is looked up.
    @Test func addressesOfTheProxy() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let proxy = try ProxyServer(.http)
        try await withTransport(configured: {
            $0.proxy = Proxy("http://proxy.test:\(proxy.port)")
            $0.hostOverrides = [.init(host: "proxy.test", port: Int(proxy.port), addresses: ["127.0.0.1"])]
        }) { transport in
            let text = try await transport.get("http://far.test:\(server.port)/").text
            #expect(text == "here")
        }
    }

    @Test func everyHost() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        try await withTransport(configured: {
            $0.hostOverrides = [
                .init(host: "*", port: Int(server.port), addresses: ["127.0.0.1"]),
                .init(host: "dead.test", port: Int(server.port), addresses: ["127.0.0.2"]),
            ]
        }) { transport in
            for host in ["a.test", "b.test"] {
                let text = try await transport.get("http://\(host):\(server.port)/").text
                #expect(text == "here")
            }
            let log = try await Recording(transport.send(try .to("http://dead.test:\(server.port)/"))).ended()
            #expect(log.error?.code == .connect)
        }
    }

    /// Names that are looked up expire at once with a lifetime of zero; overrides do not.
    @Test func permanent() async throws {
        let server = try RawServer { _ in [.respond(200, ["Connection": "close"]), .close] }
        try await withTransport(configured: {
            $0.nameLifetime = .zero
            $0.hostOverrides = [.init(host: "shop.test", port: Int(server.port), addresses: ["127.0.0.1"])]
        }) { transport in
            for _ in 0..<3 {
                let status = try await transport.get("http://shop.test:\(server.port)/").status
                #expect(status == .ok)
            }
        }
        #expect(server.record.connections.count == 3)
    }

    // MARK: - Flaws

    static let hosts = [
        "", "a,b", "a:80", "a b", "a\r\nb", "a\u{0}b", "-a.test", "bücher.test", "[::1]", "a/b", "u@a",
        String(repeating: "a", count: 254),
    ]

    static let configurations: [CurlTransport.Configuration] = {
        let overrides =
            hosts.map { HostOverride(host: $0, port: 80, addresses: ["127.0.0.1"]) }
            + [0, 65536, -1].map { HostOverride(host: "a.test", port: $0, addresses: ["127.0.0.1"]) }
            + ["a.test", "", "127.0.0.1,127.0.0.2", "127.0.0.1\u{0}x", "[::1]", "127.0.0.1\n"].map {
                HostOverride(host: "a.test", port: 80, addresses: ["127.0.0.1", $0])
            } + [HostOverride(host: "a.test", port: 80, addresses: [])]
        let connectTo =
            hosts.flatMap { [ConnectTo(host: $0), ConnectTo(toHost: $0)] } + [ConnectTo(host: "*")]
            + [0, 65536].flatMap { [ConnectTo(port: $0), ConnectTo(toPort: $0)] }
        return overrides.map { override in
            var configuration = CurlTransport.Configuration()
            configuration.hostOverrides = [override]
            return configuration
        }
            + connectTo.map { override in
                var configuration = CurlTransport.Configuration()
                configuration.connectTo = [override]
                return configuration
            }
    }()

    /// Values that curl would parse in another way are refused.
    @Test(arguments: configurations.indices)
    func flaws(index: Int) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport(configured: {
            $0 = Self.configurations[index]
            $0.proxy = .none
        }) { transport in
            let log = try await Recording(transport.send(try .to(server.baseURL))).ended()
            let error = try #require(log.error)
            #expect(error.code == .invalidConfiguration)
            #expect(error.isUnsent)
            #expect(!error.isTransient)
        }
        #expect(server.record.connections.isEmpty)
    }
}
