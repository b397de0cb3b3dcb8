import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

@testable import RxCurl

/// Bodies over HTTP/3 with aioquic, in both directions.
@Suite(
    .enabled(if: LibcurlFeatures.running.hasHTTP3 && AioquicServer.isInstalled), .serialized,
    .timeLimit(.minutes(3)))
struct AioquicTransferTests {
    /// Not a multiple of any buffer size.
    private static let count = 6_000_007
    private static let large = Bytes(Array(NginxServer.large.prefix(count)))
    private static let content = NginxServer.large

    private func url(_ server: AioquicServer) -> String { "\(server.baseURL)/large?count=\(Self.count)" }

    /// The server's response to an upload of ``content``.
    private func receipt() async throws -> String {
        let folder = try TemporaryFolder()
        let path = try folder.file("content", Self.content)
        let sum = try ChildProcess("/usr/bin/env", ["sha256sum", path])
        return "\(Self.content.count) \(try await sum.ended().text.prefix(64))"
    }

    // MARK: - Downloads

    @Test func aLargeBodyComes() async throws {
        let server = try await AioquicServer.shared()
        try await AioquicTests.with(server) { transport in
            let response = try await transport.get(url(server))
            #expect(Bytes(response.body) == Self.large)
            #expect(response.metrics.bodyBytesReceived == Self.count)
        }
    }

    @Test(arguments: [0, 2])
    func stormsOfPausingLoseNothing(others count: Int) async throws {
        let server = try await AioquicServer.shared()
        try await AioquicTests.with(server) { transport in
            let others = try (0..<count).map { _ in Recording(transport.send(try .to(url(server)))) }
            let recording = Recording(transport.send(try .to(url(server)))) { _, subscription in
                subscription.pause()
                subscription.resume()
            }
            for recording in [recording] + others {
                let log = try await recording.ended()
                #expect(log.error == nil)
                #expect(Bytes(log.body) == Self.large)
            }
        }
    }

    @Test func aPauseLosesNothing() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let recording = try await paused(transport, url(server))
            let before = recording.log.body.count
            for _ in 0..<20 { #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3") }
            #expect(recording.log.body.count == before)
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Self.large)
        }
        let connections = try await server.connections(afterRequests: 21)
        #expect(connections == 1)
    }

    /// If no other request uses its connection.
    @Test func aPauseStopsTheServer() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            try await AioquicTests.with(server) { other in
                let recording = try await paused(transport, server.baseURL + "/large?count=\(1 << 30)")
                // Until there is no progress during 20 requests.
                var sent: [String] = []
                while sent.count < 20 || Set(sent.suffix(20)).count > 1 {
                    sent.append(try await other.get(server.baseURL + "/sent").text)
                }
                #expect(Int(sent.last ?? "") ?? .max < 16 << 20)
                recording.cancel()
                let response = try await transport.get(server.baseURL + "/echo")
                #expect(response.text == "HTTP/3")
            }
        }
    }

    /// While others use its connection, libcurl reads for a paused transfer, too, and keeps the bytes in
    /// memory.
    @Test func aPauseBesideOthersKeepsEverything() async throws {
        let server = try await AioquicServer()
        let count = 24 << 20
        try await AioquicTests.with(server) { transport in
            let recording = try await paused(transport, server.baseURL + "/large?count=\(count)")
            var sent = ""
            while sent != "\(count)" { sent = try await transport.get(server.baseURL + "/sent").text }
            #expect(recording.log.body.count < 1 << 20)
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.body.count == count)
            #expect(Bytes(Array(log.body.prefix(16 << 20))) == Bytes(NginxServer.large))
        }
    }

    /// A transfer that is paused since its first chunk.
    private func paused(_ transport: CurlTransport, _ url: String) async throws -> Recording {
        let isPaused = Board(false)
        let recording = Recording(transport.send(try .to(url))) { event, subscription in
            guard case .chunk = event else { return }
            subscription.pause()
            isPaused.update { $0 = true }
        }
        _ = try await isPaused.until { $0 ? true : nil }
        recording.stopReacting()
        return recording
    }

    @Test func newKeysLoseNothing() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let recording = Recording(transport.send(try .to(url(server))))
            for part in 1...3 {
                _ = try await recording.until { $0.body.count > part * Self.count / 5 ? true : nil }
                try server.give(.updateKeys)
            }
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(Bytes(log.body) == Self.large)
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
        let connections = try await server.connections(afterRequests: 2)
        #expect(connections == 1)
    }

    // MARK: - Uploads

    enum Kind: CaseIterable, Sendable {
        case bytes, file, known, unknown

        func body(_ folder: TemporaryFolder) throws -> Body {
            switch self {
            case .bytes: .bytes(content)
            case .file: .file(try folder.file("a", content))
            case .known: .stream(.sequence(pieces), length: Int64(content.count))
            case .unknown: .stream(.sequence(pieces))
            }
        }

        private var pieces: [[UInt8]] {
            stride(from: 0, to: content.count, by: 100_000).map {
                Array(content[$0..<min($0 + 100_000, content.count)])
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func aLargeBodyArrives(_ kind: Kind) async throws {
        let server = try await AioquicServer.shared()
        let folder = try TemporaryFolder()
        try await AioquicTests.with(server) { transport in
            let request = try Request.to(
                server.baseURL + "/upload", method: .post, body: try kind.body(folder))
            let log = try await Recording(transport.send(request)).ended()
            let receipt = try await receipt()
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self) == receipt)
            #expect(log.uploaded.last == Int64(Self.content.count))
        }
    }

    @Test func aClosedWindowPausesTheSourceAndLosesNothing() async throws {
        let server = try await AioquicServer()
        try await AioquicTests.with(server) { transport in
            let made = Board(0)
            let piece = [UInt8](repeating: 7, count: 64 << 10)
            let source = Observable<[UInt8], NetworkError>.sequence(repeatElement(piece, count: 200)).map {
                piece in
                made.update { $0 += 1 }
                return piece
            }
            let request = try Request.to(server.baseURL + "/hold", method: .post, body: .stream(source))
            let recording = Recording(transport.send(request))
            try await server.events("request")
            // Until there is no progress between two checks with many requests in between.
            var seen = -1
            while seen != made.contents {
                seen = made.contents
                for _ in 0..<20 { _ = try await transport.get(server.baseURL + "/echo") }
            }
            #expect(seen < 100)
            try server.give(.release)
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self).hasPrefix("\(200 * piece.count) "))
            #expect(made.contents == 200)
        }
    }

    @Test(arguments: Kind.allCases)
    func anEarlyRefusalIsDelivered(_ kind: Kind) async throws {
        let server = try await AioquicServer.shared()
        let folder = try TemporaryFolder()
        try await AioquicTests.with(server) { transport in
            let request = try Request.to(
                server.baseURL + "/early", method: .post, body: try kind.body(folder))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.head?.status.code == 413)
            #expect(log.body == Array("no".utf8))
            #expect(try await transport.get(server.baseURL + "/echo").text == "HTTP/3")
        }
    }
}
