import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Retry budget, circuit breaker, hedging and limits over real sockets.
@Suite(.timeLimit(.minutes(1))) struct ResilienceTests {
    private func client(
        _ server: RawServer, _ configure: (inout ClientConfiguration) -> Void
    ) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        configure(&configuration)
        return Client(baseURL: server.baseURL, configuration: configuration)
    }

    private func error(of stream: Observable<Response, NetworkError>) async -> NetworkError? {
        do {
            _ = try await stream.value()
            return nil
        } catch {
            return error
        }
    }

    /// When the budget is spent the first error is final, and the server gets no more requests.
    @Test func budget() async throws {
        let server = try RawServer { _ in [.respond(503, body: "no")] }
        let client = client(server) {
            $0.options.retry = .exponentialBackoff(maxRetries: 5, backoff: .constant(.zero))
            $0.retryBudget = RetryBudget(ratio: 0, floor: 0.4)
        }
        var attempts = 0
        for _ in 0..<10 { attempts += await error(of: client.get("/x"))?.attempt ?? 0 }
        #expect(attempts == 14)
        #expect(server.record.requests.count == 14)
    }

    /// A circuit opens after failures of the server, and later requests never reach it.
    @Test func circuitBreaker() async throws {
        let server = try RawServer { request in
            // Each on a separate connection, since the transport may send a request on a used one again.
            request.target == "/bad"
                ? [.respond(500, ["Connection": "close"], body: "no"), .close] : [.reset]
        }
        let client = client(server) { $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 4) }
        for path in ["/bad", "/reset", "/bad", "/reset"] { #expect(await error(of: client.get(path)) != nil) }
        let refusal = await error(of: client.get("/x"))
        #expect(refusal?.code == .circuitOpen)
        let circuit = try #require(refusal?.openCircuit)
        #expect(circuit.upperBound - circuit.lowerBound == .seconds(30))
        #expect(server.record.requests.count == 4)
        guard case .open? = client.circuitBreaker()?.state.value else {
            return #expect(Bool(false), "the circuit is open")
        }
    }

    /// Half-open, a successful request closes the circuit.
    @Test func recovery() async throws {
        let isWell = Mutex(false)
        let server = try RawServer { _ in
            isWell.withLock { $0 } ? [.respond(200, body: "1")] : [.respond(500, body: "no")]
        }
        let client = client(server) {
            $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 2, openDuration: .zero)
        }
        for _ in 0..<2 { #expect(await error(of: client.get("/x"))?.status == .internalServerError) }
        #expect(client.circuitBreaker()?.state.value != .closed)
        isWell.withLock { $0 = true }
        #expect(await error(of: client.get("/x")) == nil)
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    /// A second attempt succeeds while the first stalls, whose connection is closed.
    @Test func hedging() async throws {
        let count = Mutex(0)
        let server = try RawServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? [.stall] : [.respond(200, body: "second")]
        }
        let client = client(server) { $0.options.hedging = .after(.milliseconds(20)) }
        #expect(try await client.get("/x").value().text == "second")
        #expect(try await server.connectionEnded(0) != .stopped)
        #expect(server.record.requests.count == 2)
    }

    /// Never more at a time than allowed, in the order of arrival; waiting requests can be cancelled.
    @Test func limits() async throws {
        let gate = try Gate()
        let server = try RawServer { request in
            request.target == "/first" ? [.wait(gate), .respond(200, body: "1")] : [.respond(200, body: "1")]
        }
        let client = client(server) { $0.limits = RequestLimits(concurrency: 1) }
        let order = Mutex<[String]>([])
        let done = MutableProperty(0)
        let paths = ["/first"] + (0..<10).map { "/\($0)" }
        let subscriptions = paths.map { path in
            client.get(path).subscribe(
                onNext: { _ in order.withLock { $0.append(path) } }, onFinish: { done.update { $0 += 1 } })
        }
        _ = try await server.nextRequest()
        subscriptions[5].cancel()
        gate.open()
        _ = try await done.observable.filter { $0 == 10 }.value()
        #expect(order.withLock { $0 } == paths.filter { $0 != "/4" })
        #expect(server.record.requests.map(\.target) == paths.filter { $0 != "/4" })
    }

    /// A rate spaces requests, and the wait counts toward the queue timeout.
    @Test func rate() async throws {
        let server = try RawServer { _ in [.respond(200, body: "1")] }
        let client = client(server) {
            $0.hostLimits = RequestLimits(rate: .count(1, per: .seconds(3600), burst: 2))
            $0.options.timeouts = Timeouts(queue: .milliseconds(20))
        }
        for _ in 0..<2 { #expect(await error(of: client.get("/x")) == nil) }
        #expect(await error(of: client.get("/x"))?.code == .queueTimeout)
        #expect(server.record.requests.count == 2)
    }
}
