import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// TLS that breaks when the response has begun. A relay between client and server passes a limited number of
/// bytes.
@Suite(.timeLimit(.minutes(1))) struct TLSFaultTests {
    struct Break: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [RawServer.Step]
        let code: NetworkError.Code

        var testDescription: String { name }
    }

    static let breaks = [
        Break(name: "reset", steps: [.reset], code: .connectionLost),
        // No close_notify: the connection was cut (RFC 8446 §6.1).
        Break(name: "FIN", steps: [.close], code: .partialBody),
        // More than the rest of the record that was cut, so that the received part is checked.
        Break(
            name: "bytes that are not TLS", steps: [.send(Array(repeating: 23, count: 64 << 10))],
            code: .connectionLost),
        Break(name: "silence", steps: [.stall], code: .idleTimeout),
    ]

    @Test(arguments: breaks, [100 << 10, 5 << 20])
    func isToldAsWhatItIs(_ fault: Break, after bytes: Int) async throws {
        let server = try NginxServer()
        let middle = try RawServer([
            [.relay(port: server.tlsPort, bytes: bytes)] + fault.steps,
            [.relay(port: server.tlsPort, bytes: .max)],
        ])
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let url = "https://127.0.0.1:\(middle.port)"
            var request = try Request.to(url + "/large")
            request.timeouts.idle = .milliseconds(500)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error?.code == fault.code, "\(log.error.map { "\($0)" } ?? "no error")")
            #expect(log.error?.status?.code == 200)
            #expect(log.error?.isUnsent == false)
            #expect(log.ends.count == 1)
            #expect(log.afterEnd == 0)
            #expect(log.body.count < bytes)
            #expect(log.body.elementsEqual(NginxServer.large.prefix(log.body.count)))
            #expect(try await transport.get(url + "/json").text == NginxServer.json)
        }
        server.stop()
    }

    /// A body that ends with the connection is complete if TLS has ended before, and only then (RFC 9112 §9.8).
    @Test(arguments: ["-tls1_3", "-tls1_2"])
    func aBodyThatEndsWithTheConnection(version: String) async throws {
        let content = Array(NginxServer.large.prefix(300_000))
        let server = try await OpenSSLServer("-WWW \(version)", files: ["file": content])
        let middle = try RawServer([
            [.relay(port: server.port, bytes: 100_000), .close],
            [.relay(port: server.port, bytes: 200_000), .close],
            [.relay(port: server.port)],
        ])
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let url = "https://127.0.0.1:\(middle.port)/file"
            for _ in 0..<2 {
                let log = try await Recording(transport.send(.to(url))).ended()
                #expect(log.error?.code == .partialBody)
                #expect(log.error?.status?.code == 200)
                #expect(log.metrics == nil)
                #expect(log.body.elementsEqual(content.prefix(log.body.count)))
            }
            let whole = try await Recording(transport.send(.to(url))).ended()
            #expect(whole.error == nil)
            #expect(Bytes(whole.body) == Bytes(content))
            #expect(whole.uploaded.isEmpty)
        }
    }

    /// With TLS 1.3 the client sends its request before the server has refused it, and the server closes at once, so that
    /// the request often meets a closed connection. The large content always does.
    @Test(
        .enabled(if: LibcurlFeatures.running.tlsBackend?.hasPrefix("OpenSSL") == true),
        arguments: [0, 5, 4 << 20])
    func aClientWithoutACertificate(count: Int) async throws {
        let server = try await OpenSSLServer("-tls1_3 -www -Verify 1 -verify_return_error")
        let middle = try RawServer([[.relay(port: server.port)]])
        let body = Body.bytes(Array(repeating: 7, count: count))
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let url = "https://127.0.0.1:\(middle.port)/"
            let rounds = 40
            for _ in 0..<rounds {
                let request = try Request.to(url, method: count == 0 ? .get : .put, body: body)
                let error = try await Recording(transport.send(request)).ended().error
                #expect(error?.code == .tls, "\(error.map { "\($0)" } ?? "no error")")
                #expect(error?.tlsFailure == .clientCertificate)
            }
            #expect(middle.record.connections.count == rounds)
        }
    }
}
