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

    /// The requests of 1,000 seconds, and the phase of the entry afterwards; `nil` if it was delivered.
    private func run(
        _ key: OutboxKey, standby: Bool = false, lifetime: Duration? = nil, session: Session? = nil,
        envelope: Envelope? = nil, _ replies: ScriptedTransport.Reply...
    ) throws -> (requests: [Request], phase: OutboxDelivery.Phase?, uncertain: Bool) {
        let script = ScriptBox(replies)
        let transport = ScriptedTransport(on: clock) { _ in script.next() ?? .json("{}") }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        if standby {
            configuration.standbyURL = "https://standby.test"
            configuration.failoverProbeInterval = .seconds(30)
        }
        configuration.session = session
        configuration.options.envelope = envelope
        let client = Client(configuration: configuration, transport: transport)
        let store = MemoryOutboxStore()
        var options = OutboxConfiguration()
        options.schedule = OutboxSchedule(first: .seconds(3000), jitter: 0)
        let outbox = try Outbox(store: store, client: client, endpoints: [Post.self], configuration: options)
        let recorder = Recorder(outbox.enqueue(Post(), key: key, lifetime: lifetime), on: clock)
        try clock.advance(by: .seconds(1000))
        #expect(recorder.values.count == 1)
        let delivery = store.entries.first?.delivery
        withExtendedLifetime(outbox) {}
        return (transport.requests, delivery?.phase, delivery?.mayHaveArrivedSince != nil)
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

    /// A server that asks for a wait of 40 s.
    private static func busy(_ status: HTTPResponse.Status) -> ScriptedTransport.Reply {
        .status(status, headers: [.retryAfter: "40"])
    }

    /// The client's own retry does not go out after the life of the key.
    @Test func keyEndsDuringAnAttempt() throws {
        let rules = KeyRules(lifetime: .seconds(30))
        let outcome = try run(.generated(rules), Self.busy(.serviceUnavailable), .json("{}"))
        #expect(outcome.requests.count == 1)
        guard case .dead(.keyExpired) = outcome.phase else {
            Issue.record("\(String(describing: outcome.phase))")
            return
        }
    }

    /// The life of a key does not begin while the attempt waits, nor with a refusal.
    @Test func keyBeginsLateInAnAttempt() throws {
        let rules = KeyRules(lifetime: .seconds(30))
        let outcome = try run(.generated(rules), Self.busy(.tooManyRequests), .json("{}"))
        #expect(outcome.requests.count == 2)
        #expect(outcome.phase == nil)
    }

    /// The client's own retry does not go out after the entry's own time.
    @Test func expiryDuringAnAttempt() throws {
        let outcome = try run(
            .generated(.stripe), lifetime: .seconds(30), Self.busy(.serviceUnavailable), .json("{}"))
        #expect(outcome.requests.count == 1)
        guard case .dead(.expired) = outcome.phase else {
            Issue.record("\(String(describing: outcome.phase))")
            return
        }
    }

    private static let seeOther = ScriptedTransport.Reply.status(
        .seeOther, headers: [.location: "/outcome"])
    private static let envelope = Envelope(success: 0, loginExpired: 11010, retryLater: 50301)

    /// At most once: what the server says about the outcome's page says nothing about the request before it.
    @Test func refusedOutcomes() throws {
        let session = Session()
        session.logIn(with: Credential(token: "a"))
        let refused = try run(
            .withoutKey(.atMostOnce), session: session, Self.seeOther, .status(.unauthorized), .json("{}"))
        let later = try run(
            .withoutKey(.atMostOnce), envelope: Self.envelope, Self.seeOther, .json("{\"code\":50301}"),
            .json("{\"code\":0,\"data\":{}}"))
        for outcome in [refused, later] {
            #expect(outcome.requests.map(\.method) == [.post, .get])
            guard case .dead(.uncertain) = outcome.phase else {
                Issue.record("\(String(describing: outcome.phase))")
                continue
            }
        }
    }

    /// At most once: a request that the server has refused in its envelope, since the login has expired, is sent again
    /// after the next login.
    @Test func reloginByEnvelope() throws {
        let session = Session(credential: Credential(token: "a")) { .just(Credential(token: "b")) }
        let outcome = try run(
            .withoutKey(.atMostOnce), session: session, envelope: Self.envelope,
            .json("{\"code\":11010}"), .json("{\"code\":0,\"data\":{}}"))
        #expect(outcome.requests.map { $0.headerFields[.authorization] } == ["Bearer a", "Bearer b"])
        #expect(outcome.phase == nil)
    }

    /// At most once: a login does not repeat a request whose answer has got lost.
    @Test func reloginAfterALoss() throws {
        let session = Session(credential: Credential(token: "a")) { .just(Credential(token: "b")) }
        let outcome = try run(
            .withoutKey(.atMostOnce), session: session, envelope: Self.envelope, Self.seeOther,
            .json("{\"code\":11010}"), .json("{\"code\":0,\"data\":{}}"))
        #expect(outcome.requests.filter { $0.method == .post }.count == 1)
    }
}
#endif
