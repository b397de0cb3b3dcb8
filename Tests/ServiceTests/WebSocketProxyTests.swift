import RxNetworking
import Synchronization
import TestServers
import Testing

/// WebSockets through proxies on either side, with TLS and without.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct WebSocketProxyTests {
    private static let count = Atomic(0)
    private static let large = WebSocketMessage.binary(WebSocketTests.noise(2 << 20))

    /// Echoes, closes, and cancels.
    private func converse(
        _ baseURL: String, _ path: String, _ query: Parameters.Values, with server: Service,
        trusting certificate: String? = nil, through proxy: Proxy = .none
    ) async throws {
        let mark = "proxy-\(Self.count.add(1, ordering: .relaxed).newValue)"
        var connections = CurlTransport.Configuration()
        connections.tls.caBundlePath = certificate
        connections.proxy = proxy
        let client = Client(
            baseURL: baseURL, transport: CurlTransport(loop: .shared, configuration: connections))
        // As users write it.
        let url = baseURL.replacing("http", with: "ws", maxReplacements: 1) + path
        let query = query.merging(["test": mark]) { $1 }
        let conversation = Conversation(client, url, query)
        for message in WebSocketTests.messages + [Self.large] {
            #expect(try await conversation.echoes(message))
        }
        try await conversation.sink.ping([1, 2]).value()
        if case .pong(let payload) = try await conversation.next() {
            #expect(payload == [1, 2])
        } else {
            Issue.record("no pong")
        }
        try await conversation.close(WebSocketCloseCode(rawValue: 4001), "bye")
        _ = try await client.webSocket(url, query: query).value()
        let closed = try await server.entries(.closed, mark + "\"", atLeast: 2)
        #expect(closed.map(\.code) == [4001, 1000])
        #expect(closed.first?.reason == "bye")
    }

    /// Before the server: nginx.
    @Test(arguments: SocketPackage.allCases)
    func nginx(package: SocketPackage) async throws {
        let server = try await package.shared()
        let nginx = try NginxServer.shared()
        // With HTTP/2 and without.
        for url in [nginx.baseURL, nginx.tlsBaseURL, nginx.http1TLSBaseURL, nginx.tls13BaseURL] {
            try await converse(
                url, "/upgrade", ["port": Int(server.port)], with: server,
                trusting: nginx.certificatePath)
        }
    }

    /// A subscriber that pauses again and again gets everything, over TLS.
    @Test(arguments: SocketPackage.allCases)
    func pauses(package: SocketPackage) async throws {
        let server = try await package.shared()
        let nginx = try NginxServer.shared()
        var connections = CurlTransport.Configuration()
        connections.tls.caBundlePath = nginx.certificatePath
        let client = Client(
            baseURL: nginx.tlsBaseURL, transport: CurlTransport(loop: .shared, configuration: connections))
        let conversation = Conversation(
            client, "/upgrade",
            ["port": Int(server.port), "path": "/count", "count": 1000, "size": 20_000, "deflate": "off"])
        for number in 0..<1000 {
            guard case .text(let text) = try await conversation.message() else { break }
            #expect(text.hasPrefix("\(number) ") && text.utf8.count == 20_000)
        }
        try await conversation.close()
    }

    /// Before the server: caddy.
    @Test(arguments: SocketPackage.allCases)
    func caddy(package: SocketPackage) async throws {
        let server = try await package.shared()
        let folder = try TemporaryFolder()
        let plain = try await Service.caddy(before: server, filesOf: folder)
        try await converse(plain.baseURL, "/echo", [:], with: server)
        let caddy = try await CaddyServer.shared()
        try await converse(
            caddy.baseURL, "/relay", ["port": Int(server.port)], with: server,
            trusting: caddy.certificatePath)
    }

    /// Before the client: CONNECT and SOCKS.
    @Test(arguments: SocketPackage.allCases)
    func proxies(package: SocketPackage) async throws {
        let server = try await package.shared()
        let nginx = try NginxServer.shared()
        for (kind, scheme) in [(ProxyServer.Kind.http, "http"), (.socks5, "socks5h")] {
            let proxy = try ProxyServer(kind)
            let through = Proxy("\(scheme)://127.0.0.1:\(proxy.port)")
            try await converse(server.baseURL, "/echo", [:], with: server, through: through)
            for url in [nginx.tlsBaseURL, nginx.http1TLSBaseURL] {
                try await converse(
                    url, "/upgrade", ["port": Int(server.port)], with: server,
                    trusting: nginx.certificatePath, through: through)
            }
            #expect(proxy.requests.count == 6)
            #expect(proxy.requests.allSatisfy { ["CONNECT", "SOCKS"].contains($0.method) })
        }
    }
}
