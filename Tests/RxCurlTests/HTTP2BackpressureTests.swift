import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// A paused subscriber, over HTTP/2.
@Suite(.timeLimit(.minutes(1))) struct HTTP2BackpressureTests {
    private let server: NginxServer

    init() throws { server = try .shared() }

    private func base(_ version: String) -> String {
        version == "TLS 1.3" ? server.tls13BaseURL : server.tlsBaseURL
    }

    private func withHTTP2<Result>(
        backlogLimit: Int = 64 << 20, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: { configuration in
                configuration.httpVersion = .http2
                configuration.http2BacklogLimit = backlogLimit
                configuration.pausesHTTP2 = false
            }, body)
    }

    /// Earlier chunks stay delivered, and the connection remains usable.
    @Test func moreThanTheBacklogLimitIsRefused() async throws {
        try await withHTTP2(backlogLimit: 1 << 20) { transport in
            let recording = Recording(transport.send(try .to(server.tlsBaseURL + "/large"))) {
                event, subscription in
                if case .chunk = event { subscription.pause() }
            }
            let log = try await recording.ended()
            #expect(log.error?.code == .tooLarge)
            #expect(log.error?.status == .ok)
            #expect(log.chunks == 1)
            #expect(try await transport.get(server.tlsBaseURL + "/json").text == NginxServer.json)
        }
    }

    @Test func itIsHTTP2() async throws {
        let echo = try await withHTTP2 { try await $0.get(server.tlsBaseURL + "/echo").echo() }
        #expect(echo.protocol == "HTTP/2.0")
    }

    @Test(arguments: [0, 3], ["TLS 1.2", "TLS 1.3"])
    func stormsOfPausingLoseNothing(others count: Int, version: String) async throws {
        let base = base(version)
        try await withHTTP2 { transport in
            let others = try (0..<count).map { _ in
                Recording(transport.send(try .to(base + "/large")))
            }
            let recording = Recording(transport.send(try .to(base + "/large"))) {
                _, subscription in
                subscription.pause()
                subscription.resume()
            }
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Bytes(NginxServer.large))
            for other in others { #expect(try await Bytes(other.ended().body) == Bytes(NginxServer.large)) }
        }
    }

    @Test(arguments: ["TLS 1.2", "TLS 1.3"])
    func longPausesLoseNothing(version: String) async throws {
        let base = base(version)
        try await withHTTP2 { transport in
            let pauses = Board(0)
            let recording = Recording(transport.send(try .to(base + "/large"))) {
                event, subscription in
                guard case .chunk = event else { return }
                subscription.pause()
                pauses.update { $0 += 1 }
            }
            _ = try await pauses.until { $0 == 1 ? true : nil }
            for _ in 0..<20 {
                #expect(try await transport.get(base + "/json").text == NginxServer.json)
            }
            for count in 2...11 {
                recording.resume()
                _ = try await pauses.until { $0 == count ? true : nil }
            }
            recording.stopReacting()
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(Bytes(log.body) == Bytes(NginxServer.large))
        }
    }
}
