import FoundationEssentials
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxTransfers

/// Uploads by tus to servers that others wrote.
@Suite(.enabled(if: TransferServers.areThere, TransferServers.note), .timeLimit(.minutes(5)))
struct TusServerTests {
    private static let content = TransferServers.content(3_000_001)
    /// tuspyserver tells the offset only of uploads with both.
    private static let metadata = ["filename": "film", "filetype": "video/mp4"]

    private func options(_ change: (inout UploadMethod.Options) -> Void = { _ in }) -> UploadMethod.Options {
        var options = UploadMethod.Options()
        options.backoff = .constant(.milliseconds(20))
        options.retries = 20
        change(&options)
        return options
    }

    private func upload(
        _ content: UploadContent, to url: String, by method: UploadMethod
    ) async throws -> [UploadEvent<Response>] {
        var events: [UploadEvent<Response>] = []
        for try await event in Client(baseURL: "").upload(content, to: .post(url), by: method)
            .values(buffering: .unbounded)
        {
            events.append(event)
        }
        return events
    }

    /// The files with this size below a folder.
    private func files(of size: Int, in folder: TemporaryFolder) throws -> [[UInt8]] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).compactMap { name in
            // Folders among the names have no content.
            guard let bytes = try? folder.content(name), bytes.count == size else { return nil }
            return bytes
        }
    }

    /// The content as the server has it.
    private func stored(
        _ server: TransferServers.Tus, _ service: Service, in folder: TemporaryFolder
    ) async throws -> [UInt8]? {
        guard server == .seaweedfs else { return try files(of: Self.content.count, in: folder).first }
        return try await Client(baseURL: service.baseURL).get("/files/film").value().body
    }

    private func path(_ server: TransferServers.Tus) -> String {
        switch server {
        // Only there it tells what it offers, such as to join partial uploads.
        case .tuspyserver: "/files/"
        case .resumableUpload: "/files"
        case .seaweedfs: "/.tus/files/film"
        }
    }

    /// A file over a link that breaks three times: the content arrives, and nothing that was confirmed is sent again.
    @Test(arguments: TransferServers.Tus.allCases)
    func brokenLink(server: TransferServers.Tus) async throws {
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(server, in: folder)
        let link = try LinkProxy(to: service.port, breakingAfter: [400_000, 900_000, 1_500_000])
        let own = try TemporaryFolder()
        let film = try own.file("film", Self.content)
        let events = try await upload(
            .file(film), to: link.baseURL + path(server),
            by: .tus(
                metadata: Self.metadata, creationSize: 0,
                options: options { $0.partSize = 1 << 20 }))
        guard case .finished = events.last else {
            Issue.record("not finished: \(events.suffix(3))")
            return
        }
        expectSame(try await stored(server, service, in: folder) ?? [], Self.content)
        #expect(link.counts.contents.cuts == 3)
        #expect(link.counts.contents.repeated == 0)
        #expect(try own.names == ["film"])
    }

    /// A small file goes with the request that creates the upload.
    @Test(arguments: TransferServers.Tus.allCases)
    func withCreation(server: TransferServers.Tus) async throws {
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(server, in: folder)
        let events = try await upload(
            .bytes(Self.content), to: service.baseURL + path(server),
            by: .tus(metadata: Self.metadata, creationSize: 4 << 20, options: options()))
        guard case .finished = events.last else {
            Issue.record("not finished: \(events.suffix(3))")
            return
        }
        expectSame(try await stored(server, service, in: folder) ?? [], Self.content)
    }

    /// Partial uploads side by side over a link that breaks, which the server joins.
    @Test(arguments: [TransferServers.Tus.tuspyserver, .resumableUpload])
    func concatenation(server: TransferServers.Tus) async throws {
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(server, in: folder)
        let link = try LinkProxy(to: service.port, breakingAfter: [300_000, 700_000])
        let own = try TemporaryFolder()
        let film = try own.file("film", Self.content)
        let events = try await upload(
            .file(film), to: link.baseURL + path(server),
            by: .tus(
                metadata: Self.metadata, concurrency: 4,
                options: options {
                    $0.partSize = 256 << 10
                    $0.partDigest = .sha1
                }))
        guard case .finished(let response) = events.last else {
            Issue.record("not finished: \(events.suffix(3))")
            return
        }
        #expect(response.status == .created)
        expectSame(try await stored(server, service, in: folder) ?? [], Self.content)
        #expect(try own.names == ["film"])
    }

    /// A stream of unknown length. seaweedfs takes none, and resumable-upload wants to know the length in the first request.
    @Test func stream() async throws {
        let server = TransferServers.Tus.tuspyserver
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(server, in: folder)
        let chunks = stride(from: 0, to: Self.content.count, by: 100_000).map {
            Array(Self.content[$0..<min($0 + 100_000, Self.content.count)])
        }
        let events = try await upload(
            .stream(.sequence(chunks)), to: service.baseURL + path(server),
            by: .tus(metadata: Self.metadata, options: options { $0.partSize = 1 << 20 }))
        guard case .finished = events.last else {
            Issue.record("not finished: \(events.suffix(3))")
            return
        }
        expectSame(try await stored(server, service, in: folder) ?? [], Self.content)
    }

    /// Each request is compared with its checksum.
    @Test func checksums() async throws {
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(.resumableUpload, in: folder)
        let own = try TemporaryFolder()
        let film = try own.file("film", Self.content)
        let events = try await upload(
            .file(film), to: service.baseURL + "/files",
            by: .tus(
                creationSize: 0,
                options: options {
                    $0.partSize = 1 << 20
                    $0.partDigest = .sha256
                }))
        #expect(events.contains { if case .verified = $0 { true } else { false } })
        expectSame(try await stored(.resumableUpload, service, in: folder) ?? [], Self.content)
    }

    /// A cancelled upload without a record is deleted.
    @Test(arguments: TransferServers.Tus.allCases)
    func termination(server: TransferServers.Tus) async throws {
        let folder = try TemporaryFolder()
        let service = try await TransferServers.start(server, in: folder)
        let link = try LinkProxy(to: service.port)
        let client = Client(baseURL: "")
        let started = Board(false)
        let subscription = client.upload(
            .bytes(Self.content), to: .post(link.baseURL + path(server)),
            by: .tus(
                metadata: Self.metadata, creationSize: 0,
                options: options {
                    $0.partSize = 100_000
                    $0.bandwidth = TransferBandwidth(bytesPerSecond: 500_000)
                }),
            records: .none
        )
        .subscribe(
            onNext: { event in
                if case .progress(let rate) = event, rate.bytes > 200_000 { started.update { $0 = true } }
            }, onFailure: { _ in })
        _ = try await started.until { $0 ? true : nil }
        subscription.cancel()
        _ = try await link.counts.until { $0.deletions > 0 ? true : nil }
    }
}
