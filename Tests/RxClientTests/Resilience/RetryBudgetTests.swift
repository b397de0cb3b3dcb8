import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

@Suite struct RetryBudgetTests {
    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func account(
        ratio: Double = 0.2, floor: Double = 10, window: Duration = .seconds(10)
    ) throws -> RetryBudget.Account {
        let budget = RetryBudget(ratio: ratio, floor: floor, window: window, clock: clock)
        return budget.account(of: try origin("https://a.test"))
    }

    private func origin(_ url: String) throws -> Origin {
        try #require(URL(string: url).flatMap { Origin($0) })
    }

    /// Among very many hosts, one that is held stays the only one of its origin, and others are dropped.
    @Test func manyHosts() throws {
        let budget = RetryBudget(clock: clock)
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.retryBudget = budget
        let hosts = HostRegistry(configuration, on: clock)
        let held = try origin("https://held.test")
        let (host, account) = (hosts[held], budget.account(of: held))
        weak let dropped = try hosts[origin("https://dropped.test")]
        for number in 0..<2_100 { _ = try hosts[origin("https://\(number).test")] }
        let isDropped = dropped == nil
        #expect(isDropped)
        #expect(hosts[held] === host)
        #expect(budget.account(of: held) === account)
    }

    private func spentRetries(_ account: RetryBudget.Account, of attempts: Int = 10_000) -> Int {
        (0..<attempts).count { _ in
            guard account.spend() else { return false }
            // Its retries do not count as requests.
            account.recordRequest()
            return true
        }
    }

    /// One retry for five requests, or a hundred in ten seconds, whichever is more.
    @Test(arguments: [(0, 100), (1, 100), (499, 100), (505, 101), (1000, 200), (100_000, 20_000)])
    func allowance(requests: Int, retries: Int) throws {
        let account = try account()
        for _ in 0..<requests { account.recordRequest() }
        #expect(spentRetries(account, of: 30_000) == retries)
        #expect(spentRetries(account) == 0)
    }

    /// The ratio, the floor and the window can be set.
    @Test(arguments: [(0.5, 0.0, 10, 50), (0, 1, 10, 10), (0, 0, 10, 0), (0.1, 0, 1, 10), (1, 0, 60, 100)])
    func settings(ratio: Double, floor: Double, seconds: Int, retries: Int) throws {
        let account = try account(ratio: ratio, floor: floor, window: .seconds(seconds))
        for _ in 0..<100 { account.recordRequest() }
        #expect(spentRetries(account) == retries)
    }

    /// The window slides: requests older than ten seconds neither add to the budget nor use it.
    @Test func sliding() throws {
        let account = try account(ratio: 1, floor: 0)
        for second in 0..<10 {
            for _ in 0..<10 { account.recordRequest() }
            #expect(spentRetries(account) == 10, "in second \(second)")
            try clock.advance(by: .seconds(1))
        }
        #expect(spentRetries(account) == 0)
        for _ in 0..<100 { account.recordRequest() }
        #expect(spentRetries(account, of: 50) == 50)
        try clock.advance(by: .seconds(20))
        #expect(spentRetries(account) == 0)
    }

    /// The floor refills second by second.
    @Test func floor() throws {
        let account = try account(ratio: 0)
        #expect(spentRetries(account, of: 10) == 10)
        try clock.advance(by: .seconds(5))
        #expect(spentRetries(account) == 90)
        try clock.advance(by: .seconds(5))
        #expect(spentRetries(account) == 10)
        try clock.advance(by: .seconds(5))
        #expect(spentRetries(account) == 90)
    }

