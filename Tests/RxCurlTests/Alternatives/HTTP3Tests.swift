import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxCurl

/// HTTP/3 with caddy, if libcurl supports it: `Tests/libcurl.sh 8.14.1-gnutls`.
@Suite(
    .enabled(if: LibcurlFeatures.running.hasHTTP3 && CaddyServer.isInstalled), .serialized,
    .timeLimit(.minutes(3)))
struct HTTP3Tests {
    private func withHTTP3<Result>(
        _ server: CaddyServer, _ version: CurlTransport.HTTPVersion = .http3,
        configured configure: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: {
                $0.httpVersion = version
                configure(&$0)
            }, body)
    }

    // MARK: - Use

    @Test(arguments: [CurlTransport.HTTPVersion.http3, .http3Only])
    func atOnce(version: CurlTransport.HTTPVersion) async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server, version) { transport in
            for count in 0..<3 {
                let response = try await transport.get(server.baseURL + "/echo")
                #expect(response.text == "HTTP/3.0")
                #expect(response.head.httpVersion == .http3)
                #expect(response.metrics.httpVersion == .http3)
                #expect(response.metrics.isConnectionReused == (count > 0))
                #expect(response.metrics.remotePort == Int(server.port))
                if count == 0 { #expect(response.metrics.secured > .zero) }
            }
        }
    }

    @Test func onceTheOriginHasNamedIt() async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server, .automatic) { transport in
            var versions: [HTTPVersion?] = []
            for _ in 0..<3 {
                versions.append(try await transport.get(server.baseURL + "/echo").metrics.httpVersion)
            }
            #expect(versions == [.http2, .http3, .http3])
            // A withdrawal applies to the next connection.
            _ = try await transport.get(server.baseURL + "/clear")
            #expect(try await transport.get(server.baseURL + "/echo").metrics.httpVersion == .http2)
        }
    }

    /// The connection on which HTTP/3 was announced is in use without a break.
    @Test func onceItIsNamedAlsoWhileOthersUseHTTP2() async throws {
        let server = try await CaddyServer.shared()
        let gate = try Gate()
        let behind = try RawServer { _ in [.wait(gate), .respond(body: "ok")] }
        try await withHTTP3(server, .automatic) { transport in
            let slow = Recording(transport.send(try .to("\(server.baseURL)/relay?port=\(behind.port)")))
            _ = try await behind.until { $0.requests.count == 1 ? true : nil }
            #expect(try await transport.get(server.baseURL + "/echo").metrics.httpVersion == .http2)
            let next = try (0..<8).map { _ in Recording(transport.send(try .to(server.baseURL + "/echo"))) }
            var ports: Set<Int> = []
            for recording in next {
                let metrics = try #require(try await recording.ended().metrics)
                #expect(metrics.httpVersion == .http3)
                ports.insert(metrics.localPort)
            }
            #expect(ports.count == 1)
            gate.open()
            #expect(try await slow.ended().metrics?.httpVersion == .http2)
        }
    }

    @Test func manyAtOnceShareAConnection() async throws {
        let server = try await CaddyServer.shared()
        let gate = try Gate()
        let behind = try RawServer { _ in [.wait(gate), .respond(body: "ok")] }
        try await withHTTP3(server) { transport in
            let url = "\(server.baseURL)/relay?port=\(behind.port)"
            let recordings = try (0..<32).map { _ in Recording(transport.send(try .to(url))) }
            _ = try await behind.until { $0.requests.count == 32 ? true : nil }
            gate.open()
            var ports: Set<Int> = []
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.body == Array("ok".utf8))
                #expect(log.metrics?.httpVersion == .http3)
                ports.insert(log.metrics?.localPort ?? 0)
            }
            #expect(ports.count == 1)
        }
    }

    @Test(arguments: [CurlTransport.HTTPVersion.http3, .automatic])
    func withoutTLSItIsNotAskedFor(version: CurlTransport.HTTPVersion) async throws {
        let server = try RawServer { _ in [.respond(200, ["Alt-Svc": #"h3=":443""#])] }
        try await withTransport(configured: { $0.httpVersion = version }) { transport in
            for _ in 0..<2 {
                let metrics = try await transport.get(server.baseURL).metrics
                #expect(metrics.httpVersion == .http11)
            }
        }
    }

    @Test func aServerThatCannotBeVerifiedIsNotAskedForIt() async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server, .automatic, configured: { $0.tls.verifiesServer = false }) { transport in
            for _ in 0..<3 {
                let metrics = try await transport.get(server.baseURL + "/echo").metrics
                #expect(metrics.httpVersion == .http2)
            }
        }
    }

    @Test func aCertificateThatIsNotTrustedIsAnError() async throws {
        let server = try await CaddyServer.shared()
        let other = try NginxServer.shared()
        for version in [CurlTransport.HTTPVersion.http3, .http3Only] {
            try await withTransport(
                caBundlePath: other.certificatePath, configured: { $0.httpVersion = version }
            ) { transport in
                let log = try await Recording(transport.send(try .to(server.baseURL + "/echo"))).ended()
                #expect(log.error?.code == .tls)
                #expect(log.error?.isUnsent == true)
            }
        }
    }

    // MARK: - Unreachable servers

    /// The sink receives UDP packets and does not respond.
    @Test(arguments: [CurlTransport.HTTPVersion.http3, .automatic])
    func silenceLeadsToHTTP2AndIsRemembered(version: CurlTransport.HTTPVersion) async throws {
        let server = try await CaddyServer(speaksHTTP3: false)
        let sink = try DatagramSink(port: server.port)
        try await withHTTP3(server, version, configured: { _ in }) { transport in
            var asked: [Bool] = []
            for _ in 0..<4 {
                let response = try await transport.get(server.baseURL + "/last")
                #expect(response.text == "HTTP/2.0")
                asked.append(sink.take() > 0)
            }
            // The first response over HTTP/2 announces HTTP/3.
            #expect(
                asked == (version == .http3 ? [true, false, false, false] : [false, true, false, false]))
        }
    }

    @Test func silenceIsAnErrorWhereNothingElseIsAllowed() async throws {
        let server = try await CaddyServer(speaksHTTP3: false)
        let sink = try DatagramSink(port: server.port)
        try await withHTTP3(server, .http3Only) { transport in
            var request = try Request.to(server.baseURL + "/echo")
            request.timeouts.connect = .milliseconds(300)
            let log = try await Recording(transport.send(request)).ended()
            #expect([.connectTimeout, .connect].contains(log.error?.code))
            #expect(log.error?.isUnsent == true)
            #expect(sink.take() > 0)
        }
    }

    @Test(arguments: [CurlTransport.HTTPVersion.http3, .http3Only])
    func aClosedPort(version: CurlTransport.HTTPVersion) async throws {
        let server = try await CaddyServer(speaksHTTP3: false)
        try await withHTTP3(server, version) { transport in
            let log = try await Recording(transport.send(try .to(server.baseURL + "/echo"))).ended()
            if version == .http3 { #expect(log.body == Array("HTTP/2.0".utf8)) }
            if version == .http3Only { #expect(log.error?.code == .connect) }
        }
    }

    /// caddy has no certificate for a handshake without a host name.
    @Test(arguments: [CurlTransport.HTTPVersion.http3, .http3Only])
    func aServerThatRefusesEachHandshake(version: CurlTransport.HTTPVersion) async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server, version) { transport in
            let log = try await Recording(transport.send(try .to("https://127.0.0.1:\(server.port)/echo")))
                .ended()
            if version == .http3 { #expect(log.body == Array("HTTP/2.0".utf8)) }
            if version == .http3Only {
                #expect(log.error?.code == .connect)
                #expect(log.error?.isUnsent == true)
            }
        }
    }

    @Test func aMisdirectedRequestLeadsToHTTP2() async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server) { transport in
            let refused = try await transport.get(server.baseURL + "/misdirected")
            #expect(refused.status.code == 421)
            #expect(refused.metrics.httpVersion == .http3)
            let next = try await transport.get(server.baseURL + "/echo")
            #expect(next.text == "HTTP/2.0")
        }
    }

    // MARK: - HTTP/3 only

    @Test func onlyMeansHTTPS() async throws {
        try await withTransport(configured: { $0.httpVersion = .http3Only }) { transport in
            let log = try await Recording(transport.send(try .to("http://127.0.0.1:1/"))).ended()
            #expect(log.error?.code == .invalidURL)
            #expect(log.error?.isUnsent == true)
        }
    }

    @Test func onlyMeansNoProxy() async throws {
        try await withTransport(configured: {
            $0.httpVersion = .http3Only
            $0.proxy = Proxy("http://127.0.0.1:1")
        }) { transport in
            let log = try await Recording(transport.send(try .to("https://127.0.0.1:1/"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
        }
    }
}
