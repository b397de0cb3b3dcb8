import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// A rate that several clients share, as if they were processes.
@Suite struct SharedQuotaTests {
    /// Reserves permits on one time line for all clients, and can be unreachable.
    private final class Quota: SharedQuota {
        struct Contents {
            /// The time of the next free permit.
            var next = Duration.zero
            var asked: [Int] = []
            var isReachable = true
            var members = 1
        }

        let contents = Mutex(Contents())
        let clock: VirtualScheduler
        let closed = Signal<RequestLimits.Closure>()
        let latency: Duration
        /// Whether there is only one client, which does not get its own closures.
        let isAlone: Bool

        init(on clock: VirtualScheduler, latency: Duration = .milliseconds(1), isAlone: Bool = false) {
            self.clock = clock
            self.latency = latency
            self.isAlone = isAlone
        }

        var asked: [Int] { contents.withLock { $0.asked } }
        var closures: Observable<RequestLimits.Closure, Never> { closed.observable }
        var memberCount: Int { contents.withLock { $0.members } }

        func close(_ scope: String, for duration: Duration) {
            if !isAlone { closed.send(RequestLimits.Closure(scope: scope, duration: duration)) }
        }

        func reserve(
            _ count: Int, in scope: String, at rate: RequestRate
        ) -> Observable<RequestLimits.Permits, NetworkError> {
            Observable<Void, Never>.timer(latency, on: clock).setFailureType(to: NetworkError.self)
                .map { () throws(NetworkError) in
                    let now = self.clock.now
                    let gap = Duration.seconds(1 / rate.perSecond)
                    let batch = self.contents.withLock { contents -> RequestLimits.Permits? in
                        contents.asked.append(count)
                        guard contents.isReachable else { return nil }
                        let start = max(now, contents.next)
                        contents.next = start + gap * count
                        return RequestLimits.Permits(count: count, wait: start - now, gap: gap)
                    }
                    guard let batch else { throw NetworkError(.connect, "unreachable") }
                    return batch
                }
        }
    }

    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func client(
        _ quota: Quota, rate: Double = 10, scope: String? = "key",
        answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply = { _ in .json("1") }
    ) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.hostLimits = RequestLimits(rate: .perSecond(rate)).sharing(quota, scope: scope)
                $0.allowsOtherOrigins = true
            }, answer: answer)
    }

    /// A field of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func largeFields() throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        let fields = [
            ("X-RateLimit-Remaining", "3;\(marks)"), ("X-RateLimit-Reset", "5,\(marks)"),
            ("X-RateLimit-Limit", marks),
        ]
        var head = HTTPFields()
        for (name, value) in fields {
            let name = try #require(HTTPField.Name(name))
            head[name] = value
        }
        let said = RateLimitFields(ResponseHead(status: .ok, headerFields: head), at: Date())
        #expect(said?.remaining == 3)
        #expect(said?.timeToReset == .seconds(5))
    }

    /// Clients that share a rate send no more than it together, and ask in batches.
    @Test func together() throws {
        let quota = Quota(on: clock)
        quota.contents.withLock { $0.members = 4 }
        let clients = (0..<4).map { _ in client(quota, rate: 100) }
        for _ in 0..<100 { for (client, _) in clients { client.get("/x").subscribe() } }
        try clock.run()
        let starts = clients.flatMap { $0.1.starts }.sorted()
        #expect(starts.count == 400)
        for (index, start) in starts.enumerated() {
            // Each permit has its hundredth of a second.
            #expect(start >= .milliseconds(10 * index), "request \(index) at \(start)")
        }
        #expect(try #require(starts.last) < .milliseconds(4100))
        #expect(quota.asked.count <= 28, "a permit costs less than a tenth of a command")
    }

    /// Each of several busy clients gets the same share.
    @Test func fairness() throws {
        let quota = Quota(on: clock)
        quota.contents.withLock { $0.members = 3 }
        let clients = (0..<3).map { _ in client(quota, rate: 30) }
        for (client, _) in clients.prefix(1) { for _ in 0..<300 { client.get("/x").subscribe() } }
        for (client, _) in clients.dropFirst() { for _ in 0..<60 { client.get("/x").subscribe() } }
        try clock.advance(to: .seconds(5))
        let counts = clients.map { $0.1.starts.count }
        #expect(counts.allSatisfy { (40...61).contains($0) }, "\(counts)")
    }

    /// A 429 of one client holds all of them, and a response without remaining requests, too.
    @Test func closures() throws {
        for isRefusal in [true, false] {
            let fixture = ResilienceFixture()
            let quota = Quota(on: fixture.clock)
            let limits = RequestLimits(rate: .perSecond(100)).sharing(quota, scope: "key")
            let (first, _) = fixture({ $0.hostLimits = limits }) { _ in
                isRefusal
                    ? .status(.tooManyRequests, headers: [.retryAfter: "5"])
                    : .json("1", headers: [.init("RateLimit")!: "\"a\";r=0;t=5"])
            }
            let (second, transport) = fixture({ $0.hostLimits = limits }, answer: { _ in .json("1") })
            first.get("/x", options: RequestOptions(retry: .never)).subscribe(onFailure: { _ in })
            try fixture.clock.advance(by: .milliseconds(100))
            second.get("/y").subscribe()
            try fixture.clock.run()
            #expect(transport.starts.count == 1)
            #expect(try #require(transport.starts.first) >= .seconds(5))
        }
    }

    /// A shared total is held for all hosts of the process to which one of them has said so.
    @Test(
        arguments: [
            .status(.tooManyRequests, headers: [.retryAfter: "5"]),
            .json("1", headers: [.init("RateLimit")!: "\"a\";r=0;t=5"]),
        ] as [ScriptedTransport.Reply])
    func closedTotal(_ answer: ScriptedTransport.Reply) throws {
        let quota = Quota(on: clock, isAlone: true)
        let (client, transport) = fixture({
            $0.limits = RequestLimits(rate: .perSecond(100)).sharing(quota, scope: "key")
            $0.allowsOtherOrigins = true
        }) { request in
            request.url.host() == "main.test" ? answer : .json("1")
        }
        client.get("/x").subscribe(onFailure: { _ in })
        try clock.advance(by: .milliseconds(100))
        client.get("https://other.test/y").subscribe()
        try clock.run()
        #expect(transport.hosts == ["main.test", "other.test"])
        #expect(try #require(transport.starts.last) >= .seconds(5))
    }

    /// Without the quota each client takes its share of the rate, and returns to the quota.
    @Test func detached() throws {
        let quota = Quota(on: clock)
        quota.contents.withLock {
            $0.members = 5
            $0.isReachable = false
        }
        let (client, transport) = client(quota, rate: 50)
        for _ in 0..<100 { client.get("/x").subscribe() }
        try clock.advance(to: .milliseconds(2950))
        #expect((28...32).contains(transport.starts.count), "\(transport.starts.count) in 3 s at 10 a second")
        quota.contents.withLock { $0.isReachable = true }
        try clock.advance(to: .seconds(5))
        #expect(transport.starts.count > 60, "\(transport.starts.count)")
        #expect(quota.asked.count < 14)
    }

    /// A request that gives up returns nothing, and nobody waits for it.
    @Test func cancelled() throws {
        let quota = Quota(on: clock)
        let (client, transport) = client(quota, rate: 1, scope: nil)
        let given = (0..<3).map { _ in client.get("/x").subscribe() }
        client.get("/y").subscribe()
        for subscription in given { subscription.cancel() }
        try clock.run()
        #expect(transport.requests.map { $0.url.path } == ["/v1/y"])
        #expect(transport.starts.count == 1)
    }

    // MARK: - The stock

    private func stock(_ rate: RequestRate = .perSecond(10)) -> PermitStock { PermitStock(rate) }

    /// Permits may be used from their times on, a burst together.
    @Test func times() throws {
        var stock = stock()
        #expect(stock.demand(waiting: 5, memberCount: 1, at: .zero) == 5)
        #expect(stock.demand(waiting: 5, memberCount: 1, at: .zero) == nil, "one reservation at a time")
        #expect(stock.wait(at: .zero) == PermitStock.unknownWait)
        stock.receive(
            RequestLimits.Permits(count: 5, wait: .milliseconds(200), gap: .milliseconds(100), burst: 2),
            at: .zero)
        var times: [Duration] = []
        var now = Duration.zero
        while stock.count(at: now) > 0 {
            now += stock.wait(at: now)
            times.append(now)
            stock.take(at: now)
        }
        #expect(times == [200, 200, 200, 300, 400].map { .milliseconds($0) })
    }

    /// Permits age two seconds after their time.
    @Test(
        arguments: [
            (2.0, 5), (2.25, 2), (2.35, 1), (2.45, 0), (100, 0),
        ] as [(Double, Int)])
    func ages(seconds: Double, left: Int) {
        var stock = stock()
        _ = stock.demand(waiting: 5, memberCount: 1, at: .zero)
        stock.receive(
            RequestLimits.Permits(count: 5, wait: .milliseconds(200), gap: .milliseconds(100), burst: 2),
            at: .zero)
        #expect(stock.count(at: .seconds(seconds)) == left)
    }

    /// A reservation is for a second of the process's demand, and at most for its share.
    @Test func sizes() {
        for (waiting, members, size) in [(1, 1, 1), (7, 1, 7), (500, 1, 100), (500, 8, 13), (500, 1000, 1)] {
            var stock = stock(.perSecond(100))
            #expect(stock.demand(waiting: waiting, memberCount: members, at: .zero) == size)
        }
        var busy = stock(.perSecond(100))
        _ = busy.demand(waiting: 100, memberCount: 1, at: .zero)
        busy.receive(RequestLimits.Permits(count: 20), at: .zero)
        for _ in 0..<20 { busy.take(at: .zero) }
        #expect(busy.demand(waiting: 0, memberCount: 1, at: .zero) == 20, "reserved before it is needed")
        var idle = stock(.perSecond(100))
        _ = idle.demand(waiting: 1, memberCount: 1, at: .zero)
        idle.receive(RequestLimits.Permits(count: 1), at: .zero)
        idle.take(at: .zero)
        #expect(idle.demand(waiting: 0, memberCount: 1, at: .zero) == nil)
    }

    /// Impossible numbers of a quota neither trap nor give more than was asked for.
    @Test func lies() {
        let extremes: [Duration] = [.zero, .seconds(-5), .seconds(1 << 60), .nanoseconds(1)]
        for wait in extremes {
            for gap in extremes {
                for (count, burst) in [(-3, 0), (0, 5), (1 << 40, -7), (3, 1 << 40)] {
                    var stock = stock()
                    _ = stock.demand(waiting: 2, memberCount: 0, at: .zero)
                    stock.receive(
                        RequestLimits.Permits(count: count, wait: wait, gap: gap, burst: burst), at: .zero)
                    #expect(stock.count(at: .zero) <= 256)
                    #expect(stock.wait(at: .zero) >= .zero)
                    #expect(stock.wait(at: .zero) <= PermitStock.unknownWait)
                    for second in 1...4 {
                        let now = Duration.seconds(second)
                        if stock.wait(at: now) == .zero { stock.take(at: now) }
                        _ = stock.count(at: now)
                    }
                }
            }
        }
    }
}
