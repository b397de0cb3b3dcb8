import RxNetworking
import TestServers
import Testing

/// Servers in trouble, checked against httpbin's log, caddy's log and a killed uvicorn.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct ResilienceTests {
    private func configuration(_ backoff: Backoff) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.options.retry = .exponentialBackoff(maxRetries: 200, backoff: backoff)
        configuration.retryBudget = nil
        return configuration
    }

    /// Every request succeeds with a server that responds to two in three with 503.
    @Test func unavailable() async throws {
        let httpbin = try await Service.httpbin()
        let client = Client(
            baseURL: httpbin.baseURL, configuration: configuration(.constant(.milliseconds(1))))
        let statuses = try await Observable<Int, NetworkError>.sequence(1...60)
            .flatMap(.merge(limit: 8)) { _ in client.get("/status/200:1,503:2").map(\.status.code) }
            .collect().value()
        #expect(statuses == Array(repeating: 200, count: 60))
        #expect(httpbin.count(of: "\" 503 ") > 0)
    }

    /// A request outlives the death and the restart of the server behind the proxy.
    @Test func death() async throws {
        let folder = try TemporaryFolder()
        let live = try await Service.live()
        let front = try await Service.caddy(before: live, filesOf: folder)
        let client = Client(
            baseURL: front.baseURL, configuration: configuration(.constant(.milliseconds(20))))
        #expect(try await client.get("/openapi.json").value().status == .ok)
        try await live.kill()

        async let response = client.get("/openapi.json").value()
        // Refused by the proxy several times before the server is back.
        _ = try await front.requests(to: "/openapi.json", atLeast: 4)
        let successor = try await Service.live(on: live.port)
        #expect(try await response.status == .ok)
        withExtendedLifetime(successor) {}
    }

    /// No more than ten requests begin in a second, by the server's log.
    @Test func rate() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("small.txt", Array("tea".utf8))
        let front = try await Service.caddy(filesOf: folder)
        var configuration = ClientConfiguration()
        configuration.hostLimits = RequestLimits(rate: .perSecond(10))
        let client = Client(baseURL: front.baseURL, configuration: configuration)
        let count = try await Observable<Int, NetworkError>.sequence(1...31)
            .flatMap(.merge(limit: 31)) { _ in client.get("/files/small.txt") }
            .collect().value().count
        #expect(count == 31)

        let begins = try await front.requests(to: "/files/", atLeast: 31).map(\.begin).sorted()
        // Thirty intervals of a tenth of a second. A single request may be logged late, but all of them
        // cannot be early.
        let whole = try #require(begins.last) - begins[0]
        #expect(whole > 2.9)
        #expect(zip(begins, begins.dropFirst(12)).allSatisfy { $1 - $0 > 1 })
    }
}
