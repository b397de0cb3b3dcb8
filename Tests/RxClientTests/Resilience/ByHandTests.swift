import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// A stage that is chained by hand has the same effect as in the pipeline of an endpoint: the same requests
/// at the same times to the same hosts, and the same ends.
@Suite struct ByHandTests {
    typealias Reply = ScriptedTransport.Reply
    typealias Make = @Sendable (Client) -> Observable<Response, NetworkError>

    /// One stage, configured and by hand.
    struct Stage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let configure: @Sendable (inout ClientConfiguration) -> Void
        /// The configuration that both share.
        var shared: @Sendable (inout ClientConfiguration) -> Void = { _ in }
        /// Made once for each client.
        let byHand: @Sendable (Client, VirtualScheduler) -> Observable<Response, NetworkError>
    }

    private static let retry = RetryPolicy<NetworkError>.exponentialBackoff(
        maxRetries: 3, backoff: .constant(.seconds(1)))
    private static let budget = (ratio: 0.1, floor: 0.2)
    private static let breaker = CircuitBreaker.Policy(minimumRequests: 3, openDuration: .seconds(7))
    private static let limits = RequestLimits(concurrency: 2, rate: .perSecond(1, burst: 3))

    private static let stages = [
        Stage(testDescription: "retry", configure: { $0.options.retry = retry }) { client, _ in
            client.response(.get("/x")).retry(retry)
        },
        Stage(
            testDescription: "retry within a budget",
            configure: {
                $0.options.retry = retry
                $0.retryBudget = RetryBudget(ratio: budget.ratio, floor: budget.floor)
            }
        ) { client, clock in
            let account = RetryBudget(ratio: budget.ratio, floor: budget.floor, clock: clock)
            let counted = Observable<Response, NetworkError>(scheduler: clock) { observer in
                if let origin = client.servers.pair.main.origin {
                    account.account(of: origin).recordRequest()
                }
                client.response(.get("/x")).subscribe(observer)
            }
            return counted.retry(retry.limited(by: account))
        },
        Stage(
            testDescription: "retry within the client's budget", configure: { $0.options.retry = retry },
            shared: { $0.retryBudget = RetryBudget(ratio: budget.ratio, floor: budget.floor) }
        ) { client, _ in
            guard let budget = client.configuration.retryBudget else { return .empty() }
            return client.response(.get("/x")).retry(retry.limited(by: budget))
        },
        Stage(testDescription: "circuit breaker", configure: { $0.circuitBreaker = breaker }) {
            client, clock in
            client.response(.get("/x")).circuitBreaker(CircuitBreaker(breaker, clock: clock))
        },
        Stage(
            testDescription: "limits in all",
            configure: {
                $0.limits = limits
                $0.options.timeouts = Timeouts(queue: .seconds(4))
            }
        ) { client, clock in
            client.response(.get("/x"))
                .limited(by: RequestLimiter(total: limits, clock: clock), within: .seconds(4))
        },
        Stage(
            testDescription: "limits for each host",
            configure: {
                $0.hostLimits = limits
                $0.options.timeouts = Timeouts(queue: .seconds(4))
            }
        ) { client, clock in
            client.response(.get("/x")).limited(
                by: RequestLimiter(perHost: limits, clock: clock), host: "main.test", within: .seconds(4))
        },
        Stage(
            testDescription: "hedging",
            configure: {
                $0.options.hedging = .after(.milliseconds(300))
                $0.retryBudget = nil
            }
        ) { client, _ in
            client.response(.get("/x")).hedge(.after(.milliseconds(300)), if: true)
        },
        Stage(
            testDescription: "hedging by percentile",
            configure: {
                $0.options.hedging = .percentile(0.5)
                $0.retryBudget = nil
            }
        ) { client, _ in
            client.response(.get("/x")).hedge(.percentile(0.5), if: InlineEndpoint(.get, "/x").isRepeatable)
        },
        Stage(
            testDescription: "hedging within a budget",
            configure: { $0.options.hedging = .after(.milliseconds(300)) },
            shared: { $0.retryBudget = RetryBudget(ratio: budget.ratio, floor: budget.floor) }
        ) { client, clock in
            guard let origin = client.servers.pair.main.origin,
                let budget = client.configuration.retryBudget
            else { return .empty() }
            return client.response(.get("/x"))
                .hedge(.after(.milliseconds(300)), if: true, asking: { budget.spend(for: origin) })
        },
        Stage(
            testDescription: "failover",
            configure: { _ in },
            shared: {
                $0.standbyURL = "https://standby.test/v1"
                $0.failoverProbeInterval = .seconds(5)
            }
        ) { client, _ in
            client.response(.get("/x"), from: .main)
                .failover(to: client.response(.get("/x"), from: .standby), through: client.servers)
        },
        // In a client the time before a hedge does not count in the queue; by hand it begins with the subscription.
        Stage(
            testDescription: "all together without hedging",
            configure: {
                $0.options.retry = retry
                $0.circuitBreaker = breaker
                $0.hostLimits = limits
            },
            shared: {
                $0.standbyURL = "https://standby.test/v1"
                $0.failoverProbeInterval = .seconds(5)
                $0.retryBudget = RetryBudget(ratio: 1, floor: 100)
            }
        ) { client, clock in
            let limiter = RequestLimiter(perHost: limits, clock: clock)
            func at(_ server: Servers.Role) -> Observable<Response, NetworkError> {
                client.response(.get("/x"), from: server)
                    .limited(by: limiter, host: "\(server)")
                    .circuitBreaker(CircuitBreaker(breaker, clock: clock))
            }
            return at(.main).failover(to: at(.standby), through: client.servers).retry(retry)
        },
        Stage(
            testDescription: "hedging beside a breaker and a standby server",
            configure: {
                $0.options.retry = retry
                $0.circuitBreaker = breaker
                $0.options.hedging = .after(.milliseconds(300))
            },
            shared: {
                $0.standbyURL = "https://standby.test/v1"
                $0.failoverProbeInterval = .seconds(5)
                $0.retryBudget = RetryBudget(ratio: 1, floor: 100)
            }
        ) { client, clock in
            func at(_ server: Servers.Role) -> Observable<Response, NetworkError> {
                client.response(.get("/x"), from: server)
                    .circuitBreaker(CircuitBreaker(breaker, clock: clock))
                    .hedge(.after(.milliseconds(300)), if: true)
            }
            return at(.main).failover(to: at(.standby), through: client.servers).retry(retry)
        },
    ]

    /// The events of both, in the same words.
    private func run(
        _ stage: Stage, seed: UInt64, isByHand: Bool
    ) throws -> (exchanges: [String], ends: [String]) {
        let fixture = ResilienceFixture()
        let random = Mutex(SeededRandom(seed))
        let (client, transport) = fixture(
            { configuration in
                stage.shared(&configuration)
                if !isByHand { stage.configure(&configuration) }
            }
        ) { request in
            let (kind, delay) = random.withLock { random in
                (Int.random(in: 0..<10, using: &random), Int.random(in: 0..<900, using: &random))
            }
            let wait = Duration.milliseconds(delay)
            return switch kind {
            case 0..<5: .json("1", after: wait)
            case 5..<7: .status(.serviceUnavailable, after: wait)
            case 7: .failure(.connectionLost, after: wait)
            default: .failure(.connect, after: wait)
            }
        }
        let stream = isByHand ? stage.byHand(client, fixture.clock) : client.get("/x")
        var recorders: [Recorder<Response, NetworkError>] = []
        for _ in 0..<80 {
            recorders.append(Recorder(stream, on: fixture.clock))
            try fixture.clock.advance(
                by: .milliseconds(random.withLock { Int.random(in: 0..<700, using: &$0) }))
        }
        try fixture.clock.run()
        let exchanges = transport.exchanges.map {
            "\($0.startedAt) \($0.request.url.host() ?? "") \($0.outcome) \($0.endedAt ?? .zero)"
        }
        let ends = recorders.map { recorder in
            let end = recorder.failure.map(\.code.rawValue) ?? "\(recorder.isFinished)"
            return "\(end) \(recorder.events.last?.time ?? .zero)"
        }
        return (exchanges, ends)
    }

    @Test(arguments: stages, 1...4 as ClosedRange<UInt64>)
    func same(stage: Stage, seed: UInt64) throws {
        let (configured, byHand) = (
            try run(stage, seed: seed, isByHand: false), try run(stage, seed: seed, isByHand: true)
        )
        #expect(configured.exchanges == byHand.exchanges)
        #expect(configured.ends == byHand.ends)
        #expect(configured.exchanges.count > 8)
        #expect(Set(configured.ends.map { $0.prefix { $0 != " " } }).count > 1, "some succeed and some fail")
    }
}
