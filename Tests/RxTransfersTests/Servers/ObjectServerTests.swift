#if Auth
import FoundationEssentials
import RxAuth
import RxNetworking
import TestServers
import Testing

@testable import RxTransfers

/// Multipart uploads and downloads in parts, signed, with servers of S3 that others wrote.
@Suite(.enabled(if: TransferServers.areThere, TransferServers.note), .timeLimit(.minutes(5)))
struct ObjectServerTests {
    private static let content = TransferServers.content(11_000_003)

    enum Server: String, CaseIterable, Sendable { case seaweedfs, moto }

    /// A running server, which ends with its reference.
    private struct Running {
        let port: UInt16
        let keepsAlive: any Sendable
        let folder: TemporaryFolder
    }

    private func start(_ server: Server) async throws -> Running {
        let folder = try TemporaryFolder()
        switch server {
        case .seaweedfs:
            let seaweed = try await Seaweed(in: folder)
            return Running(port: seaweed.port, keepsAlive: seaweed, folder: folder)
        case .moto:
            let moto = try await TransferServers.moto()
            return Running(port: moto.port, keepsAlive: moto, folder: folder)
        }
    }

    static func client(_ port: UInt16) -> Client {
        var configuration = ClientConfiguration()
        configuration.signer = AWSSigner(
            service: "s3", region: "us-east-1", credentials: .keys(id: Seaweed.key, secret: Seaweed.secret))
        configuration.options.retry = .exponentialBackoff(maxRetries: 5)
        return Client(baseURL: "http://127.0.0.1:\(port)", configuration: configuration)
    }

    private func options(_ change: (inout UploadMethod.Options) -> Void = { _ in }) -> UploadMethod.Options {
        var options = UploadMethod.Options()
        options.partSize = 5 << 20
        // Digests take long in a build without optimization.
        options.digest = .none
        options.backoff = .constant(.milliseconds(50))
        options.retries = 20
        change(&options)
        return options
    }

    private func makeBucket(_ client: Client) async throws {
        let response = try await client.request(InlineEndpoint(.put, "/films")).value()
        #expect(response.status.kind == .successful)
    }

    /// The object is the content, with each checksum that the server compares, and over a link that breaks.
    @Test(arguments: Server.allCases, [nil, TransferDigest.Algorithm.sha256, .crc64nvme, .md5])
    func upload(server: Server, digest: TransferDigest.Algorithm?) async throws {
        let running = try await start(server)
        let link = try LinkProxy(
            to: running.port, breakingAfter: digest == nil ? [3_000_000, 5_000_000] : [])
        let client = Self.client(link.port)
        try await makeBucket(client)
        let folder = try TemporaryFolder()
        let film = try folder.file("film", Self.content)
        var isFinished = false
        for try await event in client.upload(
            .file(film), to: .put("/films/{key...}", at: ["key": "2026/a film.mp4"]),
            by: .multipart(options: options { $0.partDigest = digest })
        ).values(buffering: .unbounded) {
            if case .finished = event { isFinished = true }
        }
        #expect(isFinished)
        #expect(link.counts.contents.repeated == 0)
        let body = try await client.get("/films/2026/a%20film.mp4").value().body
        expectSame(body, Self.content)
        #expect(try folder.names == ["film"])
    }

    /// Another run asks for the parts, and sends the missing ones only.
    @Test(arguments: Server.allCases)
    func anotherRun(server: Server) async throws {
        let running = try await start(server)
        let link = try LinkProxy(to: running.port)
        let client = Self.client(link.port)
        try await makeBucket(client)
        let folder = try TemporaryFolder()
        let film = try folder.file("film", Self.content)
        let method = UploadMethod.multipart(concurrency: 1, options: options())
        let first = client.upload(.file(film), to: .put("/films/film"), by: method)
            .subscribe(onNext: { _ in }, onFailure: { _ in })
        _ = try await link.counts.until { $0.partCount >= 2 ? true : nil }
        first.cancel()
        let before = link.counts.contents.partCount
        var from: Int64 = 0
        // The cancelled one may still be releasing its record.
        for attempt in 0..<50 {
            do {
                for try await event in client.upload(.file(film), to: .put("/films/film"), by: method)
                    .values(buffering: .unbounded)
                {
                    if case .started(let offset) = event { from = offset }
                }
                break
            } catch {
                guard error.code == .locked, attempt < 49 else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(from >= Int64(before) * (5 << 20) || from >= 2 * (5 << 20))
        #expect(link.counts.contents.repeated == 0)
        expectSame(try await client.get("/films/film").value().body, Self.content)
    }

    /// A cancelled upload without a record leaves nothing.
    @Test(arguments: Server.allCases)
    func abort(server: Server) async throws {
        let running = try await start(server)
        let link = try LinkProxy(to: running.port)
        let client = Self.client(link.port)
        try await makeBucket(client)
        let upload = client.upload(
            .bytes(Self.content), to: .put("/films/film"),
            by: .multipart(concurrency: 1, options: options()), records: .none
        )
        .subscribe(onNext: { _ in }, onFailure: { _ in })
        _ = try await link.counts.until { $0.partCount >= 1 ? true : nil }
        upload.cancel()
        _ = try await link.counts.until { $0.deletions > 0 ? true : nil }
        for attempt in 0..<100 {
            let list = try await client.get("/films?uploads=").value().text
            if !list.contains("<Key>film</Key>") { return }
            #expect(attempt < 99, "\(list)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// A download in parts, signed.
    @Test(arguments: Server.allCases)
    func download(server: Server) async throws {
        let running = try await start(server)
        let client = Self.client(running.port)
        try await makeBucket(client)
        let response = try await client.request(
            InlineEndpoint(.put, "/films/film", .body(.bytes(Self.content)))
        ).value()
        #expect(response.status.kind == .successful)
        let folder = try TemporaryFolder()
        var events: [PartedDownload.Event] = []
        for try await event in client.download(.get("/films/film"), to: folder.file("film"), parts: .count(4))
            .values(buffering: .unbounded)
        {
            events.append(event)
        }
        expectSame(try folder.content("film"), Self.content)
        guard case .started(_, let parts) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(parts == 4)
        #expect(!events.contains { if case .startedOver = $0 { true } else { false } })
        #expect(try folder.names == ["film"])
    }
}
#endif
