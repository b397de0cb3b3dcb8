import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

@Suite struct RequestLimiterTests {
    typealias Reply = ScriptedTransport.Reply

    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func client(
        _ limits: RequestLimits = RequestLimits(), perHost: RequestLimits = RequestLimits(),
        _ configure: (inout ClientConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (Request) -> Reply = { _ in .json("1", after: .seconds(1)) }
    ) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.limits = limits
                $0.hostLimits = perHost
                $0.allowsOtherOrigins = true
                configure(&$0)
            }, answer: answer)
    }

    private func seconds(_ transport: ScriptedTransport) -> [Double] {
        transport.starts.map { $0 / .seconds(1) }
    }

    /// A limited number at a time, in the order of arrival.
    @Test func concurrency() throws {
        let (client, transport) = client(RequestLimits(concurrency: 2))
        for number in 0..<5 { client.get("/\(number)").subscribe() }
        try clock.run()
        #expect(seconds(transport) == [0, 0, 1, 1, 2])
        #expect(transport.requests.map { $0.url.lastPathComponent } == (0..<5).map(String.init))
    }

    /// A token bucket: its burst at once, then evenly.
    @Test(
        arguments: [
            (RequestRate.perSecond(1), [0, 1, 2, 3, 4, 5]),
            (.perSecond(2, burst: 3), [0, 0, 0, 0.5, 1, 1.5]),
            (.count(30, per: .seconds(60), burst: 2), [0, 0, 2, 4, 6, 8]),
            (.perSecond(0.5, burst: 10), [0, 0, 0, 0, 0, 0]),
        ] as [(RequestRate, [Double])])
    func rate(rate: RequestRate, starts: [Double]) throws {
        let (client, transport) = client(RequestLimits(rate: rate))
        for _ in starts { client.get("/x").subscribe() }
        try clock.run()
        for (start, expected) in zip(seconds(transport), starts) { #expect(abs(start - expected) < 1e-6) }
        #expect(transport.requests.count == starts.count)
        try clock.advance(by: .seconds(100))
        client.get("/x").subscribe()
        #expect(transport.requests.count == starts.count + 1, "the bucket has filled again")
    }

    /// Hosts take turns: many requests to one host do not delay a single one to another.
    @Test func fairness() throws {
        let (client, transport) = client(RequestLimits(concurrency: 1))
        for _ in 0..<4 { client.get("/x").subscribe() }
        client.get("https://other.test/x").subscribe()
        try clock.run()
        #expect(transport.hosts == ["main.test", "main.test", "other.test", "main.test", "main.test"])
    }

    /// Limits per host do not affect other hosts, rates included.
    @Test func perHost() throws {
        let (client, transport) = client(perHost: RequestLimits(concurrency: 1, rate: .perSecond(0.25)))
        for host in ["a", "a", "b", "b", "c"] { client.get("https://\(host).test/x").subscribe() }
        try clock.run()
        #expect(transport.hosts == ["a.test", "b.test", "c.test", "a.test", "b.test"])
        #expect(seconds(transport) == [0, 0, 0, 4, 4])
    }

    /// A waiting request can be cancelled, and is skipped.
    @Test func cancelling() throws {
        let (client, transport) = client(RequestLimits(concurrency: 1))
        let first = Recorder(client.get("/0"), on: clock)
        let waiting = (1...3).map { number in Recorder(client.get("/\(number)"), on: clock) }
        #expect(client.limiter?.waitingCount == 3)
        waiting[0].cancel()
        #expect(client.cancel(.url("/2")) == 1)
        #expect(client.limiter?.waitingCount == 1)
        try clock.run()
        #expect(first.isFinished)
        #expect(waiting[1].failure?.code == .cancelled)
        #expect(transport.requests.map { $0.url.lastPathComponent } == ["0", "3"])
        #expect(seconds(transport) == [0, 1])
    }

    /// Cancelling all waiting requests leaves no timer behind.
    @Test func noTimers() throws {
        let (client, _) = client(
            RequestLimits(rate: .perSecond(0.001)), { $0.options.timeouts = Timeouts(queue: .seconds(9)) })
        client.get("/x").subscribe()
        let waiting = (0..<3).map { _ in Recorder(client.get("/x"), on: clock) }
        try clock.advance(by: .seconds(2))
        #expect(clock.pendingCount > 0)
        for recorder in waiting { recorder.cancel() }
        #expect(clock.pendingCount == 0)
    }

    /// The queue timeout includes the wait, and the rest of it is for the transport's queue.
    @Test func queueTimeout() throws {
        let (client, transport) = client(
            RequestLimits(concurrency: 1), { $0.options.timeouts = Timeouts(queue: .seconds(2.5)) }
        ) {
            _ in .json("1", after: .seconds(2))
        }
        let recorders = (0..<3).map { _ in Recorder(client.get("/x"), on: clock) }
        try clock.run()
        #expect(recorders.map(\.isFinished) == [true, true, false])
        #expect(recorders[2].failure?.code == .queueTimeout)
        #expect(recorders[2].failure?.url?.path == "/v1/x")
        #expect(recorders[2].events.map(\.time) == [.seconds(2.5)])
        #expect(transport.requests.map(\.timeouts.queue) == [.seconds(2.5), .seconds(0.5)])
    }

    /// Waiting, and its end, are in the events.
    @Test func events() throws {
        let (client, _) = client(RequestLimits(concurrency: 1))
        let events = Recorder(client.traffic, on: clock)
        for _ in 0..<2 { client.get("/x").subscribe() }
        try clock.run()
        let told = events.values.compactMap { event -> String? in
            switch event.kind {
            case .queued: "\(event.time) queued"
            case .admitted(let wait): "\(event.time) after \(wait)"
            default: nil
            }
        }
        #expect(told == ["0.0 seconds queued", "1.0 seconds after 1.0 seconds"])
    }

    /// A place is held until the response is complete, and a retry waits outside for its own.
    @Test func retries() throws {
        let (client, transport) = client(
            RequestLimits(concurrency: 1),
            { $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(5))) }
        ) { $0.url.lastPathComponent == "bad" ? .status(.badGateway) : .json("1", after: .seconds(1)) }
        client.get("/bad").subscribe()
        for _ in 0..<2 { client.get("/x").subscribe() }
        try clock.run()
        #expect(transport.requests.map { $0.url.lastPathComponent } == ["bad", "x", "x", "bad"])
        #expect(seconds(transport) == [0, 0, 1, 5])
    }

    /// A request that follows from another is not blocked by it.
    @Test func chain() throws {
        let (client, transport) = client(RequestLimits(concurrency: 1))
        let recorder = Recorder(client.get("/1").flatMap { _ in client.get("/2") }.take(1), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.count == 2)
    }

    /// Among very many hosts, one that is held keeps its limits, and one that is not held is dropped.
    @Test func manyHosts() throws {
        let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 1), clock: clock)
        let (client, transport) = client()
        func call(_ host: String) -> Observable<Response, NetworkError> {
            client.response(.get("/x")).limited(by: limiter, host: host)
        }
        let held = call("held")
        weak let dropped = limiter.host("dropped")
        for number in 0..<2_100 { _ = call("\(number)") }
        let isDropped = dropped == nil
        #expect(isDropped)
        held.subscribe()
        call("held").subscribe()
        try clock.run()
        #expect(seconds(transport) == [0, 1])
    }

    /// 429 with Retry-After closes the host until then, for sixty seconds at most.
    @Test(arguments: [
        ("5", 5), ("Sun, 06 Nov 1994 08:49:44 GMT", 7), ("3600", 60), ("soon", 0), ("0", 0),
    ])
    func tooMany(value: String, seconds: Int) throws {
        let limiter = RequestLimiter(
            perHost: RequestLimits(rate: .perSecond(1000, burst: 1000)), clock: clock,
            currentDate: { Date(timeIntervalSince1970: 784_111_777) })
        let answers = Script([.status(.tooManyRequests, headers: [.retryAfter: value]), .json("1")])
        let (client, transport) = fixture { _ in answers.next() }
        func send(_ host: String) {
            client.response(.get("/x")).limited(by: limiter, host: host).subscribe()
        }
        send("a")
        try clock.advance(by: .zero)
        for host in ["a", "a", "b"] { send(host) }
        try clock.run()
        let wait = Duration.seconds(seconds)
        #expect(transport.starts == [.zero, .zero, wait, wait])
    }

    /// 503 closes nothing, and neither does 429 without a time.
    @Test func notClosed() throws {
        for answer: Reply in [
            .status(.serviceUnavailable, headers: [.retryAfter: "9"]), .status(.tooManyRequests),
        ] {
            let (client, transport) = client(perHost: RequestLimits(concurrency: 10), answer: { _ in answer })
            for _ in 0..<3 { try fixture.outcome(client.get("/x"), within: .zero) }
            #expect(transport.requests.count == 3)
        }
    }

    /// The requests of a login are not blocked by requests that wait for it.
    @Test(arguments: [false, true])
    func login(usesSession: Bool) throws {
        let box = Mutex<Client?>(nil)
        let session = Session(credential: Credential(token: "old"), clock: clock) {
            guard let client = box.withLock({ $0 }) else { return .never() }
            var call = InlineEndpoint(.post, "/login")
            call.options.usesSession = usesSession
            return client.request(call).map { _ in Credential(token: "new") }
        }
        let (client, transport) = client(RequestLimits(concurrency: 1), { $0.session = session }) { request in
            let isKnown = request.headerFields[.authorization] == "Bearer new"
            guard request.url.lastPathComponent == "x" else { return .json("{}", after: .seconds(1)) }
            return isKnown ? .json("1", after: .seconds(1)) : .status(.unauthorized, after: .seconds(1))
        }
        box.withLock { $0 = client }
        let recorders = (0..<4).map { _ in Recorder(client.get("/x"), on: clock) }
        try clock.run()
        #expect(recorders.map(\.isFinished) == [true, true, true, true])
        #expect(transport.requests.count { $0.url.lastPathComponent == "login" } == 1)
    }

    /// A random load: never too many, none lost, none stuck.
    @Test(arguments: 1...6)
    func seeded(seed: UInt64) throws {
        let random = Mutex(SeededRandom(seed))
        func draw(_ range: Range<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }
        let limits = RequestLimits(concurrency: 5, rate: .perSecond(20, burst: 8))
        let (client, transport) = client(
            limits, perHost: RequestLimits(concurrency: 2, rate: .perSecond(8, burst: 4)), { _ in }
        ) { _ in
            let (delay, fate) = random.withLock { random in
                (
                    Duration.milliseconds(Int.random(in: 0..<500, using: &random)),
                    Int.random(in: 0..<5, using: &random)
                )
            }
            return fate == 0 ? .failure(.connectionLost, after: delay) : .json("1", after: delay)
        }
        var recorders: [Recorder<Response, NetworkError>] = []
        var cancelled = 0
        for number in 0..<600 {
            recorders.append(Recorder(client.get("https://h\(draw(0..<4)).test/\(number)"), on: clock))
            if draw(0..<10) == 0, let recorder = recorders.randomElement(), recorder.completion == nil {
                recorder.cancel()
                cancelled += 1
            }
            try clock.advance(by: .milliseconds(draw(0..<80)))
            #expect(transport.runningCount <= 5)
            let running = transport.exchanges.filter { $0.outcome == .running }
            #expect(
                Dictionary(grouping: running) { $0.request.url.host() }.values.allSatisfy { $0.count <= 2 })
        }
        try clock.run()
        #expect(recorders.count { $0.completion == nil } <= cancelled)
        #expect(client.limiter?.waitingCount == 0)
        #expect(clock.pendingCount == 0)
        // No second has more starts than the burst plus the tokens of that second.
        let starts = transport.starts
        for (index, start) in starts.enumerated() {
            let within = starts[index...].prefix { $0 <= start + .seconds(1) }.count
            #expect(within <= 8 + 20)
        }
    }
}
