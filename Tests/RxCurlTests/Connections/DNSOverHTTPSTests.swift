import RxClient
import RxCurl
import RxHTTP
import TestServers
import Testing

/// Names looked up over HTTPS (RFC 8484), at a server on loopback behind nginx's TLS.
@Suite(.timeLimit(.minutes(1))) struct DNSOverHTTPSTests {
    private let nginx: NginxServer

    init() throws { nginx = try .shared() }

    private func url(of names: DNSOverHTTPSServer, host: String = "127.0.0.1") -> String {
        "https://\(host):\(nginx.tlsPort)/relay?port=\(names.port)"
    }

    @Test func names() async throws {
        let server = try RawServer { request in [.respond(body: request.field("Host") ?? "")] }
        let names = try DNSOverHTTPSServer(hosts: [
            "a.shop.test": [127, 0, 0, 1], "b.shop.test": [127, 0, 0, 1],
        ])
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.dnsOverHTTPS = url(of: names)
                $0.addressFamily = .ipv4
            }
        ) { transport in
            for host in ["a.shop.test", "b.shop.test", "a.shop.test"] {
                let response = try await transport.get("http://\(host):\(server.port)/")
                #expect(response.text == "\(host):\(server.port)")
                #expect(response.metrics.remoteAddress == "127.0.0.1")
            }
            let log = try await Recording(transport.send(try .to("http://nothing.test/"))).ended()
            #expect(log.error?.code == .resolve)
            #expect(log.error?.isUnsent == true)
        }
        // The third time the name was cached.
        #expect(
            names.questions
                == ["a.shop.test", "b.shop.test", "nothing.test"].map { .init(name: $0, type: 1) })
    }

    @Test func bothFamilies() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let names = try DNSOverHTTPSServer(hosts: ["shop.test": [127, 0, 0, 1]])
        try await withTransport(
            caBundlePath: nginx.certificatePath, configured: { $0.dnsOverHTTPS = url(of: names) }
        ) { transport in
            let text = try await transport.get("http://shop.test:\(server.port)/").text
            #expect(text == "here")
        }
        #expect(names.questions.contains(.init(name: "shop.test", type: 1)))
    }

    /// The lookups of many names use connections to the DNS server beyond the transport's limit.
    @Test func manyNamesOverFewConnections() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let hosts = (0..<20).map { "n\($0).shop.test" }
        let names = try DNSOverHTTPSServer(
            hosts: Dictionary(uniqueKeysWithValues: hosts.map { ($0, [127, 0, 0, 1]) }))
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.dnsOverHTTPS = url(of: names)
                $0.maxConnections = 1
            }
        ) { transport in
            let logs = try hosts.map { Recording(transport.send(try .to("http://\($0):\(server.port)/"))) }
            for log in logs { #expect(try await log.ended().error == nil) }
        }
        #expect(Set(names.questions.map(\.name)) == Set(hosts))
    }

    // MARK: - Trust

    /// The DNS server is verified like every other server.
    @Test(arguments: [(true, false), (true, true), (false, false)])
    func trust(verifies: Bool, knowsAuthority: Bool) async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let names = try DNSOverHTTPSServer(hosts: ["shop.test": [127, 0, 0, 1]])
        try await withTransport(
            caBundlePath: knowsAuthority ? nginx.certificatePath : nil,
            configured: {
                $0.dnsOverHTTPS = url(of: names)
                $0.tls.verifiesServer = verifies
            }
        ) { transport in
            let log = try await Recording(transport.send(try .to("http://shop.test:\(server.port)/"))).ended()
            if verifies, !knowsAuthority {
                #expect(log.error?.code == .resolve)
                #expect(names.questions.isEmpty)
            } else {
                #expect(log.error == nil)
            }
        }
    }

    /// The name of the DNS server comes from an override, so that no other resolver is used.
    @Test func theNameOfTheServer() async throws {
        let server = try RawServer { _ in [.respond(body: "here")] }
        let names = try DNSOverHTTPSServer(hosts: ["shop.test": [127, 0, 0, 1]])
        try await withTransport(
            caBundlePath: nginx.authorityPath,
            configured: {
                $0.dnsOverHTTPS = url(of: names, host: "names.test")
                $0.tls.verifiesServer = false
                $0.hostOverrides = [
                    .init(host: "names.test", port: Int(nginx.tlsPort), addresses: ["127.0.0.1"]),
                    .init(host: "fixed.test", port: Int(server.port), addresses: ["127.0.0.1"]),
                ]
            }
        ) { transport in
            for host in ["shop.test", "fixed.test", "127.0.0.1"] {
                let text = try await transport.get("http://\(host):\(server.port)/").text
                #expect(text == "here")
            }
        }
        #expect(Set(names.questions.map(\.name)) == ["shop.test"])
    }

    @Test func addressesThatAreForbidden() async throws {
        let names = try DNSOverHTTPSServer(hosts: ["shop.test": [127, 0, 0, 1]])
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.dnsOverHTTPS = url(of: names)
                $0.forbidsPrivateAddresses = true
            }
        ) { transport in
            let log = try await Recording(transport.send(try .to("http://shop.test/"))).ended()
            #expect(log.error?.code == .forbiddenAddress)
        }
    }

    // MARK: - Ends

    /// The loop closes all connections, or the process ends.
    @Test(arguments: [false, true])
    func nothingIsLeftOfALookup(isCancelled: Bool) async throws {
        let gate = try Gate()
        let names = try DNSOverHTTPSServer(hosts: ["shop.test": [127, 0, 0, 1]], before: [.wait(gate)])
        let server = try RawServer { _ in [.respond(body: "here")] }
        try await withTransport(
            caBundlePath: nginx.certificatePath, configured: { $0.dnsOverHTTPS = url(of: names) }
        ) { transport in
            var request = try Request.to("http://shop.test:\(server.port)/")
            if !isCancelled { request.timeouts.connect = .milliseconds(300) }
            let recording = Recording(transport.send(request))
            if isCancelled {
                try await names.nextRequest()
                recording.cancel()
            } else {
                #expect(try await recording.ended().error?.code == .connectTimeout)
            }
            gate.open()
            request.timeouts.connect = .seconds(20)
            #expect(try await Recording(transport.send(request)).ended().error == nil)
            // Its lookup is under way when the loop ends.
            withExtendedLifetime(Recording(transport.send(try .to("http://late.test/")))) {}
        }
    }

    // MARK: - Flaws

    @Test(arguments: [
        "", "http://127.0.0.1/dns-query", "https://", "https:///dns-query", "names.test/dns-query",
        "https://names.test/a b", "https://names.test/\r\nX: y", "https://names.test:0/",
        "https://names.test/\u{0}",
    ])
    func flaws(url: String) async throws {
        try await withTransport(configured: { $0.dnsOverHTTPS = url }) { transport in
            let log = try await Recording(transport.send(try .to("http://127.0.0.1:9/"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
            #expect(log.error?.isUnsent == true)
        }
    }
}
