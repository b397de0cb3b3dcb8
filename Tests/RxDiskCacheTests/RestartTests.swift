#if DiskCache
import RxDiskCache
import RxNetworking
import TestServers
import Testing

/// A client that stores its responses on the disk, over real sockets.
@Suite(.timeLimit(.minutes(2))) struct RestartTests {
    private struct Goods: Endpoint {
        typealias Output = [Int]
        let path = "/goods"
        let method = HTTPRequest.Method.get
    }

    private func client(_ baseURL: String, _ store: any CacheStore) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .time(.seconds(3600))
        configuration.cache = ResponseCache(store: store)
        return Client(baseURL: baseURL, configuration: configuration)
    }

    /// A response stored by one run is found by the next on the disk, and after that in memory.
    @Test func survives() async throws {
        let server = try RawServer { _ in
            [.respond(200, ["Content-Type": "application/json"], body: "[1, 2]")]
        }
        let folder = try TemporaryFolder()
        let first = DiskCacheStore(folder: folder.path + "/cache")
        let asked = try await client(server.baseURL, TieredCacheStore(over: first)).typedResponse(Goods())
            .value()
        #expect(asked.output == [1, 2] && asked.response.isFromCache == false)
        // Requests do not wait for the disk.
        while first.usage.entries == 0 { await Task.yield() }
        try await first.close().value()

        let second = DiskCacheStore(folder: folder.path + "/cache")
        let later = client(server.baseURL, TieredCacheStore(over: second))
        for _ in 0..<2 {
            let kept = try await later.typedResponse(Goods()).value()
            #expect(kept.output == [1, 2] && kept.response.isFromCache == true)
        }
        #expect(server.record.requests.count == 1)

        #expect(try await later.configuration.cache.remove(.all).value() > 0)
        _ = try await later.typedResponse(Goods()).value()
        #expect(server.record.requests.count == 2)
        try await second.close().value()
    }
}
#endif
