import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Bodies over HTTP/2, through nginx to a server that reports the received bytes.
@Suite(.timeLimit(.minutes(3))) struct HTTP2UploadTests {
    typealias Kind = UploadFaultTests.Kind

    private let server: NginxServer

    init() throws { server = try .shared() }

    private func withHTTP2<Result>(_ body: (CurlTransport) async throws -> Result) async throws -> Result {
        try await withTransport(
            caBundlePath: server.certificatePath, configured: { $0.httpVersion = .http2 }, body)
    }

    private func url(to behind: RawServer) -> String { "\(server.tls13BaseURL)/relay?port=\(behind.port)" }

    @Test(arguments: BodyTests.cases)
    func arrives(_ item: BodyTests.Case) async throws {
        let behind = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        try await withHTTP2 { transport in
            let request = try Request.to(url(to: behind), method: .put, body: try item.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.metrics?.httpVersion == .http2)
            #expect(log.uploaded.last ?? 0 == Int64(item.expected.count))
            #expect(try await transport.get(url(to: behind)).text == "ok")
        }
        let requests = behind.record.requests
        #expect(requests.map(\.method) == ["PUT", "GET"])
        #expect(requests.first.map { Bytes($0.body) } == Bytes(item.expected))
        #expect(Set(requests.map { $0.field("X-Connection") }).count == 1)
    }

    @Test(arguments: [Kind.bytes, .file, .known, .unknown])
    func muchArrives(_ kind: Kind) async throws {
        let behind = try RawServer { _ in [.respond(body: "ok")] }
        let directory = try TemporaryFolder()
        try await withHTTP2 { transport in
            let request = try Request.to(url(to: behind), method: .post, body: try kind.body(directory))
            #expect(try await transport.answer(to: request).text == "ok")
        }
        #expect(behind.record.requests.first.map { Bytes($0.body) } == Bytes(UploadFaultTests.large))
    }

    @Test func manyAtOnceShareAConnection() async throws {
        let behind = try RawServer { _ in [.respond(body: "ok")] }
        let bodies = (1...16).map { [UInt8](repeating: UInt8($0), count: 600_000 + $0) }
        try await withHTTP2 { transport in
            _ = try await transport.get(url(to: behind))
            let recordings = try bodies.enumerated().map { index, bytes in
                let pieces = stride(from: 0, to: bytes.count, by: 10_000).map {
                    Array(bytes[$0..<min($0 + 10_000, bytes.count)])
                }
                let body: Body =
                    switch index % 3 {
                    case 0: .bytes(bytes)
                    case 1: .stream(.sequence(pieces))
                    default: .stream(.sequence(pieces), length: Int64(bytes.count))
                    }
                return Recording(transport.send(try .to(url(to: behind), method: .post, body: body)))
            }
            for recording in recordings { #expect(try await recording.ended().error == nil) }
        }
        let requests = behind.record.requests
        let uploads = requests.dropFirst().map(\.body).sorted { $0.count < $1.count }
        #expect(uploads.count == bodies.count)
        for (upload, body) in zip(uploads, bodies) { #expect(Bytes(upload) == Bytes(body)) }
        #expect(Set(requests.map { $0.field("X-Connection") }).count == 1)
    }

    /// The server responds without reading the body.
    @Test(arguments: Kind.allCases)
    func anEarlyRefusalIsDelivered(to kind: Kind) async throws {
        let behind = try RawServer([
            [.readHead, .respond(413, ["Connection": "close"], body: "no"), .waitForClientClose],
            [.readRequest, .respond(body: "well")],
        ])
        let directory = try TemporaryFolder()
        try await withHTTP2 { transport in
            let request = try Request.to(url(to: behind), method: .post, body: try kind.body(directory))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.head?.status.code == 413)
            #expect(log.body == Array("no".utf8))
            #expect(log.kinds.last == "finished")
            #expect(try await transport.get(url(to: behind)).text == "well")
        }
    }

    @Test(arguments: [Kind.bytes, .file, .known, .unknown])
    func cancellingLetsTheOthersGoOn(_ kind: Kind) async throws {
        let behind = try RawServer([
            [.readHead, .waitForClientClose], [.readRequest, .respond(body: "well")],
        ])
        let directory = try TemporaryFolder()
        try await withHTTP2 { transport in
            let request = try Request.to(url(to: behind), method: .post, body: try kind.body(directory))
            let recording = Recording(transport.send(request))
            _ = try await behind.until { ($0.connections.first?.bytesDropped ?? 0) > 100_000 ? true : nil }
            let other = Recording(transport.send(try .to(url(to: behind))))
            recording.cancel()
            _ = try await behind.connectionEnded(0)
            #expect(try await other.ended().body == Array("well".utf8))
            #expect(!recording.hasEnded)
        }
    }

    @Test func aServerThatDoesNotReadPausesTheSource() async throws {
        let gate = try Gate()
        let behind = try RawServer([[.readHead, .wait(gate), .waitForClientClose]])
        try await withHTTP2 { transport in
            try await expectPause(of: transport, to: url(to: behind), behind, gate)
        }
    }

    /// A libcurl with ``LibcurlFault/spinsOnHTTP2Uploads`` fails to do so.
    @Test func theLoopRestsWhileTheServerDoesNotRead() async throws {
        let gate = try Gate()
        let behind = try RawServer([[.readHead, .wait(gate), .readBody, .respond(body: "ok")]])
        try await withHTTP2 { transport in
            let body = Body.bytes(UploadFaultTests.large)
            var request = try Request.to(url(to: behind), method: .post, body: body)
            request.timeouts = .unlimited
            let recording = Recording(transport.send(request))
            let spins = transport.features.has(.spinsOnHTTP2Uploads)
            let isBusy: @Sendable () -> Bool = {
                let multi = transport.multi
                let isWriting = multi.sockets.entries.contains {
                    $0.state.polled?.contains(.writable) == true
                }
                return multi.running.count > 0 && (spins ? !multi.sockets.hasMuted : isWriting)
            }
            _ = try await behind.nextRequest()
            while await transport.loop.run(isBusy) {
                try Task.checkCancellation()
                await transport.loop.poll()
            }
            #expect(await transport.loop.run { transport.multi.running.count } == 1)
            gate.open()
            #expect(try await recording.ended().body == Array("ok".utf8))
            #expect(spins || !transport.multi.sockets.hasMuted)
        }
        #expect(behind.record.requests.first.map { Bytes($0.body) } == Bytes(UploadFaultTests.large))
    }
}
