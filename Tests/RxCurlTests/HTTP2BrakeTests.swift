import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// A subscriber that is full, over HTTP/2.
@Suite(.timeLimit(.minutes(1))) struct HTTP2BrakeTests {
    private let server: NginxServer

    init() throws { server = try .shared() }

    private func withHTTP2<Result>(
        spoolLimit: Int = 64 << 20, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath,
            configured: { configuration in
                configuration.httpVersion = .http2
                configuration.http2SpoolLimit = spoolLimit
                configuration.pausesHTTP2 = false
            }, body)
    }

    /// What came before stays, and the connection serves on.
    @Test func moreThanTheSpoolHoldsIsRefused() async throws {
        try await withHTTP2(spoolLimit: 1 << 20) { transport in
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

    @Test(arguments: [0, 3])
    func stormsOfPausingLoseNothing(run: Int) async throws {
        try await withHTTP2 { transport in
            let others = try (0..<run).map { _ in
                Recording(transport.send(try .to(server.tlsBaseURL + "/large")))
            }
            let recording = Recording(transport.send(try .to(server.tlsBaseURL + "/large"))) {
                _, subscription in
                subscription.pause()
                subscription.resume()
            }
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.body.isSame(as: NginxServer.large))
            for other in others { #expect(try await other.ended().body.isSame(as: NginxServer.large)) }
        }
    }

    @Test func longPausesLoseNothing() async throws {
        try await withHTTP2 { transport in
            let recording = Recording(transport.send(try .to(server.tlsBaseURL + "/large"))) {
                event, subscription in
                if case .chunk(let bytes) = event, bytes.count > 0 { subscription.pause() }
            }
            _ = try await recording.until { $0.chunks > 0 ? true : nil }
            for _ in 0..<20 {
                #expect(try await transport.get(server.tlsBaseURL + "/json").text == NginxServer.json)
            }
            // Not `log`, which is a copy of the whole body.
            for _ in 0..<10 {
                let seen = try await recording.until { $0.events }
                recording.resume()
                _ = try await recording.until { $0.events > seen || !$0.ends.isEmpty ? true : nil }
            }
            #expect(try await recording.until { $0.chunks } == 11)
            recording.stopReacting()
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.kinds == ["head", "chunk", "finished"])
            #expect(log.body.isSame(as: NginxServer.large))
        }
    }
}
