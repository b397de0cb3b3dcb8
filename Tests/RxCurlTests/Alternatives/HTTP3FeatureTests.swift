import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Requests for HTTP/3 if libcurl does not support it. Runs with every libcurl.
@Suite(.timeLimit(.minutes(1))) struct HTTP3FeatureTests {
    /// A libcurl for which the transport requests HTTP/3.
    private static let able = LibcurlFeatures(
        version: .init(8, 14, 1), tlsBackend: "GnuTLS/3.7.9", hasHTTP3: true)

    /// The running libcurl, with other features.
    private static func with<Result>(
        _ features: LibcurlFeatures, _ version: CurlTransport.HTTPVersion,
        configured configure: (inout CurlTransport.Configuration) -> Void = { _ in },
        _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.httpVersion = version
        configuration.tls.caBundlePath = try NginxServer.shared().certificatePath
        configure(&configuration)
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        return try await body(CurlTransport(loops: [loop], configuration: configuration, features: features))
    }

    private func withoutHTTP3<Result>(
        _ version: CurlTransport.HTTPVersion, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        var features = LibcurlFeatures.running
        features.hasHTTP3 = false
        return try await Self.with(features, version, body)
    }

    @Test func httpVersion3FallsBack() async throws {
        let server = try NginxServer.shared()
        let automatic = try await withoutHTTP3(.automatic) {
            try await $0.get(server.tlsBaseURL + "/echo").text
        }
        let text = try await withoutHTTP3(.http3) { try await $0.get(server.tlsBaseURL + "/echo").text }
        #expect(text.contains("\"protocol\":\"HTTP/"))
        #expect(text.contains("HTTP/2.0") == automatic.contains("HTTP/2.0"))
    }

    @Test func onlyHTTP3IsAnError() async throws {
        let server = try NginxServer.shared()
        try await withoutHTTP3(.http3Only) { transport in
            let log = try await Recording(transport.send(try .to(server.tlsBaseURL + "/echo"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
            #expect(log.error?.isUnsent == true)
            #expect(log.error?.message.contains("HTTP/3") == true)
        }
    }

    /// Versions of libcurl that support HTTP/3, but for which it is not requested.
    @Test(arguments: [
        LibcurlFeatures(version: .init(8, 3), hasHTTP3: true),
        LibcurlFeatures(version: .init(8, 14, 1), hasHTTP2: false, hasHTTP3: true),
    ])
    func onlyHTTP3IsAnErrorWithAnUnsuitableLibcurl(features: LibcurlFeatures) async throws {
        try await Self.with(features, .http3Only) { transport in
            let log = try await Recording(transport.send(try .to("https://127.0.0.1:1/"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
            #expect(log.error?.isUnsent == true)
            #expect(log.error?.message.contains(features.description) == true)
        }
        for version in [CurlTransport.HTTPVersion.automatic, .http3] {
            var configuration = CurlTransport.Configuration()
            configuration.httpVersion = version
            #expect(HTTP3Use(configuration, features, isDirect: true) == .never)
        }
    }

    @Test func onlyHTTP3IsAnErrorThroughAProxy() async throws {
        try await Self.with(Self.able, .http3Only, configured: { $0.proxy = Proxy("http://127.0.0.1:1") }) {
            let log = try await Recording($0.send(try .to("https://127.0.0.1:1/"))).ended()
            #expect(log.error?.code == .invalidConfiguration)
        }
    }

    /// In a separate process, since the environment is shared.
    @Test func onlyHTTP3IsAnErrorThroughAProxyOfTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("https_proxy", "http://127.0.0.1:1", 1)
            let configure: (inout CurlTransport.Configuration) -> Void = { $0.proxy = .environment }
            try await Self.with(Self.able, .http3Only, configured: configure) { transport in
                let log = try await Recording(transport.send(try .to("https://127.0.0.1:1/"))).ended()
                #expect(log.error?.code == .invalidConfiguration)
                #expect(log.error?.message.contains("proxy") == true)
            }
        }
    }

    // MARK: - Alternatives in responses

    /// The next request would ask for HTTP/3, so there is none.
    @Test(arguments: [(200, true), (404, true), (421, false)])
    func namesInAResponse(status: Int, isLearnt: Bool) async throws {
        let nginx = try NginxServer.shared()
        let server = try RawServer { _ in [.respond(status, ["Alt-Svc": #"h3=":\#(nginx.tlsPort)""#])] }
        try await Self.with(Self.able, .automatic) { transport in
            let response = try await transport.get("\(nginx.tlsBaseURL)/relay?port=\(server.port)")
            #expect(response.status.code == status)
            #expect(response.head.httpVersion == .http2)
            let url = try #require(URL(string: nginx.tlsBaseURL))
            let origin = try #require(Origin(url).flatMap(AlternativeTable.HTTPSOrigin.init))
            let isOffered = transport.multi.alternatives?.offersHTTP3(origin, needsName: true)
            #expect(isOffered == isLearnt)
        }
    }

    /// Neither the handles nor the connection are released while requests that name HTTP/3 overlap.
    @Test func whereHTTP3IsNamedTheHandlesAreKept() async throws {
        let nginx = try NginxServer.shared()
        let gate = try Gate()
        let server = try RawServer { _ in
            [.wait(gate), .respond(200, ["Alt-Svc": #"h3=":\#(nginx.tlsPort)""#])]
        }
        try await Self.with(Self.able, .automatic) { transport in
            let url = "\(nginx.tlsBaseURL)/relay?port=\(server.port)"
            let recordings = try (0..<4).map { _ in Recording(transport.send(try .to(url))) }
            _ = try await server.until { $0.requests.count == 4 ? true : nil }
            gate.open()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
            let multi = transport.multi
            let count = await transport.loop.run {
                (0..<8).compactMap { _ in multi.pool.take() }.count
            }
            #expect(count == 4)
        }
    }

    /// Versions for which it is requested.
    @Test(
        arguments: [
            (.automatic, true, true, true, .whenNamed), (.automatic, true, true, false, .never),
            (.automatic, true, false, true, .never), (.automatic, false, true, true, .never),
            (.http3, true, true, true, .always), (.http3, true, true, false, .always),
            (.http3, true, false, true, .never), (.http3, false, true, true, .never),
            (.http3Only, true, true, true, .only), (.http3Only, false, true, true, .only),
            (.http2, true, true, true, .never), (.http1, true, true, true, .never),
            (.http2PriorKnowledge, true, true, true, .never),
        ] as [(CurlTransport.HTTPVersion, Bool, Bool, Bool, HTTP3Use)])
    func uses(
        version: CurlTransport.HTTPVersion, isSpoken: Bool, isDirect: Bool, isVerified: Bool,
        expected: HTTP3Use
    ) {
        var features = Self.able
        features.hasHTTP3 = isSpoken
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = version
        configuration.tls.verifiesServer = isVerified
        #expect(HTTP3Use(configuration, features, isDirect: isDirect) == expected)
    }
}
