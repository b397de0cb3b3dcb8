import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Each workaround is on before the first version without the fault, and off from there on.
@Suite(.timeLimit(.minutes(1))) struct LibcurlFaultTests {
    @Test(
        arguments: [
            (.readsFreedHeaders, (8, 1)), (.reusesUncleanConnections, (8, 0)),
            (.endsHTTP2BodiesEarly, (8, 4)),
            (.stallsPausedHTTP2, (8, 4)),
            (.spinsOnHTTP2Uploads, (8, 4)), (.breaksReusedPlainHTTP2, (8, 4)),
            (.keepsTLSSessionsPerHandle, (8, 12)),
            (.waitsAfterRefusals, (8, 14)), (.freesLookupsUnderWay, (8, 14)),
            (.losesResponsesToResets, (8, 14)), (.stallsLongHTTP2Heads, (8, 1)),
            (.overflowsSOCKSNames, (8, 4)), (.freesHTTP3Streams, (8, 5)), (.leavesWakeupsToChildren, (8, 8)),
            (.detachesLookupsUnlocked, (8, 14)), (.trustsCutTLSBodies, (8, 14)),
        ] as [(LibcurlFault, (UInt8, UInt8))])
    func endsWithAVersion(fault: LibcurlFault, end: (UInt8, UInt8)) {
        #expect(LibcurlFeatures(version: .init(7, 88, 1)).has(fault))
        #expect(LibcurlFeatures(version: .init(end.0, end.1 &- 1, 255)).has(fault) == (end.1 > 0))
        #expect(!LibcurlFeatures(version: .init(end.0, end.1)).has(fault))
        #expect(!LibcurlFeatures(version: .init(9, 0)).has(fault))
    }

    @Test func thoseWithoutAnEnd() {
        #expect(
            LibcurlFault.allCases.filter { $0.end == nil } == [
                .trustsIdleConnections, .refusesInterimTunnels, .trustsResetHTTP2Bodies, .hidesRefusals,
                .givesUpRefusedStreams,
                .delaysHTTP2Resets,
            ])
        #expect(LibcurlFeatures(version: .init(8, 14, 1)).has(.delaysHTTP2Resets))
    }

    @Test func thoseWithABeginning() {
        #expect(LibcurlFault.allCases.filter { $0.beginning != nil } == [.trustsIdleConnections])
        #expect(!LibcurlFeatures(version: .init(8, 21, 255)).has(.trustsIdleConnections))
        #expect(LibcurlFeatures(version: .init(8, 22)).has(.trustsIdleConnections))
    }

    /// The decisions that a transport bases on the version, which need not be the running one.
    @Test(
        arguments: [
            (.init(7, 88, 1), .http1, false, true), (.init(8, 3, 255), .http1, false, true),
            (.init(8, 4), .http2, true, true),
            (.init(8, 11, 255), .http2, true, true), (.init(8, 12), .http2, true, false),
            (.init(8, 14, 1), .http2, true, false),
        ] as [(LibcurlFeatures.Version, CurlTransport.HTTPVersion, Bool, Bool)])
    func decides(
        version: LibcurlFeatures.Version, http: CurlTransport.HTTPVersion, pauses: Bool, sharesSessions: Bool
    ) async throws {
        let server = try RawServer { _ in [.respond()] }
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let features = LibcurlFeatures(version: version)
        let transport = CurlTransport(loops: [loop], configuration: configuration, features: features)
        #expect(transport.features == features)
        #expect(transport.multi.settings.httpVersion == http)
        #expect(transport.multi.settings.pausesHTTP2 == pauses)
        _ = try await transport.get(server.baseURL)
        #expect(await loop.run { unsafe transport.multi.share != nil } == sharesSessions)
    }

    /// A handle whose request ends during its lookup over HTTPS stays in libcurl until the lookup has ended.
    @Test func lookups() async throws {
        let gate = try Gate()
        let silent = try RawServer([[.wait(gate), .close]])
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.addressFamily = .ipv4
        configuration.dnsOverHTTPS = "https://127.0.0.1:\(silent.port)/dns-query"
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let recording = Recording(transport.send(try .to("http://shop.test/")))
        _ = try await silent.until { $0.connections.isEmpty ? nil : true }
        let multi = transport.multi
        let waiting = Recording(transport.send(try .to("http://shop.test/")))
        await loop.run {
            weak var handle: EasyHandle?
            handle = multi.running.first
            recording.cancel()
            #expect(handle != nil)
            #expect(multi.lookups.detachedCount == 1)
        }
        gate.open()
        #expect(try await waiting.ended().error?.code == .resolve)
        #expect(await loop.run { multi.lookups.detachedCount } == 0)
    }

    @Test func finishedLookupsAreNotKept() async throws {
        let nginx = try NginxServer.shared()
        let names = try DNSOverHTTPSServer(hosts: [:])
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.dnsOverHTTPS = "https://127.0.0.1:\(nginx.tlsPort)/relay?port=\(names.port)"
            }
        ) { transport in
            let log = try await Recording(transport.send(try .to("http://nothing.test/"))).ended()
            #expect(log.error?.code == .resolve)
            let multi = transport.multi
            #expect(await transport.loop.run { multi.lookups.count } == 0)
        }
    }

    @Test func withoutHTTP2TheDefaultIsHTTP1() {
        let features = LibcurlFeatures(version: .init(8, 14, 1), hasHTTP2: false)
        #expect(ConnectionSettings.version(.automatic, with: features) == .http1)
        #expect(ConnectionSettings.version(.http2, with: features) == .http2)
    }

    /// A connection of HTTP/2 without TLS is used once before 8.4, and from then on as often as this libcurl
    /// can.
    @Test(arguments: [.init(8, 3, 255), .init(8, 4)] as [LibcurlFeatures.Version])
    func plainHTTP2(version: LibcurlFeatures.Version) async throws {
        let nginx = try NginxServer.shared()
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.httpVersion = .http2PriorKnowledge
        let features = LibcurlFeatures(version: version)
        let transport = CurlTransport(loops: [loop], configuration: configuration, features: features)
        let url = "http://127.0.0.1:\(nginx.http2Port)/json"
        _ = try await transport.get(url)
        let second = try await Recording(transport.send(.to(url))).ended()
        if features.has(.breaksReusedPlainHTTP2) {
            #expect(second.metrics?.isConnectionReused == false)
        } else if LibcurlFeatures.running.has(.breaksReusedPlainHTTP2) {
            #expect(second.error?.code == .connectionLost)
        } else {
            #expect(second.metrics?.isConnectionReused == true)
        }
    }

    /// A late 408 on an idle connection is not the response to the next request, whatever this libcurl does by itself.
    @Test func uncleanConnections() async throws {
        let late = try Gate()
        let server = try RawServer([
            [
                .readRequest, .respond(body: "first"), .wait(late), .respond(408, body: "late"),
                .waitForClientClose,
            ],
            [.readRequest, .respond(body: "again")],
        ])
        try await withTransport { transport in
            #expect(try await transport.get(server.baseURL).text == "first")
            let before = server.record.connections[0].bytesSent
            late.open()
            _ = try await server.until { $0.connections[0].bytesSent > before ? true : nil }
            await transport.loop.poll()
            #expect(try await transport.get(server.baseURL).text == "again")
        }
    }
}
