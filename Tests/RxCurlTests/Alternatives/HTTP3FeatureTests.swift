import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Requests for HTTP/3 if libcurl does not support it. Runs with every libcurl.
@Suite(.timeLimit(.minutes(1))) struct HTTP3FeatureTests {
    /// The libcurl that runs, taken for one without HTTP/3.
    private func withoutHTTP3<Result>(
        _ version: CurlTransport.HTTPVersion, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        var features = LibcurlFeatures.running
        features.hasHTTP3 = false
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.httpVersion = version
        configuration.tls.caBundlePath = try NginxServer.shared().certificatePath
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        return try await body(CurlTransport(loops: [loop], configuration: configuration, features: features))
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

    @Test(
        "When it is asked for",
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
        var features = LibcurlFeatures.running
        features.hasHTTP3 = isSpoken
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = version
        configuration.tls.verifiesServer = isVerified
        #expect(HTTP3Use(configuration, features, isDirect: isDirect) == expected)
    }
}
