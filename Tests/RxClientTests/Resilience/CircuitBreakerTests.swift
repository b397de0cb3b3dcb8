import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

@Suite struct CircuitBreakerTests {
    typealias Reply = ScriptedTransport.Reply

    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// Opens at two failures of four requests.
    private static let policy = CircuitBreaker.Policy(
        failureRatio: 0.5, minimumRequests: 4, window: .seconds(10), openDuration: .seconds(30), probes: 2)

    private func client(_ answers: [Reply]) -> (Client, ScriptedTransport) {
        fixture({ $0.circuitBreaker = Self.policy }, answers)
    }

    /// The effect of consecutive requests on the circuit: `+` succeeds, `-` fails, and a number lets seconds
    /// pass.
    /// The state after each is `c`losed, `o`pen or `h`alf-open.
    /// Closed, open after a failure ratio, half-open, closed again.
    @Test(arguments: [
        // Too few requests to decide.
        ("---", "ccc"), ("+++-", "cccc"),
        // Half of at least four.
        ("----", "ccco"), ("++--", "ccco"), ("+-+-", "ccco"), ("--++", "cccc"), ("--++-", "cccco"),
        ("+++++---", "cccccccc"), ("+++++-----", "ccccccccco"),
        // Failures from more than ten seconds ago do not count.
        ("--9--", "ccco"), ("---11-", "cccc"),
        // Open: no request passes for thirty seconds.
        ("----29-", "cccoo"), ("----30+", "cccoh"), ("----30++", "cccohc"), ("----30-", "cccoo"),
        ("----30+-", "cccoho"), ("----30++---", "cccohcccc"), ("----30++----", "cccohcccco"),
        ("----30-29+", "cccooo"), ("----30-30++", "cccoohc"),
    ])
    func timeline(events: String, states: String) throws {
        let breaker = CircuitBreaker(Self.policy, clock: clock)
        var seen = ""
        var pause = ""
        for event in events {
            if event.isNumber {
                pause.append(event)
                continue
            }
            if let seconds = Int(pause) { try clock.advance(by: .seconds(seconds)) }
            pause = ""
            let stream: Observable<Int, NetworkError> =
                event == "+" ? .just(1) : .fail(NetworkError(.connectionLost, ""))
            stream.circuitBreaker(breaker).subscribe()
            switch breaker.state.value {
            case .closed: seen += "c"
            case .open: seen += "o"
            case .halfOpen: seen += "h"
            }
        }
        #expect(seen == states)
    }

    /// Transport errors and statuses from 500 on are failures; decisions of the client are not.
    @Test(
        arguments: [
            (.resolve, true), (.connect, true), (.connectTimeout, true), (.tls, true), (.proxy, true),
            (.connectionLost, true), (.emptyReply, true), (.partialBody, true), (.invalidResponse, true),
            (.firstByteTimeout, true), (.idleTimeout, true), (.attemptTimeout, true), (.totalTimeout, true),
            (.queueTimeout, false), (.invalidURL, false), (.invalidHeader, false), (.file, false),
            (.cancelled, false), (.shutDown, false), (.forbiddenAddress, false),
        ] as [(NetworkError.Code, Bool)])
    func failures(code: NetworkError.Code, isFailure: Bool) throws {
        let (client, transport) = client([.failure(code)])
        for _ in 0..<6 { try fixture.outcome(client.get("/x"), within: .zero) }
        #expect(transport.requests.count == (isFailure ? 4 : 6))
    }

    /// Statuses.
    @Test(arguments: [(500, true), (503, true), (599, true), (404, false), (429, false), (401, false)])
    func statuses(code: Int, isFailure: Bool) throws {
        let (client, transport) = client([.status(.init(code: code))])
        for _ in 0..<6 { try fixture.outcome(client.get("/x"), within: .zero) }
        #expect(transport.requests.count == (isFailure ? 4 : 6))
    }

