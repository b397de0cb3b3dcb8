import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// The server's limits for a connection of HTTP/2: four streams at a time and fifty in all, then it sends
/// GOAWAY.
@Suite(.timeLimit(.minutes(1))) struct HTTP2ConnectionTests {
    private let nginx: NginxServer
    private var base: String { "https://limited.test:\(nginx.tls13Port)" }

    init() throws { nginx = try .shared() }

    private func withHTTP2<Result>(
        port: UInt16? = nil, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            configured: { [port = port ?? nginx.tls13Port] in
                $0.httpVersion = .http2
                // Its certificate is for another name.
                $0.tls.verifiesServer = false
                $0.hostOverrides = [.init(host: "limited.test", port: Int(port), addresses: ["127.0.0.1"])]
            }, body)
    }

    @Test func noMoreStreamsThanTheServerAllows() async throws {
        let gate = try Gate()
        let behind = try RawServer { _ in [.wait(gate), .respond(body: "ok")] }
        try await withHTTP2 { transport in
            // The settings have arrived by then.
            _ = try await transport.get(base + "/json")
            let url = "\(base)/relay?port=\(behind.port)"
            let recordings = try (0..<32).map { _ in Recording(transport.send(try .to(url))) }
            _ = try await behind.until { $0.requests.count >= 4 ? true : nil }
            for _ in 0..<200 { await transport.loop.poll() }
            let connections = Dictionary(grouping: behind.record.requests) { $0.field("X-Connection") }
            #expect(connections.values.allSatisfy { $0.count <= 4 })
            gate.open()
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.error.map { "\($0)" } == nil)
                #expect(log.body == Array("ok".utf8))
                #expect(log.metrics?.httpVersion == .http2)
            }
        }
    }

    @Test func aServerThatGoesAwayAfterFiftyLosesNothing() async throws {
        try await withHTTP2 { transport in
            for _ in 0..<4 {
                let recordings = try (0..<100).map { _ in Recording(transport.send(try .to(base + "/echo"))) }
                for recording in recordings {
                    let log = try await recording.ended()
                    #expect(log.error == nil)
                    #expect(log.head?.status == .ok)
                    #expect(log.metrics?.httpVersion == .http2)
                }
            }
        }
    }

    /// Its settings arrive when requests have been sent already, and so does its GOAWAY.
    @Test func aServerFarAwayThatAllowsFewStreams() async throws {
        let far = try RawServer([[.relay(port: nginx.tls13Port, delay: 30)]])
        try await withHTTP2(port: far.port) { transport in
            let url = "https://limited.test:\(far.port)/echo"
            let recordings = try (0..<100).map { _ in Recording(transport.send(try .to(url))) }
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.error == nil)
                #expect(log.head?.status == .ok)
            }
        }
    }

    /// Each connection has more requests than the server allows by the time its settings arrive.
    @Test func manyLongRequestsToAServerFarAwayThatAllowsFewStreams() async throws {
        let far = try RawServer([[.relay(port: nginx.tls13Port, delay: 30)]])
        let gate = try Gate()
        let behind = try RawServer { _ in [.wait(gate), .respond(body: "ok")] }
        try await withHTTP2(port: far.port) { transport in
            let url = "https://limited.test:\(far.port)/relay?port=\(behind.port)"
            let recordings = try (0..<60).map { _ in Recording(transport.send(try .to(url))) }
            _ = try await behind.until { $0.requests.count == 60 ? true : nil }
            gate.open()
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.error.map { "\($0)" } == nil)
                #expect(log.body == Array("ok".utf8))
            }
        }
    }

    /// One at a time, so that none is under way when the server sends GOAWAY.
    @Test func whatMustNotBeSentTwiceIsNotLostEither() async throws {
        try await withHTTP2 { transport in
            var ports: Set<Int> = []
            for _ in 0..<120 {
                let request = try Request.to(base + "/json", method: .post, body: .text("a"))
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                ports.insert(log.metrics?.localPort ?? 0)
            }
            #expect(ports.count == 3)
        }
    }
}
