import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// Connections stay within the limits, and waiting requests get a fair turn.
@Suite(.timeLimit(.minutes(1))) struct ConnectionLimitTests {
    /// A server that responds to nothing before the gate opens.
    private static func server(_ gate: Gate) throws -> RawServer {
        try RawServer { request in [.wait(gate), .respond(body: request.target)] }
    }

    @Test func anOriginGetsNoMoreThanItsConnections() async throws {
        let gate = try Gate()
        let (server, other) = (try Self.server(gate), try RawServer { _ in [.respond(body: "other")] })
        try await withTransport(configured: { $0.maxConnectionsPerOrigin = 2 }) { transport in
            let requests = try (0..<6).map { try Request.to(server.baseURL + "/\($0)") }
            let recordings = requests.map { Recording(transport.send($0)) }
            _ = try await server.until { $0.requests.count == 2 ? true : nil }
            #expect(try await transport.get(other.baseURL).text == "other")
            #expect(server.record.requests.count == 2)
            gate.open()
            for (index, recording) in recordings.enumerated() {
                let log = try await recording.ended()
                #expect(log.error == nil)
                #expect(String(decoding: log.body, as: UTF8.self) == "/\(index)")
                let queued = try #require(log.metrics).queued
                #expect((queued > .zero) == (index >= 2))
            }
            #expect(server.record.connections.count == 2)
            #expect(server.record.requests.map(\.target).sorted() == (0..<6).map { "/\($0)" })
        }
    }

    @Test func aSlowServerGetsMoreConnectionsThanAQuickOne() async throws {
        let gate = try Gate()
        let server = try Self.server(gate)
        let configure: @Sendable (inout CurlTransport.Configuration) -> Void = {
            $0.maxConnectionsPerOrigin = 3
            $0.promptConnectionsPerOrigin = 1
            $0.connectionDelay = .milliseconds(1)
        }
        try await withTransport(configured: configure) { transport in
            let recordings = try (0..<5).map { Recording(transport.send(try .to(server.baseURL + "/\($0)"))) }
            _ = try await server.until { $0.requests.count == 3 ? true : nil }
            gate.open()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
            #expect(server.record.connections.count == 3)
        }
    }

    @Test func aQuickServerIsAskedOverFewConnections() async throws {
        let server = try RawServer { _ in [.respond()] }
        let configure: @Sendable (inout CurlTransport.Configuration) -> Void = {
            $0.promptConnectionsPerOrigin = 2
            $0.connectionDelay = .seconds(3600)
        }
        try await withTransport(configured: configure) { transport in
            let recordings = try (0..<50).map {
                Recording(transport.send(try .to(server.baseURL + "/\($0)")))
            }
            for recording in recordings { #expect(try await recording.ended().error == nil) }
            #expect(server.record.connections.count <= 2)
            #expect(server.record.requests.count == 50)
        }
    }

    @Test func originsTakeTurnsForWhatThereIsInAll() async throws {
        let gate = try Gate()
        let order = Board<[String]>([])
        let answer: @Sendable (RawServer.Request) -> [RawServer.Step] = { request in
            order.update { $0.append(request.target) }
            return [.wait(gate), .respond()]
        }
        let (first, second) = (try RawServer(respond: answer), try RawServer(respond: answer))
        try await withTransport(configured: { $0.maxConnections = 1 }) { transport in
            var recordings = [Recording(transport.send(try .to(first.baseURL + "/first")))]
            _ = try await order.until { $0.isEmpty ? nil : true }
            for path in ["/a1", "/a2", "/a3"] {
                recordings.append(Recording(transport.send(try .to(first.baseURL + path))))
            }
            for path in ["/b1", "/b2"] {
                recordings.append(Recording(transport.send(try .to(second.baseURL + path))))
            }
            await transport.loop.poll()
            gate.open()
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
        #expect(order.contents == ["/first", "/a1", "/b1", "/a2", "/b2", "/a3"])
    }

    @Test func whoWaitsTooLongIsToldSo() async throws {
        let gate = try Gate()
        let server = try Self.server(gate)
        try await withTransport(configured: { $0.maxConnectionsPerOrigin = 1 }) { transport in
            let running = Recording(transport.send(try .to(server.baseURL + "/1")))
            _ = try await server.nextRequest()
            var request = try Request.to(server.baseURL + "/2", method: .post)
            request.timeouts.queue = .milliseconds(30)
            let late = try await Recording(transport.send(request)).ended()
            #expect(late.error?.code == .queueTimeout)
            #expect(late.error?.message.hasPrefix("queue timeout: ") == true)
            #expect(late.error?.isUnsent == true)
            #expect(late.error?.isTransient == false)
            let patient = Recording(transport.send(try .to(server.baseURL + "/3")))
            gate.open()
            #expect(try await running.ended().error == nil)
            #expect(try await patient.ended().error == nil)
            #expect(server.record.requests.map(\.target) == ["/1", "/3"])
        }
    }

    @Test func whoCancelsLeavesTheQueue() async throws {
        let gate = try Gate()
        let server = try Self.server(gate)
        try await withTransport(configured: { $0.maxConnectionsPerOrigin = 1 }) { transport in
            let running = Recording(transport.send(try .to(server.baseURL + "/1")))
            _ = try await server.nextRequest()
            let waiting = try (2...9).map {
                Recording(transport.send(try .to(server.baseURL + "/\($0)")))
            }
            for recording in waiting.dropLast() { recording.cancel() }
            // The response must not overtake the last of them on the loop.
            await transport.loop.poll()
            gate.open()
            #expect(try await running.ended().error == nil)
            #expect(try await waiting[7].ended().error == nil)
            #expect(server.record.requests.map(\.target) == ["/1", "/9"])
            #expect(waiting.dropLast().allSatisfy { $0.log.ends.isEmpty && $0.log.kinds.isEmpty })
        }
    }

    @Test func aCancelledTransferGivesItsPlaceBack() async throws {
        let gate = try Gate()
        let server = try Self.server(gate)
        try await withTransport(configured: { $0.maxConnections = 1 }) { transport in
            let running = Recording(transport.send(try .to(server.baseURL + "/1")))
            _ = try await server.nextRequest()
            let next = Recording(transport.send(try .to(server.baseURL + "/2")))
            running.cancel()
            _ = try await server.nextRequest()
            gate.open()
            #expect(try await next.ended().error == nil)
        }
    }

    @Test func whatFailsToConnectGivesItsPlaceBack() async throws {
        let port = try DeadPort(.refusing)
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withTransport(configured: { $0.maxConnections = 1 }) { transport in
            for _ in 0..<3 {
                let log = try await Recording(transport.send(try .to(port.baseURL))).ended()
                #expect(log.error?.code == .connect)
            }
            #expect(try await transport.get(server.baseURL).text == "well")
        }
    }

    @Test func whoWaitsEndsWithTheTransport() async throws {
        let gate = try Gate()
        let server = try Self.server(gate)
        try await withTransport(configured: { $0.maxConnectionsPerOrigin = 1 }) { transport in
            let recordings = try (1...3).map { number in
                Recording(transport.send(try .to(server.baseURL + "/\(number)")))
            }
            _ = try await server.nextRequest()
            transport.shutDown()
            for recording in recordings {
                #expect(try await recording.ended().error?.code == .shutDown)
            }
        }
    }

    @Test func thePlacesAreForHTTP2sConnectionsNotItsRequests() async throws {
        let nginx = try NginxServer.shared()
        try await withTransport(
            caBundlePath: nginx.certificatePath,
            configured: {
                $0.maxConnectionsPerOrigin = 1
                $0.httpVersion = .http2
            }
        ) { transport in
            let url = nginx.tlsBaseURL + "/json"
            #expect(try await transport.get(url).metrics.httpVersion == .http2)
            // All at once, while over HTTP/1.1 they would wait for each other.
            let recordings = try (0..<8).map { _ in Recording(transport.send(try .to(url))) }
            for recording in recordings {
                let log = try await recording.ended()
                #expect(log.error == nil)
                #expect(log.metrics?.queued == .zero)
                #expect(log.metrics?.isConnectionReused == true)
            }
        }
    }
}
