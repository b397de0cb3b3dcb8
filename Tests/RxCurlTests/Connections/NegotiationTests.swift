import HTTPTypes
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxCurl

/// Several requests at once to an unknown origin. None gets a response before all have arrived.
@Suite(.timeLimit(.minutes(1))) struct NegotiationTests {
    private let nginx: NginxServer

    init() throws { nginx = try .shared() }

    private func withHTTP2<Result>(_ body: (CurlTransport) async throws -> Result) async throws -> Result {
        try await withTransport(
            caBundlePath: nginx.certificatePath, configured: { $0.httpVersion = .http2 }, body)
    }

    /// - Returns: the metrics, and the number of connections to `server`.
    private func ask(
        _ server: RawServer, _ gate: Gate, at url: String, by transport: CurlTransport
    ) async throws -> [TransferMetrics] {
        let recordings = try (0..<4).map { _ in Recording(transport.send(try .to(url))) }
        _ = try await server.until { $0.requests.count == 4 ? true : nil }
        gate.open()
        var metrics: [TransferMetrics] = []
        for recording in recordings { metrics.append(try #require(try await recording.ended().metrics)) }
        return metrics
    }

    @Test func withoutTLSNobodyWaits() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond()] }
        try await withHTTP2 { transport in
            _ = try await ask(server, gate, at: server.baseURL, by: transport)
            #expect(server.record.connections.count == 4)
        }
    }

    @Test func overHTTP1NobodyWaitsForAResponse() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond()] }
        try await withHTTP2 { transport in
            let url = "\(nginx.http1TLSBaseURL)/relay?port=\(server.port)"
            let metrics = try await ask(server, gate, at: url, by: transport)
            #expect(metrics.allSatisfy { $0.httpVersion == .http11 && !$0.isConnectionReused })
            #expect(Set(server.record.requests.map { $0.field("X-Connection") }).count == 4)
        }
    }

    @Test func overHTTP2OneConnectionIsShared() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond()] }
        try await withHTTP2 { transport in
            let url = "\(nginx.tlsBaseURL)/relay?port=\(server.port)"
            let metrics = try await ask(server, gate, at: url, by: transport)
            #expect(metrics.allSatisfy { $0.httpVersion == .http2 })
            #expect(metrics.count { $0.isConnectionReused } == 3)
            #expect(Set(server.record.requests.map { $0.field("X-Connection") }).count == 1)
        }
    }

    /// The first connection is not made; the time of the others counts as connecting, not as queueing.
    @Test func whoWaitsForAConnectionIsToldThatThereIsNone() async throws {
        let silent = try RawServer([[.stall], [.stall], [.stall], [.stall]])
        try await withHTTP2 { transport in
            let recordings = try (0..<4).map { _ in
                var request = try Request.to("https://127.0.0.1:\(silent.port)")
                request.timeouts = Timeouts(queue: .milliseconds(1), connect: .milliseconds(100))
                return Recording(transport.send(request))
            }
            for recording in recordings {
                let error = try #require(try await recording.ended().error)
                #expect(error.code == .connectTimeout)
                #expect(error.isUnsent)
            }
        }
    }

    /// The connecting request has no limits; the other one has its own.
    @Test(
        arguments: [
            (Timeouts(queue: .milliseconds(1), connect: .milliseconds(50)), .connectTimeout),
            (Timeouts(connect: nil, attempt: .milliseconds(50)), .attemptTimeout),
            (Timeouts(connect: .milliseconds(50), attempt: .seconds(50)), .connectTimeout),
        ] as [(Timeouts, NetworkError.Code)])
    func theLimitsHoldWhileAnotherOneConnects(timeouts: Timeouts, code: NetworkError.Code) async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.respond(body: "ok")] }
        let middle = try RawServer([[.wait(gate), .relay(port: nginx.tlsPort, bytes: .max)]])
        try await withHTTP2 { transport in
            var request = try Request.to("https://127.0.0.1:\(middle.port)/relay?port=\(server.port)")
            request.timeouts = .unlimited
            let first = Recording(transport.send(request))
            _ = try await middle.until { $0.connections.isEmpty ? nil : true }
            request.timeouts = timeouts
            let error = try #require(try await Recording(transport.send(request)).ended().error)
            #expect(error.code == code)
            #expect(error.isUnsent)
            #expect(error.message.contains("0.05 seconds"))
            gate.open()
            #expect(try await first.ended().error == nil)
            #expect(server.record.requests.count == 1)
        }
    }

    @Test func afterARefusalNobodyWaits() async throws {
        let port = try DeadPort(.refusing)
        try await withHTTP2 { transport in
            let url = "https://127.0.0.1:\(port.port)"
            for recording in try (0..<4).map({ _ in Recording(transport.send(try .to(url))) }) {
                #expect(try await recording.ended().error?.code == .connect)
            }
        }
    }

    @Test func anotherOneConnectsForOneThatIsCancelled() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.respond(body: "ok")] }
        let middle = try RawServer([
            [.stall], [.wait(gate), .relay(port: nginx.tlsPort, bytes: .max)],
        ])
        try await withHTTP2 { transport in
            let url = "https://127.0.0.1:\(middle.port)/relay?port=\(server.port)"
            var request = try Request.to(url)
            request.timeouts = .unlimited
            let first = Recording(transport.send(request))
            let others = (0..<3).map { _ in Recording(transport.send(request)) }
            _ = try await middle.until { $0.connections.isEmpty ? nil : true }
            first.cancel()
            gate.open()
            for other in others {
                let log = try await other.ended()
                #expect(log.error == nil)
                #expect(log.body == Array("ok".utf8))
            }
            #expect(middle.record.connections.count == 2)
        }
    }

    /// The negotiated version is known afterwards: over HTTP/1.1 the server is asked before the content is
    /// sent, over HTTP/2 it is not.
    @Test(arguments: [false, true]) func theServerIsAskedOverHTTP1(isHTTP2: Bool) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withHTTP2 { transport in
            let base = isHTTP2 ? nginx.tlsBaseURL : nginx.http1TLSBaseURL
            let url = "\(base)/relay?port=\(server.port)"
            _ = try await transport.get(url)
            var request = try Request.to(url, method: .post, body: .text("content"))
            request.continuePolicy = ContinuePolicy(threshold: 1, wait: .seconds(3600))
            let answer = try await transport.answer(to: request)
            #expect(answer.metrics.httpVersion == (isHTTP2 ? .http2 : .http11))
            let isInterim = try await Recording(transport.send(request)).ended().kinds.contains("interim")
            #expect(isInterim == !isHTTP2)
        }
    }
}
