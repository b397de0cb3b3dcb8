import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Bodies over HTTP/3 with caddy, in both directions.
@Suite(
    .enabled(if: LibcurlFeatures.running.hasHTTP3 && CaddyServer.isInstalled), .serialized,
    .timeLimit(.minutes(3)))
struct HTTP3TransferTests {
    private func withHTTP3<Result>(
        _ server: CaddyServer, _ body: (CurlTransport) async throws -> Result
    ) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.httpVersion = .http3Only }, body)
    }

    private func url(_ server: CaddyServer, to behind: RawServer) -> String {
        "\(server.baseURL)/relay?port=\(behind.port)"
    }

    @Test func aLargeBodyComes() async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server) { transport in
            let response = try await transport.get(server.baseURL + "/large")
            #expect(Bytes(response.body) == Bytes(NginxServer.large))
            #expect(response.metrics.bodyBytesReceived == NginxServer.large.count)
        }
    }

    /// caddy 2.6 drops content without a length.
    @Test(arguments: [UploadFaultTests.Kind.bytes, .file, .known])
    func aLargeBodyArrives(_ kind: UploadFaultTests.Kind) async throws {
        let server = try await CaddyServer.shared()
        let behind = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        try await withHTTP3(server) { transport in
            let request = try Request.to(
                url(server, to: behind), method: .put, body: try kind.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.body == Array("ok".utf8))
            #expect(log.uploaded.last == Int64(UploadFaultTests.large.count))
        }
        let body = try #require(behind.record.requests.first?.body)
        #expect(Bytes(body) == Bytes(UploadFaultTests.large))
    }

    @Test(arguments: [0, 3])
    func stormsOfPausingLoseNothing(others count: Int) async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server) { transport in
            let url = server.baseURL + "/large"
            let others = try (0..<count).map { _ in Recording(transport.send(try .to(url))) }
            let recording = Recording(transport.send(try .to(url))) { _, subscription in
                subscription.pause()
                subscription.resume()
            }
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Bytes(NginxServer.large))
            for other in others {
                let log = try await other.ended()
                #expect(Bytes(log.body) == Bytes(NginxServer.large))
            }
        }
    }

    @Test func aPauseStopsTheServerAndLosesNothing() async throws {
        let server = try await CaddyServer.shared()
        try await withHTTP3(server) { transport in
            let paused = Board(false)
            let recording = Recording(transport.send(try .to(server.baseURL + "/large"))) {
                event, subscription in
                guard case .chunk = event else { return }
                subscription.pause()
                paused.update { $0 = true }
            }
            _ = try await paused.until { $0 ? true : nil }
            for _ in 0..<20 { #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3.0") }
            #expect(recording.log.body.count < NginxServer.large.count / 2)
            recording.stopReacting()
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Bytes(NginxServer.large))
        }
    }

    @Test func aServerThatDoesNotReadPausesTheSource() async throws {
        let server = try await CaddyServer.shared()
        let gate = try Gate()
        let behind = try RawServer([[.readHead, .wait(gate), .waitForClientClose]])
        try await withHTTP3(server) { transport in
            try await expectPause(
                of: transport, to: url(server, to: behind), behind, gate, isLengthKnown: true)
        }
    }

    @Test func anEarlyRefusalIsDelivered() async throws {
        let server = try await CaddyServer.shared()
        let behind = try RawServer([
            [.readHead, .respond(413, ["Connection": "close"], body: "no"), .waitForClientClose],
            [.readRequest, .respond(body: "well")],
        ])
        try await withHTTP3(server) { transport in
            let body = Body.bytes(UploadFaultTests.large)
            let request = try Request.to(url(server, to: behind), method: .post, body: body)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.head?.status.code == 413)
            #expect(log.body == Array("no".utf8))
            #expect(try await transport.get(url(server, to: behind)).text == "well")
        }
    }

    // MARK: - Ends

    @Test(arguments: [true, false]) func theServerHearsOfACancel(hasOthers: Bool) async throws {
        let server = try await CaddyServer.shared()
        let behind = try RawServer([[.readRequest, .waitForClientClose]])
        let gate = try Gate()
        let other = try RawServer { _ in [.wait(gate), .respond(body: "ok")] }
        try await withHTTP3(server) { transport in
            let recording = Recording(transport.send(try .to(url(server, to: behind))))
            _ = try await behind.nextRequest()
            let stays = hasOthers ? Recording(transport.send(try .to(url(server, to: other)))) : nil
            if hasOthers { _ = try await other.nextRequest() }
            recording.cancel()
            #expect(try await behind.connectionEnded(0) == .clientClosed)
            gate.open()
            if let stays { #expect(try await stays.ended().body == Array("ok".utf8)) }
            #expect(!recording.hasEnded)
        }
    }

    /// Without a length caddy 2.6 would end it as if it were complete.
    @Test func aBodyThatIsBrokenOffIsAnError() async throws {
        let server = try await CaddyServer.shared()
        let behind = try RawServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), .reset]
        }
        try await withHTTP3(server) { transport in
            let log = try await Recording(transport.send(try .to(url(server, to: behind)))).ended()
            #expect([.connectionLost, .partialBody].contains(log.error?.code))
            #expect(log.error?.isUnsent == false)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3.0")
        }
    }

    /// Also for requests under way when it dies.
    @Test func aServerThatDiesAndComesBack() async throws {
        let server = try await CaddyServer()
        let behind = try RawServer([[.readRequest, .waitForClientClose]])
        try await withHTTP3(server) { transport in
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3.0")
            var request = try Request.to(url(server, to: behind))
            request.timeouts.firstByte = .seconds(2)
            let recording = Recording(transport.send(request))
            _ = try await behind.nextRequest()
            try await server.kill()
            let error = try #require(try await recording.ended().error)
            #expect([.connectionLost, .firstByteTimeout].contains(error.code))
            #expect(!error.isUnsent)
            let dead = try #require(try await Recording(transport.send(request)).ended().error)
            // libcurl from 8.22 on may send it on the dead connection.
            let isTrusted = LibcurlFeatures.running.version >= .init(8, 22) && dead.code == .connectionLost
            #expect(isTrusted || [.connect, .connectTimeout].contains(dead.code))
            let heir = try await CaddyServer(inPlaceOf: server)
            #expect(try await transport.get(heir.baseURL + "/echo").text == "HTTP/3.0")
        }
    }
}
