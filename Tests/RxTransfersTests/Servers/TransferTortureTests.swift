import FoundationEssentials
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Large files over a link that breaks, with clients and servers that are killed at random points.
@Suite(.enabled(if: TransferServers.areThere, TransferServers.note), .timeLimit(.minutes(60)))
struct TransferTortureTests {
    private static let size = (TransferServers.environment("TRANSFER_MIB").flatMap { Int($0) } ?? 16) << 20
    private static let seed = TransferServers.environment("TRANSFER_SEED").flatMap { UInt64($0) } ?? 1
    private static let probe =
        TransferServers.environment("TRANSFER_PROBE") ?? ChildProcess.product("transfer-probe")

    enum Kind: String, CaseIterable, Sendable {
        case draft, tus, s3, download

        /// Whether its server is a process that can be killed.
        var hasProcess: Bool { self != .draft }
    }

    /// A disturbance after a number of bytes.
    private struct Disturbance {
        var point: Int
        var isClient: Bool
    }

    /// The other end of the link.
    private final class Server {
        let port: UInt16
        let kind: Kind
        let folder: TemporaryFolder
        private var process: Service?
        private var seaweed: Seaweed?
        private let draft: DraftUploadServer?

        init(_ kind: Kind, _ folder: TemporaryFolder) async throws {
            (self.kind, self.folder) = (kind, folder)
            guard kind == .draft else {
                draft = nil
                port = try ServerPort.free()
                try await start()
                return
            }
            let draft = try DraftUploadServer()
            self.draft = draft
            port = draft.port
        }

        func start() async throws {
            switch kind {
            case .draft: break
            case .tus: process = try await TransferServers.start(.resumableUpload, in: folder, on: port)
            case .s3: seaweed = try await Seaweed(in: folder, port: port)
            case .download: process = try await TransferServers.nginx(filesOf: folder, on: port)
            }
        }

        func kill() async throws {
            try await process?.kill()
            try await seaweed?.service.kill()
        }

        /// The digest of what has arrived.
        func digest(of name: String) async throws -> String {
            switch kind {
            case .draft:
                let uploads = draft?.uploads.filter(\.isComplete) ?? []
                let copy = try folder.file("copy", try #require(uploads.first).bytes)
                return try await run("sha256sum '\(copy)'")
            case .tus:
                let uploads = folder.file("uploads")
                let size = TransferTortureTests.size
                return try await run("find '\(uploads)' -type f -size \(size)c -exec sha256sum {} +")
            case .s3:
                let copy = folder.file("copy")
                let fetched = try await ChildProcess(
                    TransferTortureTests.probe,
                    ["download", "http://127.0.0.1:\(port)/films/film", copy, "key=" + key]
                ).ended()
                #expect(fetched.text.contains("finished"), "\(fetched.text.suffix(200))")
                return try await run("sha256sum '\(copy)'")
            case .download: return try await run("sha256sum '\(name)'")
            }
        }

        var key: String { Seaweed.key + ":" + Seaweed.secret }
    }

    private static func run(_ script: String) async throws -> String {
        String(try await ChildProcess("/bin/sh", ["-c", script]).ended().text.prefix(64))
    }

    /// The content arrives, with at most one byte in a hundred sent again beyond those that breaks and kills take along.
    ///
    /// Of an upload these are the bytes that the server had confirmed (``LinkProxy/Counts/repeated``). Of a download they
    /// are those that were handed to the client's system, less those that were in the system's buffers when a connection
    /// was reset or the client was killed (``LinkProxy/Counts/inFlight``).
    @Test(arguments: Kind.allCases)
    func torture(kind: Kind) async throws {
        var random = SeededRandom(Self.seed)
        let size = Self.size
        let folder = try TemporaryFolder()
        let own = try TemporaryFolder()
        let server = try await Server(kind, folder)
        let film = kind == .download ? folder.file("film") : own.file("film")
        let digest = try await Self.run("head -c \(size) /dev/urandom >'\(film)'; sha256sum '\(film)'")
        let lives = (0..<10).map { _ in Int.random(in: (size / 40)...(size / 8), using: &random) }
        let link = try LinkProxy(to: server.port, breakingAfter: lives)
        if kind == .s3 { try await makeBucket(server) }

        var points = (0..<5).map { _ in
            Disturbance(point: Int.random(in: (size / 50)...(size * 9 / 10), using: &random), isClient: true)
        }
        if kind.hasProcess {
            points += (0..<3).map { _ in
                Disturbance(
                    point: Int.random(in: (size / 50)...(size * 9 / 10), using: &random), isClient: false)
            }
        }
        points.sort { $0.point < $1.point }
        var (clientKills, serverKills) = (0, 0)
        let begin = ContinuousClock.now
        var process = try start(kind, link, server, film, own)
        for disturbance in points {
            _ = try await link.counts.until { $0.passed >= disturbance.point ? true : nil }
            if disturbance.isClient {
                process.stop()
                link.pause()
                try await Task.sleep(for: .milliseconds(50))
                link.countInFlight()
                let record = try await process.kill()
                #expect(!record.text.contains("failed"), "\(record.text.suffix(300))")
                link.resume()
                process = try start(kind, link, server, film, own)
                clientKills += 1
            } else {
                try await server.kill()
                try await server.start()
                serverKills += 1
            }
        }
        let last = try await process.ended().text
        let counts = link.counts.contents
        try #require(last.contains("\nfinished "), "\(last.suffix(500)) \(counts)")
        let target = kind == .download ? own.file("film") : film
        #expect(try await server.digest(of: target) == digest)
        #expect(try own.names == ["film"])
        let excess =
            kind == .download ? counts.downloaded - counts.inFlight - size : counts.repeated
        let raw = Double(kind == .download ? counts.downloaded : counts.uploaded) / Double(size)
        let ratio = 1 + Double(max(0, excess)) / Double(size)
        print(
            "\(kind): \(size >> 20) MiB in \(ContinuousClock.now - begin), \(counts.cuts) breaks, "
                + "\(clientKills) clients and \(serverKills) servers killed; moved \(raw) times the size, "
                + "\(ratio) without what the link lost (\(excess) bytes)")
        #expect(ratio <= 1.01)
    }

