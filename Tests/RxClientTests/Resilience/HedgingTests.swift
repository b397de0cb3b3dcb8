import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

@Suite struct HedgingTests {
    typealias Reply = ScriptedTransport.Reply

    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func client(
        _ answers: [Reply], _ hedging: Hedging = .after(.milliseconds(100)),
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.options.hedging = hedging
                $0.options.timeouts = .unlimited
                configure(&$0)
            }, answers)
    }

    /// Two attempts with their responses, and the result: the winner, the time, and the fate of both
    /// exchanges.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answers: [Reply]
        let value: String?
        let time: Int
        let outcomes: [ScriptedTransport.Exchange.Outcome]
    }

    static let rows = [
        Row(
            testDescription: "quick: one attempt", answers: [.json("1", after: .milliseconds(99))],
            value: "1", time: 99, outcomes: [.finished]),
        Row(
            testDescription: "slow: the second wins",
            answers: [.json("1", after: .milliseconds(500)), .json("2", after: .milliseconds(50))],
            value: "2", time: 150, outcomes: [.cancelled, .finished]),
        Row(
            testDescription: "slow: the first wins all the same",
            answers: [.json("1", after: .milliseconds(120)), .json("2", after: .milliseconds(50))],
            value: "1", time: 120, outcomes: [.finished, .cancelled]),
        Row(
            testDescription: "a failure before the second is the failure",
            answers: [.failure(.connectionLost, after: .milliseconds(50)), .json("2")],
            value: nil, time: 50, outcomes: [.failed(.connectionLost)]),
        Row(
            testDescription: "a failure of the first is made good by the second",
            answers: [
                .failure(.connectionLost, after: .milliseconds(120)), .json("2", after: .milliseconds(50)),
            ], value: "2", time: 150, outcomes: [.failed(.connectionLost), .finished]),
        Row(
            testDescription: "a failure of the second is made good by the first",
            answers: [.json("1", after: .milliseconds(300)), .status(.badGateway)],
            value: "1", time: 300, outcomes: [.finished, .finished]),
        Row(
            testDescription: "of two failures the last stands",
            answers: [
                .failure(.connectionLost, after: .milliseconds(300)), .failure(.emptyReply),
            ], value: nil, time: 300, outcomes: [.failed(.connectionLost), .failed(.emptyReply)]),
        Row(
            testDescription: "a temporary status of the first waits for the second",
            answers: [
                .status(.serviceUnavailable, after: .milliseconds(120)),
                .json("2", after: .milliseconds(100)),
            ], value: "2", time: 200, outcomes: [.finished, .finished]),
        Row(
            testDescription: "a final status of the first ends the race",
            answers: [.status(.notFound, after: .milliseconds(150)), .stall],
            value: nil, time: 150, outcomes: [.finished, .cancelled]),
        Row(
            testDescription: "a final status of the second ends the race",
            answers: [.stall, .status(.forbidden, after: .milliseconds(50))],
            value: nil, time: 150, outcomes: [.cancelled, .finished]),
        Row(
            testDescription: "so does an error that no attempt can mend",
            answers: [.failure(.tooManyRedirects, after: .milliseconds(150)), .stall],
            value: nil, time: 150, outcomes: [.failed(.tooManyRedirects), .cancelled]),
    ]

    @Test(arguments: rows)
    func timeline(row: Row) throws {
        let (client, transport) = client(row.answers)
        let recorder = try fixture.outcome(client.get("/x").map(\.text))
        #expect(recorder.values == (row.value.map { [$0] } ?? []))
        #expect(recorder.events.first?.time == .milliseconds(row.time))
        #expect(transport.exchanges.map(\.outcome) == row.outcomes)
        #expect(Set(transport.requests.map(\.id)).count == 1)
        #expect(transport.requests.map(\.attempt) == Array(1...row.outcomes.count))
        #expect(clock.pendingCount == 0)
    }

    /// Only requests that may be sent twice.
    @Test(arguments: [
        (InlineEndpoint(.get, "/x"), 2), (InlineEndpoint(.put, "/x", .text("a")), 2),
        (InlineEndpoint(.delete, "/x"), 2),
        (InlineEndpoint(.post, "/x", .text("a")), 1), (InlineEndpoint(.patch, "/x"), 1),
        (InlineEndpoint(.post, "/x", headers: ["idempotency-KEY": "1"]), 2),
        (InlineEndpoint(.put, "/x", .body(.stream(.just([1])))), 1),
        (InlineEndpoint(.put, "/x", .body(.stream(.just([1]), isReplayable: true))), 2),
        (InlineEndpoint(.put, "/x", .multipart([Multipart.Part("a", .stream(.just([1])))])), 1),
    ])
    func repeatable(call: InlineEndpoint, attempts: Int) throws {
        let (client, transport) = client([.stall])
        let recorder = try fixture.outcome(client.request(call))
        #expect(transport.requests.count == attempts)
        #expect(call.isRepeatable == (attempts == 2))
        recorder.cancel()
        #expect(transport.runningCount == 0)
    }

    /// Never for progress, streams and event sources, which deliver values before they are complete.
    @Test func notHedged() throws {
        let (client, transport) = client([.stall])
        let progress = try fixture.outcome(client.progress(of: .get("/x")))
        let stream = try fixture.outcome(client.stream(.get("/x")))
        #expect(transport.requests.count == 2)
        for scope in [progress.cancel, stream.cancel] { scope() }
    }

    /// A 401 ends the race, and the session logs in at once.
    @Test func unauthorized() throws {
        let session = Session(credential: Credential(token: "old")) { .just(Credential(token: "new")) }
        let (client, transport) = fixture(
            {
                $0.options.hedging = .after(.milliseconds(100))
                $0.session = session
            }
        ) { request in
            if request.token == "new" { return .json("1") }
            return request.attempt == 1 ? .status(.unauthorized, after: .milliseconds(150)) : .stall
        }
        let recorder = try fixture.outcome(client.get("/x").map(\.text))
        #expect(recorder.values == ["1"])
        #expect(recorder.events.first?.time == .milliseconds(150))
        #expect(transport.starts == [.zero, .milliseconds(100), .milliseconds(150)])
    }

    /// The refusal of an open circuit does not end the attempt that is under way.
    @Test func refused() throws {
        let answers = Script([.json("1", after: .milliseconds(300)), .failure(.connect)])
        let (client, _) = fixture({
            $0.options.hedging = .after(.milliseconds(100))
            $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 1)
        }) { _ in answers.next() }
        let recorder = Recorder(client.get("/x").map(\.text), on: clock)
        try clock.advance(by: .milliseconds(50))
        var plain = InlineEndpoint(.get, "/y")
        plain.options.hedging = .never
        try fixture.outcome(client.request(plain))
        #expect(recorder.values == ["1"])
    }

    /// The time before a second attempt begins when the first is sent: not while it waits for a login.
    @Test func login() throws {
        let clock = clock
        let session = Session(requiresLogin: true) {
            Observable<Credential, NetworkError>.just(Credential(token: "a")).delay(.seconds(5), on: clock)
        }
        let (client, transport) = client([.stall]) { $0.session = session }
        let recorder = try fixture.outcome(client.get("/x"), within: .seconds(60))
        #expect(transport.starts == [.seconds(5), .milliseconds(5100)])
        recorder.cancel()
    }

    /// Nor while it waits for its turn or in an interceptor, and only the time after that is a latency.
    @Test func queue() throws {
        struct Slow: Interceptor {
            func intercept(
                _ request: Request, in call: CallContext, _ next: Next
            ) -> Observable<CallEvent, NetworkError> {
                Observable<Void, NetworkError>.just(()).delay(.seconds(1), on: call.scheduler)
                    .flatMap { next(request) }
            }
        }
        let (client, transport) = client([
            .json("1", after: .seconds(3)), .json("2", after: .milliseconds(40)),
        ]) {
            $0.hostLimits = RequestLimits(concurrency: 1)
        }
        let latencies = try #require(client.servers.pair.main.host?.latencies)
        for _ in 0..<9 { latencies.record(.zero) }
        let events = Recorder(client.traffic, on: clock)
        var first = InlineEndpoint(.get, "/x")
        first.options.hedging = .never
        let slow = RequestOptions(interceptors: Interceptors(attempt: [Slow()]))
        let recorders = [
            Recorder(client.request(first), on: clock), Recorder(client.get("/y", options: slow), on: clock),
        ]
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(transport.starts == [.zero, .seconds(4)])
        #expect(!events.values.contains { if case .hedged = $0.kind { true } else { false } })
        #expect(latencies.percentile(1) == .milliseconds(40))
    }

    /// An endpoint has its own delay, or none.
    @Test func endpoints() throws {
        let (client, transport) = client([.stall])
        var call = InlineEndpoint(.get, "/x")
        call.options.hedging = .after(.seconds(2))
        _ = try fixture.outcome(client.request(call), within: .seconds(10))
        #expect(transport.starts == [.zero, .seconds(2)])
        call.options.hedging = .never
        _ = try fixture.outcome(client.request(call), within: .seconds(10))
        #expect(transport.requests.count == 3)
    }

    /// Each hedge is taken from the retry budget, and without budget there is none.
    @Test func budget() throws {
        let (client, transport) = client([.stall]) { $0.retryBudget = RetryBudget(ratio: 0, floor: 0.3) }
        let events = Recorder(client.traffic, on: clock)
        _ = try fixture.burst(10, client.get("/x"))
        try clock.advance(by: .seconds(5))
        #expect(transport.requests.count == 13)
        #expect(events.values.count { if case .hedged = $0.kind { true } else { false } } == 3)
    }

    /// A percentile of the recent attempts to the host; the initial value before there are ten.
    @Test func percentile() throws {
        let (client, transport) = client([.stall], .percentile(0.9, initially: .seconds(3)))
        let latencies = try #require(client.servers.pair.main.host?.latencies)
        for number in 1...9 { latencies.record(.milliseconds(number * 10)) }
        try fixture.outcome(client.get("/x"), within: .seconds(9)).cancel()
        #expect(transport.starts == [.zero, .seconds(3)])
        for number in 10...20 { latencies.record(.milliseconds(number * 10)) }
        try fixture.outcome(client.get("/x"), within: .seconds(9)).cancel()
        #expect(transport.starts.suffix(2) == [.seconds(9), .milliseconds(9180)])
    }

    /// Percentiles are taken of attempts with a response.
    @Test func noted() throws {
        let (client, transport) = client(
            Array(repeating: .json("1", after: .milliseconds(50)), count: 10) + [.stall],
            .percentile(0.5))
        for _ in 0..<11 { try fixture.outcome(client.get("/x"), within: .seconds(10)).cancel() }
        #expect(transport.starts.suffix(2) == [.seconds(100), .milliseconds(100_050)])
    }

    /// The rank of a percentile.
    @Test(arguments: [(0.0, 1), (0.01, 1), (0.5, 50), (0.95, 95), (1, 100), (2, 100), (-1, 1), (.nan, 1)])
    func rank(share: Double, rank: Int) {
        let latencies = RecentLatencies()
        #expect(latencies.percentile(share) == nil)
        for number in (1...100).reversed() { latencies.record(.milliseconds(number)) }
        #expect(latencies.percentile(share) == .milliseconds(rank))
    }

    /// The last 128 attempts are kept.
    @Test func memory() {
        let latencies = RecentLatencies()
        for number in 0..<1000 { latencies.record(.milliseconds(number)) }
        #expect(latencies.percentile(0) == .milliseconds(872))
    }

    /// The time of an abandoned attempt counts, so that hedges do not make the times look short.
    @Test func censored() throws {
        let answers = Script([.stall, .json("2")])
        let (client, _) = fixture { _ in answers.next() }
        let latencies = RecentLatencies()
        let stream = client.response(.get("/x"))
            .hedge(.after(.milliseconds(100)), if: true, among: latencies)
        try fixture.outcome(stream)
        for _ in 0..<8 { latencies.record(.zero) }
        #expect(latencies.percentile(1) == .milliseconds(100))
    }

    /// The first value decides: the other attempt is cancelled at once, and none of its values follows.
    @Test func streams() throws {
        let clock = clock
        let (count, cancelled) = (MutableProperty(0), MutableProperty<[Duration]>([]))
        let stream = Observable<Int, NetworkError>.deferred(on: clock) {
            () -> Observable<Int, NetworkError> in
            count.update { $0 += 1 }
            let number = count.value
            let first = Duration.milliseconds(number == 1 ? 150 : 20)
            let values = [first, first + .milliseconds(100)].map { time in
                Observable<Int, NetworkError>.just(number).delay(time, on: clock)
            }
            return .merge(values).handleEvents(onCancel: { cancelled.update { $0.append(clock.now) } })
        }
        let recorder = try fixture.outcome(stream.hedge(.after(.milliseconds(100)), if: true))
        #expect(recorder.values == [2, 2])
        #expect(recorder.isFinished)
        #expect(cancelled.value == [.milliseconds(120)])
    }

    /// Both attempts are in the events, the loser as abandoned.
    @Test func events() throws {
        let (client, _) = client([.stall, .json("2", after: .milliseconds(50))])
        let events = Recorder(client.traffic, on: clock)
        try fixture.outcome(client.get("/x"))
        let told = events.values.map { event in "\(event.kind.name) \(event.exchange)" }
        #expect(
            told == [
                "started 0", "sent 1", "hedged 1", "sent 2", "transfer 2", "transfer 2", "transfer 2",
                "abandoned 1", "ended 2",
            ])
    }
}

extension TrafficEvent.Kind {
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