    /// Cancelled requests do not count.
    @Test func cancelled() throws {
        let (client, _) = client([.stall])
        let recorders = try fixture.burst(10, client.get("/x"))
        for recorder in recorders { recorder.cancel() }
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    /// Open, it fails at once with an error that has the start and end of the period, and nothing is sent.
    @Test func error() throws {
        let (client, transport) = client([.status(.internalServerError)])
        try clock.advance(by: .seconds(5))
        _ = try fixture.burst(4, client.get("/x"))
        #expect(client.circuitBreaker()?.state.value == .open(since: .seconds(5), until: .seconds(35)))
        try clock.advance(by: .seconds(10))
        let error = try #require(try fixture.outcome(client.get("/y"), within: .zero).failure)
        #expect(error.code == .circuitOpen)
        #expect(error.openCircuit == .seconds(5)..<(.seconds(35)))
        #expect(error.message.contains("10.0 seconds") && error.message.contains("20.0 seconds"))
        #expect(error.url?.path == "/v1/y")
        #expect(error.isUnsent)
        #expect(!error.isTransient)
        #expect(transport.requests.count == 4)
    }

    /// Attempts that the total time limit ends are failures, whatever the kind of the call.
    @Test func totals() throws {
        let (client, transport) = fixture(
            {
                $0.circuitBreaker = Self.policy
                $0.options.timeouts = Timeouts(total: .seconds(2))
            }, [.stall])
        try fixture.outcome(client.get("/x"), within: .seconds(2))
        try fixture.outcome(client.put("/x"), within: .seconds(2))
        try fixture.outcome(client.progress(of: .get("/x")), within: .seconds(2))
        #expect(client.circuitBreaker()?.state.value == .closed)
        try fixture.outcome(client.stream(.get("/x")), within: .seconds(2))
        #expect(client.circuitBreaker()?.state.value == .open(since: .seconds(8), until: .seconds(38)))
        #expect(transport.runningCount == 0)
        try clock.advance(by: .seconds(30))
        // A probe that does not get an answer either opens it again.
        #expect(try fixture.outcome(client.get("/x"), within: .seconds(2)).failure?.code == .totalTimeout)
        #expect(try fixture.outcome(client.get("/x"), within: .seconds(2)).failure?.code == .circuitOpen)
        #expect(transport.requests.count == 5)
    }

    /// The total time limit during a wait for a turn or between attempts is no failure of the host.
    @Test func totalsWithoutTheHost() throws {
        let (client, transport) = fixture(
            {
                $0.circuitBreaker = Self.policy
                $0.hostLimits = RequestLimits(concurrency: 1)
            }, [.stall])
        let first = Recorder(client.get("/x", options: RequestOptions(timeouts: .unlimited)), on: clock)
        let hurried = RequestOptions(timeouts: Timeouts(total: .seconds(2)))
        for _ in 0..<6 { try fixture.outcome(client.get("/x", options: hurried), within: .seconds(2)) }
        #expect(transport.requests.count == 1)
        #expect(client.circuitBreaker()?.state.value == .closed)
        first.cancel()
        // The caller leaves before the limit.
        for _ in 0..<6 {
            let recorder = try fixture.outcome(client.get("/x", options: hurried), within: .seconds(1))
            recorder.cancel()
        }
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    /// While it is open, stale-if-error has its stored responses (RFC 5861), and probes find the recovery.
    @Test func staleResponses() throws {
        let clock = clock
        let (client, transport) = fixture({
            $0.circuitBreaker = Self.policy
            $0.options.cachePolicy = .http
        }) { _ in
            let terms: HTTPFields = [.cacheControl: "max-age=0, stale-if-error=3600"]
            if clock.now == .zero { return .json("1", headers: terms) }
            return clock.now < .seconds(100) ? .status(.serviceUnavailable) : .json("2", headers: terms)
        }
        var texts: [String] = []
        for second in 0..<140 {
            let recorder = try fixture.outcome(client.get("/x"), within: .seconds(1))
            let response = try #require(recorder.values.first, "at \(second) s")
            if second > 0, response.text == "1" { #expect(response.cacheUse == .stale) }
            texts.append(response.text)
        }
        // Three failures of four open it at 3 s; the probes follow thirty seconds apart.
        #expect(texts == Array(repeating: "1", count: 123) + Array(repeating: "2", count: 17))
        #expect(
            transport.starts.map { Int($0 / .seconds(1)) } == [0, 1, 2, 3, 33, 63, 93] + Array(123..<140))
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    /// Its state is a signal.
    @Test func signal() throws {
        let (client, transport) = client([
            .failure(.connect), .failure(.connect), .failure(.connect), .failure(.connect), .json("1"),
        ])
        let states = Recorder(try #require(client.circuitBreaker()).state.observable, on: clock)
        for _ in 0..<4 { try fixture.outcome(client.get("/x"), within: .zero) }
        try clock.advance(by: .seconds(30))
        for _ in 0..<2 { try fixture.outcome(client.get("/x"), within: .zero) }
        #expect(states.values == [.closed, .open(since: .zero, until: .seconds(30)), .halfOpen, .closed])
        #expect(transport.requests.count == 6)
        client.circuitBreaker()?.reset()
        #expect(states.values.count == 4)
    }

    /// Half-open, as many requests as there are probes pass at a time; a cancelled one makes room.
    @Test func probes() throws {
        let answers = Script(Array(repeating: .failure(.connect), count: 4) + [.stall])
        let (client, transport) = fixture({ $0.circuitBreaker = Self.policy }) { _ in answers.next() }
        for _ in 0..<4 { try fixture.outcome(client.get("/x"), within: .zero) }
        try clock.advance(by: .seconds(30))
        let probes = try fixture.burst(5, client.get("/x"))
        #expect(transport.runningCount == 2)
        #expect(probes.count { $0.failure?.code == .circuitOpen } == 3)
        probes[0].cancel()
        _ = try fixture.burst(2, client.get("/x"))
        #expect(transport.runningCount == 2)
    }

    /// A stream as a probe is settled by its head, in both cases; the place is free while the body runs.
    @Test func streamedProbes() throws {
        let head = ScriptedTransport.Step.head(ResponseHead(status: .ok))
        let answers = Script(
            Array(repeating: .failure(.connect), count: 4)
                + Array(repeating: .steps(head, .chunk([1]), .stall), count: 4))
        let (client, transport) = fixture({ $0.circuitBreaker = Self.policy }) { _ in answers.next() }
        for _ in 0..<4 { try fixture.outcome(client.get("/x"), within: .zero) }
        try clock.advance(by: .seconds(30))
        let streams = (0..<2).map { _ in Recorder(client.stream(.get("/x")), on: clock) }
        try clock.advance(by: .zero)
        #expect(client.circuitBreaker()?.state.value == .closed)
        #expect(transport.runningCount == 2)
        for stream in streams { stream.cancel() }
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    /// An incomplete stream counts as a failure while the circuit is closed.
    @Test func brokenStreams() throws {
        let (client, _) = fixture({ $0.circuitBreaker = Self.policy }) { _ in
            .steps(.head(ResponseHead(status: .ok)), .chunk([1]), .fail(NetworkError(.partialBody, "cut")))
        }
        for _ in 0..<4 { try fixture.outcome(client.stream(.get("/x")), within: .zero) }
        #expect(client.circuitBreaker()?.state.value != .closed)
    }

    /// Responses to requests from before a change do not count.
    @Test func late() throws {
        let breaker = CircuitBreaker(Self.policy, clock: clock)
        let late = Signal<Void>()
        let slow = late.observable.setFailureType(to: NetworkError.self)
            .flatMap { Observable<Int, NetworkError>.fail(NetworkError(.connectionLost, "")) }
        for _ in 0..<8 { slow.circuitBreaker(breaker).subscribe() }
        for _ in 0..<4 {
            Observable<Int, NetworkError>.fail(NetworkError(.connect, "")).circuitBreaker(breaker).subscribe()
        }
        try clock.advance(by: .seconds(30))
        for _ in 0..<2 { Observable<Int, NetworkError>.just(1).circuitBreaker(breaker).subscribe() }
        #expect(breaker.state.value == .closed)
        late.send()
        #expect(breaker.state.value == .closed)
    }

    /// Each host has its own breaker, and it is off by default.
    @Test func hosts() throws {
        let (client, transport) = fixture(
            {
                $0.circuitBreaker = Self.policy
                $0.standbyURL = "https://standby.test"
            }) { $0.url.host() == "main.test" ? .failure(.connect) : .json("1") }
        for _ in 0..<6 { try fixture.outcome(client.get("/x"), within: .zero) }
        var call = InlineEndpoint(.get, "/x")
        call.options.server = .standby
        let answer = try fixture.outcome(client.request(call), within: .zero)
        #expect(answer.isFinished)
        #expect(client.circuitBreaker(of: .standby)?.state.value == .closed)
        #expect(transport.hosts.count { $0 == "main.test" } == 4)

        let (plain, unlimited) = fixture({ _ in }, [.failure(.connect)])
        #expect(plain.circuitBreaker() == nil)
        for _ in 0..<50 { try fixture.outcome(plain.get("/x"), within: .zero) }
        #expect(unlimited.requests.count == 50)
    }

    /// A random load: an open circuit never lets a request through.
    @Test(arguments: 1...4)
    func seeded(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let breaker = CircuitBreaker(Self.policy, clock: clock)
        var openings = 0
        for _ in 0..<5000 {
            let isFailing = Int.random(in: 0..<100, using: &random) < 40
            let before = breaker.state.value
            let stream = Observable<Int, NetworkError>.deferred {
                isFailing ? .fail(NetworkError(.connect, "")) : .just(1)
            }
            let recorder = Recorder(stream.circuitBreaker(breaker), on: clock)
            let passed = recorder.failure?.code != .circuitOpen
            if case .open(_, let until) = before { #expect(passed == (clock.now >= until)) }
            if before == .closed { #expect(passed) }
            if case .open = breaker.state.value, before == .closed { openings += 1 }
            try clock.advance(by: .milliseconds(Int.random(in: 0..<3000, using: &random)))
        }
        #expect(openings > 20)
    }
}
