import FoundationEssentials
import RxNetworking
import TestServers
import Testing

@testable import RxTransfers

/// Queues of transfers over sockets.
@Suite(.timeLimit(.minutes(1))) struct QueueWireTests {
    private struct Film: Codable, Sendable {
        var path: String
    }

    /// Three uploads, two at a time, all of which arrive.
    @Test func uploads() async throws {
        let server = try DraftUploadServer()
        let folder = try TemporaryFolder()
        let client = Client(baseURL: server.baseURL)
        let queue = TransferQueue<Film>(
            on: client.transport.scheduler, limit: 2, storedAt: folder.file("queue.json"),
            in: client.transport.files
        ) { film, bandwidth in
            var options = UploadMethod.Options()
            options.bandwidth = bandwidth
            return client.upload(.file(film.path), to: .post("/films"), by: .resumable(options: options))
                .rates()
        }
        let content = UploadWireTests.content(100_000)
        for name in ["a", "b", "c"] {
            _ = try await queue.add(Film(path: try folder.file(name, content))).value()
        }
        for await items in queue.items.observable.values(buffering: .unbounded) {
            let finished = items.count { if case .finished = $0.state { true } else { false } }
            if finished == 3 { break }
        }
        expectSame(server.uploads.map(\.bytes), [content, content, content])
    }
}