    private func start(
        _ kind: Kind, _ link: LinkProxy, _ server: Server, _ film: String, _ own: TemporaryFolder
    ) throws -> ChildProcess {
        // Each run would compute the digest of the whole anew; the test compares it at the end.
        let common = ["retries=1000", "digest=none"]
        let arguments: [String] =
            switch kind {
            case .draft: ["draft", link.baseURL + "/films", film]
            case .tus: ["tus", link.baseURL + "/files", film, "partSize=\(4 << 20)"]
            case .s3: ["s3", link.baseURL + "/films/film", film, "partSize=\(5 << 20)", "key=" + server.key]
            case .download: ["download", link.baseURL + "/film", own.file("film")]
            }
        return try ChildProcess(Self.probe, arguments + common)
    }

    private func makeBucket(_ server: Server) async throws {
        #if Auth
        let client = ObjectServerTests.client(server.port)
        let response = try await client.request(InlineEndpoint(.put, "/films")).value()
        #expect(response.status.kind == .successful)
        #endif
    }
}

/// Objects that are replaced while they are downloaded.
@Suite(.enabled(if: TransferServers.areThere, TransferServers.note), .timeLimit(.minutes(60)))
struct ReplacementTests {
    private static let runs = TransferServers.environment("TRANSFER_RUNS").flatMap { Int($0) } ?? 20
    private static let seed = TransferServers.environment("TRANSFER_SEED").flatMap { UInt64($0) } ?? 1

    /// Each version has its own byte and size: nginx and caddy tell versions of one second apart by their size only.
    private static func content(_ version: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(version % 251), count: 400_000 + version)
    }

    private static func version(of bytes: [UInt8]) -> Int? {
        let version = bytes.count - 400_000
        return bytes.allSatisfy { $0 == UInt8(version % 251) } ? version : nil
    }

    @Test(arguments: RangeServerTests.Server.allCases)
    func noMixture(server: RangeServerTests.Server) async throws {
        var random = SeededRandom(Self.seed)
        let folder = try TemporaryFolder()
        _ = try folder.file("map", Self.content(0))
        let service = try await RangeServerTests.start(server, filesOf: folder)
        let link = try LinkProxy(to: service.port)
        let client = Client(baseURL: link.baseURL)
        let own = try TemporaryFolder()
        var (files, over, refused) = (0, 0, 0)
        for version in 1...Self.runs {
            let next = try folder.file("next", Self.content(version))
            let point = link.counts.contents.downloaded + Int.random(in: 0...399_000, using: &random)
            let replacing = Task {
                _ = try await link.counts.until { $0.downloaded >= point ? true : nil }
                try FileManager.default.moveItem(atPath: next, replacing: folder.file("map"))
            }
            var options = PartedDownload.Options()
            options.backoff = .constant(.milliseconds(1))
            do {
                for try await event in client.download(
                    .get(server.prefix + "map"), to: own.file("map"), parts: .count(4), options: options
                ).values(buffering: .unbounded) {
                    if case .startedOver = event { over += 1 }
                }
                let found = Self.version(of: try own.content("map"))
                #expect(
                    found == version || found == version - 1,
                    "run \(version) gave \(String(describing: found))")
                files += 1
            } catch let error as NetworkError where error.code == .contentChanged {
                refused += 1
            }
            try await replacing.value
        }
        print(
            "\(server): \(Self.runs) runs, \(files) files, \(over) started over, \(refused) refused, none mixed"
        )
        #expect(try own.names == ["map"] || refused > 0)
    }
}

extension FileManager {
    /// Moves a file over another one at once.
    fileprivate func moveItem(atPath path: String, replacing target: String) throws {
        guard unsafe rename(path, target) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