    /// A random load never has more retries than the rule allows, in any order.
    @Test(arguments: 1...5)
    func seeded(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let account = try account(ratio: 0.2, floor: 2, window: .seconds(10))
        var requests: [Duration] = []
        var retries: [Duration] = []
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                account.recordRequest()
                requests.append(clock.now)
            case 5..<9:
                if account.spend() {
                    // Its retries do not count as requests.
                    account.recordRequest()
                    retries.append(clock.now)
                }
            default: try clock.advance(by: .milliseconds(Int.random(in: 0..<200, using: &random)))
            }
            // Up to 15 requests are counted late, and a tenth of the window is dropped at a time.
            let start = clock.now - .seconds(9)
            let used = retries.reversed().prefix { $0 > start }.count
            let known = requests.reversed().prefix { $0 > clock.now - .seconds(11) }.count + 15
            #expect(Double(used) <= max(0.2 * Double(known), 20))
            if used > 10_000 { break }
        }
        #expect(retries.count > 100)
    }

    /// When the budget is spent the first error is final, with the number of attempts; listeners are
    /// notified.
    @Test func spent() throws {
        let (client, transport) = fixture(
            {
                $0.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
                $0.retryBudget = RetryBudget(ratio: 0, floor: 0.3)
            }, [.status(.serviceUnavailable)])
        let events = Recorder(client.traffic, on: clock)
        let recorders = try fixture.burst(2, client.get("/x"))
        try clock.run()
        #expect(transport.requests.count == 5)
        #expect(recorders.map { $0.failure?.attempt }.sorted { $0 ?? 0 < $1 ?? 0 } == [2, 3])
        #expect(recorders.allSatisfy { $0.failure?.status == .serviceUnavailable })
        let refusals = events.values.count { if case .retryRefused = $0.kind { true } else { false } }
        #expect(refusals == 1)
    }

    /// On by default: of a thousand requests that fail at once two hundred are retried.
    @Test func defaults() throws {
        let (client, transport) = fixture(
            { $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(1))) },
            [.failure(.connectionLost, after: .seconds(1))])
        _ = try fixture.burst(1000, client.get("/x"))
        try clock.run()
        #expect(transport.requests.count == 1200)
    }

    /// Without a budget the policy alone decides.
    @Test func off() throws {
        let (client, transport) = fixture(
            {
                $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(1)))
                $0.retryBudget = nil
            }, [.failure(.connectionLost, after: .seconds(1))])
        _ = try fixture.burst(1000, client.get("/x"))
        try clock.run()
        #expect(transport.requests.count == 2000)
    }

    /// Each host has its own account, also through an absolute URL; clients can share a budget.
    @Test func hosts() throws {
        let budget = RetryBudget(ratio: 0, floor: 0.1)
        let configure: (inout ClientConfiguration) -> Void = {
            $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.zero))
            $0.retryBudget = budget
            $0.allowsOtherOrigins = true
        }
        let (one, first) = fixture(configure, [.status(.badGateway)])
        let (other, second) = fixture(configure, [.status(.badGateway)])
        _ = try fixture.burst(3, one.get("/x"))
        _ = try fixture.burst(3, one.get("https://elsewhere.test/x"))
        _ = try fixture.burst(3, other.get("/x"))
        try clock.run()
        #expect(first.hosts.count { $0 == "main.test" } == 4)
        #expect(first.hosts.count { $0 == "elsewhere.test" } == 4)
        #expect(second.requests.count == 3)
    }

    /// A wait that the deadline forbids uses none of it.
    @Test func deadline() throws {
        let (client, transport) = fixture(
            {
                $0.options.retry = .exponentialBackoff(maxRetries: 1, backoff: .constant(.seconds(5)))
                $0.retryBudget = RetryBudget(ratio: 0, floor: 0.1)
                $0.options.timeouts = Timeouts(total: .seconds(3))
            }, [.status(.badGateway)])
        _ = try fixture.burst(5, client.get("/x"))
        try clock.run()
        #expect(transport.requests.count == 5)
        let account = try #require(client.servers.pair.main.host?.budget)
        #expect(account.spend())
    }

    private static let oneRetry = RetryPolicy<NetworkError>.exponentialBackoff(
        maxRetries: 1, backoff: .constant(.seconds(1)))

    /// A policy limited by the client's own budget pays once for a retry.
    @Test func once() throws {
        let budget = RetryBudget(ratio: 0, floor: 0.4)
        let (client, transport) = fixture(
            {
                $0.options.retry = Self.oneRetry.limited(by: budget).limited(by: budget)
                $0.retryBudget = budget
            }, [.status(.badGateway)])
        _ = try fixture.burst(6, client.get("/x"))
        try clock.run()
        #expect(transport.requests.count == 6 + 4)
    }

    /// A retry that one of two budgets refuses, or the deadline, costs the other nothing.
    @Test func refused() throws {
        let main = try origin("https://main.test")
        let (one, other) = (
            RetryBudget(ratio: 0, floor: 0.1, clock: clock), RetryBudget(ratio: 0, floor: 0, clock: clock)
        )
        for (outer, own, total) in [
            (one, other, nil), (other, one, nil), (one, one, Duration.seconds(1) / 2),
        ] {
            let (client, transport) = fixture(
                {
                    $0.options.retry = Self.oneRetry.limited(by: outer)
                    $0.retryBudget = own
                    $0.options.timeouts = Timeouts(total: total)
                }, [.status(.badGateway)])
            #expect(try fixture.outcome(client.get("/x"), within: .zero).failure?.status == .badGateway)
            #expect(transport.requests.count == 1)
        }
        #expect(one.spend(for: main))
        #expect(!one.spend(for: main))
    }

    /// A retry that is cancelled in its wait gives its credit back, in the client and by hand.
    @Test(arguments: [false, true])
    func givenBack(isByHand: Bool) throws {
        let budget = RetryBudget(ratio: 0, floor: 0.1, clock: clock)
        let (client, transport) = fixture(
            {
                $0.options.retry = isByHand ? .never : Self.oneRetry
                $0.retryBudget = isByHand ? nil : budget
            }, [.status(.badGateway)])
        let call = client.get("/x")
        let stream = isByHand ? call.retry(Self.oneRetry.limited(by: budget)) : call
        for _ in 0..<3 {
            let recorder = try fixture.outcome(stream, within: .milliseconds(500))
            #expect(recorder.completion == nil)
            recorder.cancel()
        }
        try fixture.outcome(stream, within: .seconds(2))
        try fixture.outcome(stream, within: .seconds(2))
        #expect(transport.requests.count == 3 + 2 + 1)
        #expect(clock.pendingCount == 0)
    }

    /// A credit goes back to the time at which it was taken, and the request that it was for is not awaited.
    @Test func credits() throws {
        let account = try account(ratio: 0, floor: 0.1)
        let first = try #require(account.credit())
        try clock.advance(by: .seconds(5))
        #expect(account.credit() == nil)
        first.giveBack()
        let second = try #require(account.credit())
        try clock.advance(by: .seconds(20))
        #expect(account.spend())
        // Its time is over.
        second.giveBack()
        #expect(!account.spend())

        let other = RetryBudget(ratio: 1, floor: 0, clock: clock).account(of: try origin("https://b.test"))
        other.recordRequest()
        try #require(other.credit()).giveBack()
        other.recordRequest()
        #expect(spentRetries(other, of: 10) == 2)
    }

    /// Accounts of idle hosts that nobody holds are dropped.
    @Test func forgotten() throws {
        let budget = RetryBudget(ratio: 0, floor: 0.1, clock: clock)
        weak let first = budget.account(of: try origin("https://first.test"))
        #expect(first?.spend() == true)
        for number in 0..<3000 { _ = budget.account(of: try origin("https://h\(number).test")) }
        #expect(first != nil, "it is not idle")
        try clock.advance(by: .seconds(60))
        for number in 0..<3000 { _ = budget.account(of: try origin("https://i\(number).test")) }
        #expect(first == nil)
    }

    /// Extreme windows and ratios do not trap.
    @Test func extremes() throws {
        for (ratio, floor, window): (Double, Double, Duration) in [
            (.infinity, .infinity, .seconds(Int.max)), (-1, -1, .zero), (.nan, .nan, .seconds(-5)),
        ] {
            let account = try account(ratio: ratio, floor: floor, window: window)
            for _ in 0..<20 { account.recordRequest() }
            _ = account.spend()
        }
        try clock.advance(by: .seconds(1 << 40))
        #expect(spentRetries(try account()) == 100)
    }
}
