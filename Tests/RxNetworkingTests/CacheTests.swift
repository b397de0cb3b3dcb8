import FoundationEssentials
import RxNetworking
import TestServers
import Testing

/// The cache over real sockets.
@Suite(.timeLimit(.minutes(1))) struct CacheTests {
    private struct Goods: Endpoint {
        typealias Output = [Int]
        let path = "/goods"
        var method = HTTPRequest.Method.get
        var parameters: Parameters = .none
        var options = RequestOptions()
    }

    private func client(_ baseURL: String, _ policy: CachePolicy) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = policy
        return Client(baseURL: baseURL, configuration: configuration)
    }

    /// Storable responses are requested once, and revalidated when they must be.
    @Test func rules() async throws {
        let server = try RawServer { request in
            if request.field("If-None-Match") == "\"a\"" {
                return [.respond(304, ["ETag": "\"a\"", "Cache-Control": "max-age=3600", "X": "2"])]
            }
            return [.respond(200, ["ETag": "\"a\"", "Cache-Control": "no-cache", "X": "1"], body: "[1]")]
        }
        let client = client(server.baseURL, .http)
        var uses: [Response.CacheUse?] = []
        for _ in 0..<3 {
            let answer = try await client.typedResponse(Goods()).value()
            #expect(answer.output == [1])
            uses.append(answer.response.cacheUse)
        }
        #expect(uses == [nil, .revalidated, .fresh])
        #expect(server.record.requests.map { $0.field("If-None-Match") } == [nil, "\"a\""])
    }

    /// A file of nginx, by its ETag and its date.
    @Test func nginx() async throws {
        let server = try NginxServer()
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .http
        // One of the files is larger than a store of the default size accepts.
        configuration.cache = ResponseCache(store: MemoryCacheStore(limit: 128 << 20))
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        for path in ["/text", "/large"] {
            var call = InlineEndpoint(.get, path)
            let first = try await client.request(call).value()
            #expect(first.cacheUse == nil && first.head[.lastModified] != nil && first.head[.eTag] != nil)
            call.options.cacheMode = .noCache
            let second = try await client.request(call).value()
            #expect(second.cacheUse == .revalidated && second.body == first.body && second.status == .ok)
        }
        #expect(client.configuration.cache.statistics.revalidated == 2)
    }

    /// GET for a fixed time, and POST by its parameters.
    @Test func times() async throws {
        let server = try RawServer { _ in [.respond(200, body: "[1]")] }
        let client = client(server.baseURL, .time(.seconds(3600)))
        for _ in 0..<2 { #expect(try await client.request(Goods()).value() == [1]) }
        #expect(server.record.requests.count == 1)
        for parameters: Parameters in [.json(["a": 1, "b": 2]), .json(["b": 2, "a": 1]), .json(["a": 3])] {
            let search = Goods(
                method: .post, parameters: parameters,
                options: RequestOptions(cachePolicy: .post(.seconds(3600))))
            #expect(try await client.request(search).value() == [1])
        }
        #expect(server.record.requests.map(\.method) == ["GET", "POST", "POST"])
    }

    /// The store has a limit, and can be cleared.
    @Test func cleared() async throws {
        let server = try RawServer { _ in [.respond(200, body: String(repeating: "x", count: 1000))] }
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .time(.seconds(3600))
        configuration.cache = ResponseCache(store: MemoryCacheStore(limit: 2500, entryLimit: 2000))
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        for path in ["/a", "/b", "/a", "/c", "/a", "/b"] { _ = try await client.get(path).value() }
        // b was the least recently used when c arrived.
        #expect(server.record.requests.map(\.target) == ["/a", "/b", "/c", "/b"])
        let statistics = configuration.cache.statistics
        #expect(
            statistics.usage.entries == 2 && statistics.usage.evicted == 2 && statistics.usage.bytes <= 2500)
        #expect(try await configuration.cache.remove(.all).value() == 2)
        _ = try await client.get("/a").value()
        #expect(server.record.requests.count == 5)
    }

    /// Equal requests at the same time are sent once.
    @Test func joined() async throws {
        let gate = try Gate()
        let server = try RawServer { _ in [.wait(gate), .respond(200, body: "[1]")] }
        let client = client(server.baseURL, .http)
        async let answers = Observable.zip((0..<20).map { _ in client.request(Goods()) }).value()
        _ = try await server.nextRequest()
        gate.open()
        #expect(try await answers == Array(repeating: [1], count: 20))
        #expect(server.record.requests.count == 1)
    }

    /// If the server cannot be reached, a stale response is delivered.
    @Test func staleIfError() async throws {
        let server = try RawServer { _ in
            [.respond(200, ["Cache-Control": "max-age=0, stale-if-error=3600"], body: "[1]")]
        }
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .http
        configuration.options.retry = .never
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        #expect(try await client.request(Goods()).value() == [1])
        server.stop()
        #expect(try await client.typedResponse(Goods()).value().response.cacheUse == .stale)
    }
}
