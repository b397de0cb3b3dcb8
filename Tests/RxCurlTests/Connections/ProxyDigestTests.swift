import HTTPTypes
import RxHTTP
import TestServers
import Testing

@testable import RxCurl

/// User and password proven to an HTTP proxy by a digest (RFC 7616).
@Suite(.timeLimit(.minutes(1))) struct ProxyDigestTests {
    private func digestProxy(at server: RawServer, password: String = "s3cret", tunnels: Bool = false)
        -> Proxy
    {
        var proxy = Proxy("http://anna:\(password)@127.0.0.1:\(server.port)")
        proxy.usesDigest = true
        proxy.tunnelsHTTP = tunnels
        return proxy
    }

    /// A challenge is met, and not delivered.
    @Test(arguments: DigestServer.Algorithm.allCases, AuthenticationTests.bodies.map(\.0))
    func challenge(algorithm: DigestServer.Algorithm, name: String) async throws {
        let server = try DigestServer(algorithm: algorithm, password: "s3cret", isProxy: true).serve()
        let body = try #require(AuthenticationTests.bodies.first { $0.0 == name }).1
        try await withTransport(configured: { $0.proxy = digestProxy(at: server) }) { transport in
            for _ in 0..<2 {
                let request = try Request.to(
                    "http://far.test/a?b=c", method: name == "none" ? .get : .post, body: body)
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
                #expect(log.head?.status == .ok)
                #expect(log.body == Array("well".utf8))
            }
        }
        let requests = server.record.requests
        // The second request on a handle has the proof from the start.
        let isChallengedAgain = LibcurlFeatures.running.has(.readsFreedHeaders)
        let proofs = requests.map { $0.field("Proxy-Authorization")?.contains("response=") ?? false }
        #expect(proofs == (isChallengedAgain ? [false, true, false, true] : [false, true, true]))
        #expect(requests.allSatisfy { $0.target == "http://far.test/a?b=c" })
        let content: [UInt8] =
            switch name {
            case "none": []
            case "few bytes": [1, 2, 3]
            default: BodyTests.content
            }
        for (request, isProven) in zip(requests, proofs) {
            #expect(Bytes(request.body) == Bytes(isProven ? content : []))
        }
    }

    @Test func inATunnel() async throws {
        let server = try DigestServer(password: "s3cret", isProxy: true).serve()
        try await withTransport(configured: { $0.proxy = digestProxy(at: server, tunnels: true) }) {
            transport in
            let request = try Request.to("http://far.test/a", method: .post, body: .bytes([1, 2, 3]))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
        }
        let requests = server.record.requests
        #expect(requests.map(\.method) == ["CONNECT", "CONNECT", "POST"])
        #expect(requests.last?.field("Proxy-Authorization") == nil)
    }

    /// A refused proof is delivered as the proxy's response.
    @Test(arguments: [false, true])
    func refused(tunnels: Bool) async throws {
        let server = try DigestServer(password: "other", isProxy: true).serve()
        let proxy = digestProxy(at: server, tunnels: tunnels)
        try await withTransport(configured: { $0.proxy = proxy }) { transport in
            for method in [HTTPRequest.Method.get, .post] {
                let request = try Request.to("http://far.test/", method: method)
                let log = try await Recording(transport.send(request)).ended()
                if tunnels {
                    #expect(log.error?.code == .proxy)
                    #expect(log.error?.isUnsent == true)
                } else {
                    #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
                    #expect(log.head?.status == .proxyAuthenticationRequired)
                    #expect(log.body == Array("no".utf8))
                }
            }
        }
    }

    /// For example by a proxy without support for digests.
    @Test func anotherChallenge() async throws {
        let server = try RawServer { _ in
            [.respond(407, ["Proxy-Authenticate": "Basic realm=\"tea\""], body: "basic")]
        }
        try await withTransport(configured: { $0.proxy = digestProxy(at: server) }) { transport in
            let log = try await Recording(transport.send(try .to("http://far.test/"))).ended()
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(log.head?.status == .proxyAuthenticationRequired)
        }
        #expect(server.record.requests.allSatisfy { $0.field("Proxy-Authorization") == nil })
    }

    // MARK: - Flaws

    static let unusable: [Proxy] =
        [
            "odd://127.0.0.1:9", "http://127.0.0.1:9\r\nX: y", "http://127.0.0.1:9\u{0}", "http://a b:9",
            "http://bücher.test:9", "SOCKS6://127.0.0.1:9",
        ].map { Proxy($0) }
        + ["", "a,b", "a b", "a\r\nb", "a\u{0}"].map { Proxy("http://127.0.0.1:9", exceptions: [$0]) }

    /// Values that curl would parse in another way are refused.
    @Test(arguments: unusable.indices)
    func flaws(index: Int) async throws {
        try await withTransport(configured: { $0.proxy = Self.unusable[index] }) { transport in
            let log = try await Recording(transport.send(try .to("http://127.0.0.1:9/"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
            #expect(log.error?.isUnsent == true)
        }
    }
}
