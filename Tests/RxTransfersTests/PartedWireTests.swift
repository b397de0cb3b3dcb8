import FoundationEssentials
import RxNetworking
import RxTesting
import Synchronization
import TestServers
import Testing

@testable import RxTransfers

/// Downloads in parts over sockets.
@Suite(.timeLimit(.minutes(2))) struct PartedWireTests {
    private func download(
        _ server: RawServer, to path: String, parts: Int = 4, digest: TransferDigest? = nil
    ) async throws -> [PartedDownload.Event] {
        var options = PartedDownload.Options()
        options.digest = digest
        options.retries = 20
        options.backoff = .constant(.milliseconds(1))
        var events: [PartedDownload.Event] = []
        let client = Client(baseURL: server.baseURL)
        for try await event in client.download(.get("/map"), to: path, parts: .count(parts), options: options)
            .values(buffering: .unbounded)
        {
            events.append(event)
        }
        return events
    }

    /// Four parts, proven by the digest of the server.
    @Test func parts() async throws {
        let content = UploadWireTests.content(300_000)
        let server = try ObjectWireServer.start(
            content, fields: [("Repr-Digest", UploadWireTests.digest(content))])
        let folder = try TemporaryFolder()
        let events = try await download(server, to: folder.file("map"))
        expectSame(try folder.content("map"), content)
        #expect(try folder.names == ["map"])
        guard case .finished(let file) = events.last else {
            Issue.record("no file")
            return
        }
        #expect(file.digest == TransferDigest(of: content))
        #expect(server.record.requests.count >= 4)
    }

    /// Cuts at random places: the content is the same, and little is sent twice.
    @Test(arguments: [1, 2, 3])
    func randomCuts(seed: UInt64) async throws {
        let content = UploadWireTests.content(300_000)
        let random = Mutex(SeededRandom(seed))
        let cuts = Mutex(10)
        let source = Cuts(random: random, left: cuts)
        let server = try ObjectWireServer.start(content) { _ in source.next() }
        let folder = try TemporaryFolder()
        _ = try await download(
            server, to: folder.file("map"), digest: TransferDigest(of: content))
        expectSame(try folder.content("map"), content)
        #expect(try folder.names == ["map"])
    }

    private final class Cuts: Sendable {
        private let random: Mutex<SeededRandom>
        private let left: Mutex<Int>

        init(random: consuming sending Mutex<SeededRandom>, left: consuming sending Mutex<Int>) {
            self.random = random
            self.left = left
        }

        func next() -> Int? {
            let isLeft = left.withLock { left in
                left -= 1
                return left >= 0
            }
            return isLeft ? random.withLock { Int.random(in: 0...60_000, using: &$0) } : nil
        }
    }
}
