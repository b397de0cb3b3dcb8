import Foundation
import RxNetworking
import TestServers
import Testing

/// An app that caches by time, also what a POST returns, and that manages its transfers as tasks (`CBNetworking`).
@Suite(.timeLimit(.minutes(1))) struct TransferTests {
    private func server() throws -> RawServer {
        try RawServer { request in
            request.target.hasPrefix("/slow")
                ? [.waitForClientClose]
                : [
                    .respond(
                        200, ["Content-Type": "application/json"], body: #"{"for":"\#(request.target)"}"#)
                ]
        }
    }

    /// A GET is cached for a time, a POST by its parameters where it is told to.
    @Test func cache() async throws {
        let server = try server()
        var configuration = ClientConfiguration(baseURL: server.baseURL)
        configuration.options.cachePolicy = .time(.seconds(300))
        let client = Client(configuration: configuration)
        for _ in 1...2 { _ = try await client.get("/news", query: ["page": 1]).value() }
        #expect(server.record.requests.count == 1)
        let options = RequestOptions(cachePolicy: .post(.seconds(60)))
        for words in ["tea", "tea", "cup"] {
            _ = try await client.post("/search", .json(["words": words]), options: options).value()
        }
        #expect(server.record.requests.count == 3)
        _ = try await client.post("/search", .json(["words": "tea"])).value()
        #expect(server.record.requests.count == 4, "not cached without being told to")
    }

    /// A file is uploaded and downloaded, each with its progress.
    @Test func files() async throws {
        let (server, folder) = (try server(), try TemporaryFolder())
        let client = Client(configuration: ClientConfiguration(baseURL: server.baseURL))
        let file = folder.file("photo.jpg")
        try Data(repeating: 1, count: 500_000).write(to: URL(filePath: file))
        var sent: Int64 = 0
        for try await event in client.progress(of: .put("/photo", .file(file))) {
            if case .uploaded(let progress) = event { sent = progress.bytes }
        }
        #expect(sent == 500_000)
        var path: String?
        for try await event in client.download(.get("/map.osm"), to: folder.file("map.osm")) {
            if case .finished(let file) = event { path = file.path }
        }
        let saved = try String(contentsOfFile: try #require(path), encoding: .utf8)
        #expect(saved == #"{"for":"/map.osm"}"#)
    }

    /// Requests are cancelled by their task, by their URL, and all at once.
    @Test func cancel() async throws {
        let server = try server()
        let client = Client(configuration: ClientConfiguration(baseURL: server.baseURL))
        let task = client.get("/slow/task").subscribe(onNext: { _ in }, onFailure: { _ in })
        let byURL = Task { try await client.get("/slow/url").value() }
        let one = Task { try await client.get("/slow/1").value() }
        let two = Task { try await client.get("/slow/2").value() }
        _ = try await server.until { $0.requests.count == 4 ? true : nil }
        task.cancel()
        #expect(client.cancel(.url("/slow/url")) == 1)
        // Those above may not have ended yet.
        #expect(client.cancel(.all) >= 2)
        #expect(await code { try await byURL.value } == .cancelled)
        #expect(await code { try await one.value } == .cancelled)
        #expect(await code { try await two.value } == .cancelled)
        #expect(client.activity.count.value == 0)
    }

    private func code(_ request: () async throws -> Response) async -> NetworkError.Code? {
        do {
            _ = try await request()
            return nil
        } catch {
            return (error as? NetworkError)?.code
        }
    }
}
