import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// The choice of a connection for a request.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    typealias Configure = @Sendable (inout CurlTransport.Configuration) -> Void

    private let server: NginxServer

    init() throws { server = try .shared() }

    // MARK: - Idle connections

    @Test(arguments: [nil, Duration.seconds(600)]) func aConnectionIsUsedAgain(lifetime: Duration?)
        async throws
    {
        try await withTransport(configured: { $0.connectionLifetime = lifetime }) { transport in
            let first = try await transport.get(server.baseURL + "/echo").echo()
            let second = try await transport.get(server.baseURL + "/echo")
            #expect(try second.echo().connection == first.connection)
            #expect(second.metrics.isConnectionReused)
        }
    }

    // MARK: - Versions

    /// The negotiated version, over TLS and without.
    @Test(
        arguments: [
            (.http1, true, .http11), (.http1, false, .http11), (.http2, true, .http2),
            (.http2, false, .http11),
            (.http2PriorKnowledge, true, .http2),
        ] as [(CurlTransport.HTTPVersion, Bool, HTTPVersion)])
    func versions(version: CurlTransport.HTTPVersion, isTLS: Bool, expected: HTTPVersion) async throws {
        let url = (isTLS ? server.tlsBaseURL : server.baseURL) + "/echo"
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.httpVersion = version }
        ) { transport in
            for _ in 0..<3 {
                let response = try await transport.get(url)
                #expect(response.metrics.httpVersion == expected)
                #expect(response.head.httpVersion == expected)
                #expect(try response.echo().protocol == "HTTP/\(expected.major).\(expected.minor)")
            }
        }
    }

    /// Before the body: each head has the version of its own status line.
    @Test func theHeadKnowsItsVersion() async throws {
        let server = try RawServer { _ in
            [
                .send("HTTP/1.1 103 Early\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n"),
                .waitForClientClose,
            ]
        }
        try await withTransport { transport in
            let versions = Board<[HTTPVersion?]>([])
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                switch event {
                case .interim(let head): versions.update { $0.append(head.httpVersion) }
                case .head(let head):
                    versions.update { $0.append(head.httpVersion) }
                    subscription.cancel()
                default: break
                }
            }
            #expect(try await versions.until { $0.count == 2 ? $0 : nil } == [.http11, .http10])
            recording.cancel()
        }
    }

    @Test(arguments: [true, false]) func bothDirectionsOverHTTP2(isTLS: Bool) async throws {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: { $0.httpVersion = isTLS ? .http2 : .http2PriorKnowledge }
        ) { transport in
            let url = isTLS ? server.tlsBaseURL : "http://127.0.0.1:\(server.http2Port)"
            for _ in 0..<3 {
                let large = try await transport.get(url + "/large")
                #expect(large.metrics.httpVersion == .http2)
                #expect(Bytes(large.body) == Bytes(NginxServer.large))
                let body = Body.bytes(Array(NginxServer.large.prefix(1 << 20)))
                let upload = try Request.to(url + "/upload", method: .put, body: body)
                #expect(try await transport.answer(to: upload).text == "\(1 << 20)")
            }
        }
    }

    /// Prior knowledge says nothing about connections with TLS: the end of a body without a length, which is sent
    /// compressed, does not close one.
    @Test func aTLSConnectionWithPriorKnowledgeIsUsedAgain() async throws {
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.httpVersion = .http2PriorKnowledge }
        ) { transport in
            for isReused in [false, true] {
                let metrics = try await transport.get(server.tlsBaseURL + "/text").metrics
                #expect(metrics.httpVersion == .http2)
                #expect(metrics.isConnectionReused == isReused)
            }
        }
    }

    /// Connections that are not kept: the end of a body without a length is no broken connection.
    @Test(arguments: [CurlTransport.HTTPVersion.http2PriorKnowledge, .http2])
    func aTLSConnectionThatIsNotKept(version: CurlTransport.HTTPVersion) async throws {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: {
                $0.httpVersion = version
                $0.idleConnectionLifetime = .zero
            }
        ) { transport in
            for _ in 0..<2 {
                let metrics = try await transport.get(server.tlsBaseURL + "/text").metrics
                #expect(metrics.httpVersion == .http2)
                #expect(!metrics.isConnectionReused)
            }
        }
    }

    @Test func theDefaultIsHTTP1WhereLibcurlIsNotUpToMore() async throws {
        let isGood = LibcurlFeatures.running.version >= .init(8, 4)
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let metrics = try await transport.get(server.tlsBaseURL + "/json").metrics
            #expect(metrics.httpVersion == (isGood ? .http2 : .http11))
        }
    }

    // MARK: - Names and addresses

    @Test func aNameThatNobodyIsAskedFor() async throws {
        let server = try RawServer { request in [.respond(body: request.field("Host") ?? "")] }
        let host = CurlTransport.HostOverride(
            host: "shop.test", port: Int(server.port), addresses: ["127.0.0.1"])
        try await withTransport(configured: { $0.hostOverrides = [host] }) { transport in
            let response = try await transport.get("http://shop.test:\(server.port)/")
            #expect(response.text == "shop.test:\(server.port)")
            #expect(response.metrics.remoteAddress == "127.0.0.1")
        }
    }

    /// No server listens at ::1 on that port.
    /// Of several addresses one that responds is found, unless it is of the wrong family.
    @Test(
        arguments: [(.any, true), (.ipv4, true), (.ipv6, false)]
            as [(CurlTransport.AddressFamily, Bool)])
    func families(family: CurlTransport.AddressFamily, connects: Bool) async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let host = CurlTransport.HostOverride(
            host: "both.test", port: Int(server.port), addresses: ["::1", "127.0.0.1"])
        let configure: Configure = {
            $0.hostOverrides = [host]
            $0.addressFamily = family
            $0.happyEyeballsDelay = .milliseconds(20)
        }
        try await withTransport(configured: configure) { transport in
            let log = try await Recording(
                transport.send(try .to("http://both.test:\(server.port)/"))
            ).ended()
            #expect((log.error == nil) == connects)
            if !connects { #expect(log.error?.code == .connect) }
        }
    }

    @Test func aUnixSocket() async throws {
        try await withTransport(configured: { $0.unixSocketPath = server.unixSocketPath }) { transport in
            let response = try await transport.get("http://anything.test/echo?a=b")
            let echo = try response.echo()
            #expect(echo.remote == "unix:")
            #expect(echo.host == "anything.test")
            #expect(echo.target == "/echo?a=b")
            #expect(response.metrics.remoteAddress == server.unixSocketPath)
            let again = try await transport.get("http://anything.test/json")
            #expect(again.metrics.isConnectionReused)
        }
    }

    @Test func aUnixSocketThatIsNotThere() async throws {
        try await withTransport(configured: { $0.unixSocketPath = "/nowhere/socket" }) { transport in
            let log = try await Recording(transport.send(try .to("http://a.test/"))).ended()
            #expect(log.error?.code == .connect)
            #expect(log.error?.isUnsent == true)
        }
    }

    @Test func whatConnectionsStartFrom() async throws {
        try await withTransport(configured: { $0.networkInterface = "127.0.0.9" }) { transport in
            let response = try await transport.get(server.baseURL + "/echo")
            #expect(try response.echo().remote == "127.0.0.9")
        }
        try await withTransport(configured: { $0.networkInterface = "if!nothing0" }) { transport in
            let log = try await Recording(transport.send(try .to(server.baseURL))).ended()
            #expect(log.error?.code == .connect)
            #expect(log.error?.isUnsent == true)
        }
    }

    // MARK: - Private addresses

    /// Loopback is refused under any name before a connection is made.
    @Test(arguments: [
        "127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "evil.test",
    ])
    func forbidden(host: String) async throws {
        let server = try RawServer { _ in [.respond()] }
        let override = CurlTransport.HostOverride(
            host: "evil.test", port: Int(server.port), addresses: ["127.0.0.1", "10.0.0.1"])
        let configure: Configure = {
            $0.forbidsPrivateAddresses = true
            $0.hostOverrides = [override]
        }
        try await withTransport(configured: configure) { transport in
            let url = "http://\(host):\(server.port)/"
            for _ in 0..<2 {
                let log = try await Recording(transport.send(try .to(url))).ended()
                let error = try #require(log.error)
                #expect(error.code == .forbiddenAddress)
                #expect(error.isUnsent)
                #expect(!error.isTransient)
            }
        }
        #expect(server.record.connections.isEmpty)
    }

    @Test func aUnixSocketThatWasAskedForIsAllowed() async throws {
        let configure: Configure = { [path = server.unixSocketPath] in
            $0.forbidsPrivateAddresses = true
            $0.unixSocketPath = path
        }
        try await withTransport(configured: configure) { transport in
            let response = try await transport.get("http://a.test/json")
            #expect(response.text == NginxServer.json)
        }
    }
}
