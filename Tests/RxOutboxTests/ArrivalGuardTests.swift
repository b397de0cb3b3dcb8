#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Testing

/// The exchanges of the client within one attempt of an entry.
@Suite(.timeLimit(.minutes(1))) struct ArrivalGuardTests {
    private struct Post: OutboxEndpoint {
        static let outboxName = "post"
        typealias Output = Response
        var path: String { "/a" }
        var method: HTTPRequest.Method { .post }
        // At most once, these would repeat it.
        var options: RequestOptions {
            RequestOptions(retry: .exponentialBackoff(maxRetries: 3), isIdempotent: true)
        }
    }

    private let clock = VirtualScheduler()

    /// The number of requests in an hour, and the phase of the entry afterwards; `nil` if it was delivered.
    private func run(
        _ key: OutboxKey, standby: Bool = false, _ replies: ScriptedTransport.Reply...
    ) throws -> (requests: [Request], phase: OutboxDelivery.Phase?, uncertain: Bool) {
        let script = ScriptBox(replies)
        let transport = ScriptedTransport(on: clock) { _ in script.next() ?? .json("{}") }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        if standby {
            configuration.standbyURL = "https://standby.test"
            configuration.failover = Failover()
        }
        let client = Client(configuration: configuration, transport: transport)
        let store = MemoryOutboxStore()
        var options = OutboxConfiguration()
        options.schedule = OutboxSchedule(first: .seconds(3000), jitter: 0)
        let outbox = try Outbox(store: store, client: client, endpoints: [Post.self], configuration: options)
        let recorder = Recorder(outbox.enqueue(Post(), key: key), on: clock)
        try clock.advance(by: .seconds(1000))
        #expect(recorder.values.count == 1)
        let delivery = store.entries.first?.delivery
        withExtendedLifetime(outbox) {}
        return (transport.requests, delivery?.phase, delivery?.uncertainSince != nil)
    }

    /// At most once: a redirect that moves the request is followed, since it was not executed.
    @Test func movedRequests() throws {
        let moved = ScriptedTransport.Reply.status(
            .temporaryRedirect, headers: [.location: "https://shop.test/b"])
        let outcome = try run(.withoutKey(.atMostOnce), moved)
        #expect(outcome.requests.map(\.url.path) == ["/a", "/b"])
        #expect(outcome.phase == nil)
    }

    /// At most once: the outcome of a request that was executed may be fetched.
    @Test func fetchedOutcomes() throws {
        let seeOther = ScriptedTransport.Reply.status(.seeOther, headers: [.location: "/outcome"])
        let outcome = try run(.withoutKey(.atMostOnce), seeOther)
        #expect(outcome.requests.map(\.method) == [.post, .get])
        #expect(outcome.phase == nil)
    }

    /// At most once: no standby server gets what the main one may have executed.
    @Test func standbyServers() throws {
        let outcome = try run(
            .withoutKey(.atMostOnce), standby: true, .status(.badGateway), .json("{}"))
        #expect(outcome.requests.count == 1)
        guard case .dead(.uncertain) = outcome.phase else {
            Issue.record("\(String(describing: outcome.phase))")
            return
        }
    }

    /// At most once: a standby server gets what has certainly not arrived.
    @Test func unsentRequests() throws {
        let outcome = try run(
            .withoutKey(.atMostOnce), standby: true, .failure(.connect), .json("{}"))
        #expect(outcome.requests.map { $0.url.host() } == ["shop.test", "standby.test"])
        #expect(outcome.phase == nil)
    }

    /// The life of a key begins although the last of several exchanges did not arrive.
    @Test func lastErrors() throws {
        let outcome = try run(
            .generated(.stripe), .failure(.connectionLost), .failure(.connect), .failure(.connect),
            .failure(.connect))
        #expect(outcome.requests.count == 4)
        #expect(outcome.uncertain)
        guard case .waiting = outcome.phase else {
            Issue.record("\(String(describing: outcome.phase))")
            return
        }
    }

    /// The life of a key does not begin with refusals and connections that were never made.
    @Test func refusals() throws {
        let outcome = try run(
            .generated(.stripe), .status(.tooManyRequests), .failure(.connect), .failure(.resolve),
            .status(.tooManyRequests))
        #expect(outcome.requests.count == 4)
        #expect(!outcome.uncertain)
        #expect(Set(outcome.requests.map { $0.headerFields[.idempotencyKey] }).count == 1)
    }
}
#endif
