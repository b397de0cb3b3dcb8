import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

@Suite struct FailoverTests {
    typealias Reply = ScriptedTransport.Reply

    private let servers = FailoverFixture()
    private var fixture: ResilienceFixture { servers.fixture }
    private var clock: VirtualScheduler { servers.clock }
    private var health: FailoverFixture.Health { servers.health }

    /// A failure of the main server, and whether a request with a method goes to the standby server.
    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let failure: Reply
        let goesOn: Bool
        let testDescription: String

        init(_ method: String, _ failure: Reply, _ goesOn: Bool, _ name: String) {
            self.method = method
            self.failure = failure
            self.goesOn = goesOn
            testDescription = "\(method) \(name)"
        }
    }

    static let rows: [Row] = {
        var rows: [Row] = []
        for code: NetworkError.Code in [.resolve, .connect, .proxy, .connectTimeout, .tls] {
            rows += ["GET", "POST"].map { Row($0, .failure(code), true, code.rawValue) }
        }
        for code: NetworkError.Code in [
            .connectionLost, .emptyReply, .partialBody, .firstByteTimeout, .idleTimeout, .attemptTimeout,
            .queueTimeout, .invalidURL, .invalidHeader, .shutDown, .tooLarge,
        ] {
            rows += ["GET", "POST"].map { Row($0, .failure(code), false, code.rawValue) }
        }
        for status in [502, 503, 504] {
            rows.append(Row("GET", .status(.init(code: status)), true, "\(status)"))
            rows.append(Row("DELETE", .status(.init(code: status)), true, "\(status)"))
            rows.append(Row("POST", .status(.init(code: status)), false, "\(status)"))
        }
        for status in [500, 501, 505, 429, 404, 401] {
            rows.append(Row("GET", .status(.init(code: status)), false, "\(status)"))
        }
        return rows
    }()

    /// Only requests that were not sent, or 502, 503, 504 if the request may be sent twice.
    @Test(
        arguments: rows
    )
    func triggers(row: Row) throws {
        health["main.test"] = row.failure
        let (client, transport) = servers.client()
        let call = InlineEndpoint(try #require(HTTPRequest.Method(row.method)), "/x")
        let recorder = try fixture.outcome(client.request(call), within: .zero)
        #expect(transport.hosts == (row.goesOn ? ["main.test", "standby.test"] : ["main.test"]))
        #expect(recorder.isFinished == row.goesOn)
        #expect(client.servers.active.value == (row.goesOn ? .standby : .main))
    }

    /// A POST with Idempotency-Key switches after 503; one whose body can be sent only once never does.
    @Test func bodies() throws {
        health["main.test"] = .status(.serviceUnavailable)
        let (client, transport) = servers.client()
        try fixture.outcome(client.post("/x", headers: ["Idempotency-Key": "1"]), within: .zero)
        #expect(transport.hosts == ["main.test", "standby.test"])
        client.servers.use(.main)
        health["main.test"] = .failure(.connect)
        let recorder = try fixture.outcome(client.post("/x", .body(.stream(.just([1])))), within: .zero)
        #expect(recorder.failure?.code == .connect)
    }

    /// Sticky: the standby server serves until a probe of the main one succeeds; one probe at a time.
    @Test func sticky() throws {
        health["main.test"] = .failure(.connect)
        let (client, transport) = servers.client()
        let states = Recorder(client.servers.active.observable, on: clock)
        for _ in 0..<3 { try fixture.outcome(client.get("/x"), within: .seconds(1)) }
        #expect(transport.hosts == ["main.test", "standby.test", "standby.test", "standby.test"])

        // The probe goes to the standby server, too, so that its request succeeds.
        try clock.advance(to: .seconds(31))
        let probes = try fixture.burst(3, client.get("/x"))
        #expect(probes.map(\.isFinished) == [true, true, true])
        #expect(
            transport.hosts.dropFirst(4)
                == ["main.test", "standby.test", "standby.test", "standby.test"][...])

        // The next probe only after the interval.
        health["main.test"] = .json("\"back\"")
        try fixture.outcome(client.get("/x"), within: .seconds(29))
        #expect(transport.hosts.last == "standby.test")
        try clock.advance(by: .seconds(1))
        try fixture.outcome(client.get("/x"), within: .seconds(1))
        #expect(transport.hosts.last == "main.test")
        #expect(states.events.map(\.time) == [.zero, .zero, .seconds(61)])
        #expect(states.values == [.main, .standby, .main])
    }

    /// Only a request that may be sent twice probes.
    @Test func probing() throws {
        health["main.test"] = .failure(.connect)
        let (client, transport) = servers.client()
        try fixture.outcome(client.get("/x"), within: .seconds(31))
        try fixture.outcome(client.post("/x"), within: .zero)
        #expect(transport.hosts.last == "standby.test")
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.hosts.suffix(2) == ["main.test", "standby.test"])
    }

    /// The main server's responses to a probe.
    @Test(arguments: [
        (Reply.status(.notFound), true), (.status(.internalServerError), true), (.json("1"), true),
        (.status(.serviceUnavailable), false), (.failure(.connect), false),
        (.failure(.connectionLost), false), (.failure(.firstByteTimeout), false),
    ])
    func probeOutcomes(answer: Reply, isBack: Bool) throws {
        health["main.test"] = .failure(.connect)
        let (client, _) = servers.client()
        try fixture.outcome(client.get("/x"), within: .seconds(31))
        health["main.test"] = answer
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(client.servers.active.value == (isBack ? .main : .standby))
    }

    /// After a cancelled probe the next request probes.
    @Test func cancelledProbe() throws {
        health["main.test"] = .failure(.connect)
        let (client, transport) = servers.client()
        try fixture.outcome(client.get("/x"), within: .seconds(31))
        health["main.test"] = .stall
        let probe = Recorder(client.get("/x"), on: clock)
        try fixture.outcome(client.get("/x"), within: .seconds(1))
        #expect(transport.hosts.suffix(2) == ["main.test", "standby.test"])
        probe.cancel()
        health["main.test"] = .json("1")
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(client.servers.active.value == .main)
    }

    /// A probe that the total time limit ends has failed; the requests after it go to the standby server.
    @Test func silentProbe() throws {
        health["main.test"] = .failure(.connect)
        let (client, transport) = servers.client { $0.options.timeouts = Timeouts(total: .seconds(2)) }
        try fixture.outcome(client.get("/x"), within: .seconds(31))
        health["main.test"] = .stall
        #expect(try fixture.outcome(client.get("/x"), within: .seconds(3)).failure?.code == .totalTimeout)
        for _ in 0..<3 { #expect(try fixture.outcome(client.get("/x"), within: .seconds(3)).isFinished) }
        #expect(
            transport.hosts.dropFirst(2) == ["main.test", "standby.test", "standby.test", "standby.test"])
    }

    /// If the standby server does not respond either, its error is final and the main server stays active.
    @Test func bothDown() throws {
        health["main.test"] = .failure(.connect)
        health["standby.test"] = .status(.badGateway)
        let (client, transport) = servers.client()
        for _ in 0..<2 {
            let recorder = try fixture.outcome(client.get("/x"), within: .zero)
            #expect(recorder.failure?.status == .badGateway)
            #expect(recorder.failure?.attempt == 2)
        }
        #expect(transport.hosts == ["main.test", "standby.test", "main.test", "standby.test"])
        #expect(client.servers.active.value == .main)
    }

    /// When the active standby server fails, the main server takes over at once if it responds.
    @Test func standbyDown() throws {
        let (client, transport) = servers.client()
        client.servers.use(.standby)
        health["standby.test"] = .failure(.connect)
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.hosts == ["standby.test", "main.test"])
        #expect(client.servers.active.value == .main)
    }

    /// A request that began before a change of servers does not affect the present state.
    @Test func late() throws {
        health["main.test"] = .failure(.connect, after: .seconds(9))
        let (client, _) = servers.client(probeInterval: .seconds(1))
        let slow = Recorder(client.get("/slow"), on: clock)
        health["main.test"] = .failure(.connect)
        try fixture.outcome(client.get("/x"), within: .seconds(2))
        health["main.test"] = .json("1")
        try fixture.outcome(client.get("/x"), within: .seconds(1))
        #expect(client.servers.active.value == .main)
        try clock.run()
        #expect(slow.isFinished)
        #expect(client.servers.active.value == .main)
    }

    /// An attempt at a standby server that has been replaced does not affect the state.
    @Test(arguments: [Servers.Role.main, .standby])
    func replacedStandby(active: Servers.Role) throws {
        let (client, transport) = servers.client()
        client.servers.use(active)
        let hosts = active == .main ? ["main.test", "standby.test"] : ["standby.test", "main.test"]
        health[hosts[0]] = .failure(.connect, after: .seconds(1))
        let running = Recorder(client.get("/x"), on: clock)
        client.servers.standby = "https://second.test/v1"
        try clock.run()
        #expect(running.isFinished)
        #expect(transport.hosts == hosts)
        #expect(client.servers.active.value == active)
    }

    /// A probe that began before the standby server was replaced does not hold back the next one.
    @Test func replacedStandbyDuringProbe() throws {
        let (client, transport) = servers.client()
        client.servers.use(.standby)
        try clock.advance(by: .seconds(30))
        health["main.test"] = .stall
        let probe = Recorder(client.get("/x"), on: clock)
        client.servers.standby = "https://second.test/v1"
        health["main.test"] = .json("1")
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.hosts == ["main.test", "main.test"])
        #expect(client.servers.active.value == .main)
        probe.cancel()
    }

    /// A retry stays at the servers of its request, and does not affect the state of those that replace them.
    @Test func replacedBeforeRetry() throws {
        health["main.test"] = .failure(.connect)
        health["standby.test"] = .status(.badGateway)
        let (client, transport) = servers.client {
            $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(1)))
        }
        let running = try fixture.outcome(client.get("/x"), within: .zero)
        client.servers.main = "https://staging.test/v1"
        health["standby.test"] = .json("1")
        try clock.run()
        #expect(running.isFinished)
        #expect(transport.hosts == ["main.test", "standby.test", "main.test", "standby.test"])
        #expect(client.servers.active.value == .main)
    }

    /// Endpoints that choose a server keep it, and without a rule there is no failover.
    @Test func pinned() throws {
        health["main.test"] = .failure(.connect)
        let (client, transport) = servers.client()
        var call = InlineEndpoint(.get, "/x")
        call.options.server = .main
        #expect(try fixture.outcome(client.request(call)).failure?.code == .connect)
        #expect(transport.hosts == ["main.test"])
        let (plain, other) = servers.client { $0.failoverProbeInterval = nil }
        #expect(try fixture.outcome(plain.get("/x")).failure?.code == .connect)
        #expect(other.hosts == ["main.test"])
    }

    /// A failover is not a retry: it needs neither policy nor budget, and later retries stay at the server.
    @Test func noRetry() throws {
        health["main.test"] = .failure(.connect)
        health["standby.test"] = .status(.internalServerError)
        let (client, transport) = servers.client {
            $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(1)))
            $0.retryBudget = RetryBudget(ratio: 0, floor: 0.1)
        }
        try fixture.outcome(client.get("/x"))
        #expect(transport.hosts == ["main.test", "standby.test", "standby.test"])
        #expect(transport.starts == [.zero, .zero, .seconds(1)])
    }

    /// An open circuit of the main server leads to the standby server at once.
    @Test func circuit() throws {
        health["main.test"] = .failure(.connectionLost)
        let (client, transport) = servers.client {
            $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 2)
        }
        for _ in 0..<2 { try fixture.outcome(client.get("/x"), within: .zero) }
        #expect(try fixture.outcome(client.post("/x"), within: .zero).isFinished)
        #expect(transport.hosts == ["main.test", "main.test", "standby.test"])
    }

    /// Streams and event sources switch as well, before their response has begun.
    @Test func streams() throws {
        health["main.test"] = .failure(.connect)
        health["standby.test"] = .bytes(Array("a\nb".utf8))
        let (client, transport) = servers.client()
        let lines = try fixture.outcome(client.stream(.get("/x")).lines())
        #expect(lines.values == ["a", "b"])
        health["standby.test"] = .steps(
            .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])),
            .chunk(Array("data: 1\n\n".utf8)), .stall)
        client.servers.use(.main)
        let events = Recorder(client.events(.get("/e")).messages(), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(events.values.map(\.data) == ["1"])
        #expect(transport.hosts == ["main.test", "standby.test", "main.test", "standby.test"])
        events.cancel()
    }

    /// The listeners are notified.
    @Test func events() throws {
        health["main.test"] = .failure(.connect)
        let (client, _) = servers.client()
        let events = Recorder(client.traffic, on: clock)
        try fixture.outcome(client.get("/x"), within: .zero)
        let told = events.values.compactMap { event -> String? in
            guard case .failover(let role, let error) = event.kind else { return nil }
            return "\(role) \(error.code.rawValue)"
        }
        #expect(told == ["standby connect"])
    }

    /// Random outages: a request fails only when both servers are down.
    @Test(arguments: 1...5)
    func seeded(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let (client, _) = servers.client(probeInterval: .seconds(5))
        var isUp = ["main.test": true, "standby.test": true]
        var changes = 0
        let states = Recorder(client.servers.active.observable, on: clock)
        for _ in 0..<2000 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                let host = Bool.random(using: &random) ? "main.test" : "standby.test"
                let up = Bool.random(using: &random)
                isUp[host] = up
                health[host] = up ? .json("1") : .failure(.connect)
                changes += 1
            }
            let recorder = try fixture.outcome(
                client.get("/x"), within: .milliseconds(Int.random(in: 0..<2000, using: &random)))
            #expect(recorder.isFinished == isUp.values.contains(true))
            let active = client.servers.active.value == .main ? "main.test" : "standby.test"
            if isUp.values.contains(true) { #expect(isUp[active] == true) }
        }
        #expect(states.values.count > 20)
    }
}
