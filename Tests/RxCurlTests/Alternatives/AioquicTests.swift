import HTTPTypes
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxCurl

/// Connections and heads over HTTP/3 with aioquic, if libcurl supports it: `Tests/libcurl.sh 8.14.1-gnutls`.
@Suite(
    .enabled(if: LibcurlFeatures.running.hasHTTP3 && AioquicServer.isInstalled), .serialized,
    .timeLimit(.minutes(3)))
struct AioquicTests {
    /// A transport that trusts `server`.
    static func with<Result>(
        _ server: AioquicServer, _ version: CurlTransport.HTTPVersion = .http3Only,
        _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.httpVersion = version }, body)
    }

    @Test(arguments: [CurlTransport.HTTPVersion.http3, .http3Only], [[], [AioquicServer.Option.retry]])
    func aConnectionIsUsedAgain(
        version: CurlTransport.HTTPVersion, options: [AioquicServer.Option]
    ) async throws {
        let server = try await AioquicServer(options)
        try await Self.with(server, version) { transport in
            for count in 0..<3 {
                let response = try await transport.get(server.baseURL + "/echo")
                #expect(response.text == "HTTP/3")
                #expect(response.head.httpVersion == .http3)
                #expect(response.metrics.httpVersion == .http3)
                #expect(response.metrics.isConnectionReused == (count > 0))
                #expect(response.metrics.remotePort == Int(server.port))
            }
        }
        let connections = try await server.connections(afterRequests: 3)
        #expect(connections == 1)
    }

    @Test func manyAtOnceShareAConnection() async throws {
        let server = try await AioquicServer()
        try await Self.with(server) { transport in
            let recordings = try (0..<32).map { _ in
                Recording(transport.send(try .to(server.baseURL + "/stall")))
            }
            try await server.events("request", atLeast: 32)
            try server.give(.finish)
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.error == nil)
                #expect(log.body == Array("some more".utf8))
            }
        }
        let connections = try await server.connections(afterRequests: 32)
        #expect(connections == 1)
    }

    @Test func everyTransportHasItsOwnConnection() async throws {
        let server = try await AioquicServer()
        try await Self.with(server) { first in
            try await Self.with(server) { second in
                for transport in [first, second, first, second] {
                    let response = try await transport.get(server.baseURL + "/echo")
                    #expect(response.text == "HTTP/3")
                }
            }
        }
        let connections = try await server.connections(afterRequests: 4)
        #expect(connections == 2)
    }

    /// The server responds with a Version Negotiation packet.
    @Test func noCommonVersionOfQUICIsAnError() async throws {
        let server = try await AioquicServer([.version2])
        try await Self.with(server) { transport in
            var request = try Request.to(server.baseURL + "/echo")
            request.timeouts.connect = .seconds(2)
            let error = try #require(try await Recording(transport.send(request)).ended().error)
            #expect([.connect, .connectTimeout].contains(error.code))
            #expect(error.isUnsent)
        }
        #expect(server.count(of: "connected") == 0)
    }

    // MARK: - Heads

    @Test func interimHeadsAndTrailersCome() async throws {
        let server = try await AioquicServer.shared()
        try await Self.with(server) { transport in
            let log = try await Recording(transport.send(.to(server.baseURL + "/hints"))).ended()
            #expect(log.kinds == ["interim", "head", "chunk", "trailers", "finished"])
            let response = try await transport.get(server.baseURL + "/hints")
            #expect(response.interim.map(\.status.code) == [103])
            #expect(response.interim.first?[HTTPField.Name("Link")!] == "</a.css>; rel=preload")
            #expect(response.text == "ok")
            #expect(response.trailers[HTTPField.Name("X-Sum")!] == "42")
        }
    }

    /// The second response refers to entries that the first one has put into the dynamic table of QPACK.
    @Test func manyFieldsCome() async throws {
        let server = try await AioquicServer.shared()
        try await Self.with(server) { transport in
            for _ in 0..<3 {
                let response = try await transport.get(server.baseURL + "/fields?count=200")
                #expect(response.text == "ok")
                for number in 0..<200 {
                    #expect(response.head[HTTPField.Name("X-\(number)")!] == "value \(number)")
                }
            }
        }
    }
}
