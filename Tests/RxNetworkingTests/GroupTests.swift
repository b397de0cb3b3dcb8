import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Groups, the queue, cancelling and the indicator over real sockets.
@Suite(.timeLimit(.minutes(1))) struct GroupTests {
    private func server() throws -> RawServer {
        try RawServer { request in
            switch request.target {
            case "/stall", "/stall?q=1": return [.stall]
            case "/bad": return [.respond(500, body: "no")]
            default:
                return [.respond(200, ["Content-Type": "application/json"], body: "\"\(request.target)\"")]
            }
        }
    }

    private func client(_ server: RawServer) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        return Client(baseURL: server.baseURL, configuration: configuration)
    }

    /// Several requests with one result: typed, the first failure, or all of them.
    @Test func groups() async throws {
        let server = try server()
        let client = client(server)
        let both = try await Observable.zip(
            client.get("/a").decode(String.self), client.get("/b").map(\.status.code)
        ).value()
        #expect(both.0 == "/a")
        #expect(both.1 == 200)

        let error = await #expect(throws: NetworkError.self) {
            _ = try await Observable.zip(client.get("/stall"), client.get("/bad")).value()
        }
        #expect(error?.code == .status)

        let all = try await Observable.zip(["/a", "/bad", "/c"].map { client.get($0).asResult() }).value()
        #expect(all.map { (try? $0.get().text) ?? "failed" } == ["\"/a\"", "failed", "\"/c\""])
    }

    /// A chain builds each request from the previous response.
    @Test func chain() async throws {
        let server = try server()
        let client = client(server)
        let text = try await client.get("/a").decode(String.self).flatMap { client.get($0 + "/b") }
            .flatMap { client.get("/c", query: ["q": $0.text]) }.value().text
        #expect(text == "\"/c?q=%22%2Fa%2Fb%22\"")
    }

    /// A queue of uploads ends with all complete, and the indicator is on until then.
    @Test func queue() async throws {
        let server = try server()
        let client = client(server)
        let queue = RequestQueue(limit: 3)
        let shown = Mutex<[Bool]>([])
        queue.activity.isActive.observable
            .subscribe { isOn in shown.withLock { $0.append(isOn) } }
        let ended = Mutex(0)
        for number in 0..<40 {
            client.post(number == 7 ? "/bad" : "/\(number)", .text("x")).queued(in: queue)
                .finally { ended.withLock { $0 += 1 } }.subscribe()
        }
        // The count is written before its observers are notified, and a place is freed before the stream's
        // subscriber has handled its end.
        try await queue.allComplete.value()
        while ended.withLock({ $0 }) < 40 { await Task.yield() }
        #expect(ended.withLock { $0 } == 40)
        #expect(shown.withLock { $0.first } == false)
        #expect(server.record.requests.count == 40)
    }

    /// A request cancelled by URL calls no callback and its connection is closed; await throws.
    @Test func cancel() async throws {
        let server = try server()
        let client = client(server)
        let calls = Mutex(0)
        client.get("/stall").subscribe(
            onNext: { _ in calls.withLock { $0 += 1 } }, onFailure: { _ in calls.withLock { $0 += 1 } },
            onFinish: { calls.withLock { $0 += 1 } })
        let waiting = Task { try await client.get("/stall", query: ["q": 1]).value() }
        while server.record.requests.count < 2 { await Task.yield() }
        #expect(client.activity.count.value == 2)
        #expect(client.cancel(.url("/stall")) == 2)
        let error = await #expect(throws: NetworkError.self) { _ = try await waiting.value }
        #expect(error?.code == .cancelled)
        while client.activity.count.value > 0 { await Task.yield() }
        #expect(calls.withLock { $0 } == 0)
    }
}
