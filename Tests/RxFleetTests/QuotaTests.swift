#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxFleet

/// One limit for the processes that share a store.
@Suite struct QuotaTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let store: MemoryStore

    init() { store = MemoryStore(on: clock, latency: .milliseconds(1)) }

    private struct Process {
        let store: MemoryStore
        let quota: FleetQuota
        let client: Client
        let transport: ScriptedTransport
        let events: Recorder<FleetEvent, Never>
    }

    private func processes(
        _ count: Int, _ rate: RequestRate, scope: String? = "key",
        answer: @escaping @Sendable (Int) -> ScriptedTransport.Reply = { _ in .json("1") }
    ) -> [Process] {
        (0..<count).map { number in
            let connection = store.connection(on: clock, latency: .milliseconds(1))
            let quota = FleetQuota(in: connection, clock: clock) { count }
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            configuration.hostLimits = RequestLimits(rate: rate).shared(through: quota, scope: scope)
            let transport = ScriptedTransport(on: clock) { _ in answer(number) }
            return Process(
                store: connection, quota: quota,
                client: Client(configuration: configuration, transport: transport), transport: transport,
                events: Recorder(quota.events, on: clock))
        }
    }

    private func send(_ count: Int, through process: Process) {
        for _ in 0..<count { process.client.get("/x").subscribe(onFailure: { _ in }) }
    }

    private func starts(_ processes: [Process]) -> [Duration] {
        processes.flatMap { $0.transport.exchanges.map(\.startedAt) }.sorted()
    }

    /// The most requests in any second.
    private func mostInASecond(_ starts: [Duration]) -> Int {
        var most = 0
        var first = 0
        for (last, start) in starts.enumerated() {
            while start - starts[first] >= .seconds(1) { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// Busy processes use the whole rate and no more, with at most a tenth of a command for each permit.
    @Test(arguments: [(8, 100.0, 1), (8, 100, 20), (3, 50, 10), (16, 400, 40)] as [(Int, Double, Int)])
    func busy(count: Int, rate: Double, burst: Int) throws {
        let processes = processes(count, .perSecond(rate, burst: burst))
        let seconds = 20
        for process in processes { send(Int(rate) * seconds / count * 2, through: process) }
        try clock.advance(to: .seconds(seconds))
        let starts = starts(processes)
        #expect(starts.count >= Int(0.97 * rate * Double(seconds)), "\(starts.count)")
        #expect(starts.count <= Int(rate) * seconds + burst)
        #expect(mostInASecond(starts) <= Int(rate) + burst + 1, "\(mostInASecond(starts))")
        let commands = processes.reduce(0) { $0 + $1.store.commandCount }
        #expect(Double(commands) / Double(starts.count) <= 0.1, "\(commands) for \(starts.count)")
        let counts = processes.map { $0.transport.exchanges.count }
        let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
        #expect(Double(least) >= 0.8 * Double(most), "fair: \(counts)")
    }

    /// A process alone gets the whole rate, however many there are.
    @Test func alone() throws {
        let processes = processes(8, .perSecond(100, burst: 10))
        send(1000, through: processes[0])
        try clock.advance(to: .seconds(5))
        #expect(starts(processes).count >= 480, "\(starts(processes).count)")
    }

    /// A 429 of one process holds the others, and those that start later.
    @Test func closed() throws {
        let processes = processes(3, .perSecond(100)) { number in
            number == 0 ? .status(.tooManyRequests, headers: [.retryAfter: "10"]) : .json("1")
        }
        send(1, through: processes[0])
        try clock.advance(by: .milliseconds(50))
        send(5, through: processes[1])
        // This one has not asked for a permit before.
        send(5, through: processes[2])
        try clock.advance(to: .milliseconds(9900))
        #expect(starts(Array(processes.dropFirst())).isEmpty)
        try clock.advance(to: .seconds(12))
        #expect(starts(Array(processes.dropFirst())).count == 10)
        #expect(processes[1].events.values.contains { if case .limit("key", _) = $0 { true } else { false } })
    }

    /// A process that receives the message of a closure finds the scope closed in the store.
    @Test func closureIsStoredFirst() throws {
        let quota = FleetQuota(in: store.connection(on: clock, latency: .milliseconds(1)), clock: clock)
        let isStored = Recorder(
            store.messages(of: "limits").filter { $0 != .connected }
                .map { [store] _ in store["limit:key:closed"] != nil }, on: clock)
        quota.close("key", for: .seconds(5))
        try clock.run()
        #expect(isStored.values == [true])
        // A name that no store accepts for the entry.
        let events = Recorder(quota.events, on: clock)
        quota.close(String(repeating: "k", count: 2000), for: .seconds(5))
        try clock.run()
        #expect(isStored.values.count == 2)
        #expect(events.values.count == 2, "the closure, and what was not stored")
    }

    /// Without the store each process takes its share, together little more than the rate; then the store
    /// again.
    @Test func degraded() throws {
        let processes = processes(8, .perSecond(100, burst: 10))
        for process in processes { send(1000, through: process) }
        try clock.advance(to: .seconds(3))
        for process in processes { process.store.isConnected = false }
        try clock.advance(to: .seconds(13))
        for process in processes { process.store.isConnected = true }
        try clock.advance(to: .seconds(20))
        let starts = starts(processes)
        #expect(starts.count <= 2200, "1.1 times the quota: \(starts.count)")
        #expect(starts.count >= 1800, "\(starts.count)")
        #expect(mostInASecond(starts) <= 220)
        for process in processes {
            let texts = process.events.values.map { "\($0)".prefix { $0 != ":" } }
            #expect(texts == ["degraded", "recovered"])
        }
    }

    /// A store that comes back without its data: the processes keep to little more than the rate, though they connect one
    /// after the other, lose it again, and find nobody else in it.
    @Test(arguments: 1...5 as ClosedRange<UInt64>) func lostData(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let connections = (0..<8).map { _ in store.connection(on: clock, latency: .milliseconds(1)) }
        let fleets = connections.map { Fleet(sharing: $0, lifetime: .seconds(3), clock: clock) }
        let transport = ScriptedTransport(on: clock) { _ in .json("1") }
        for fleet in fleets { fleet.join() }
        try clock.advance(to: .seconds(10))
        for fleet in fleets {
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            configuration.hostLimits = RequestLimits(rate: .perSecond(100, burst: 20))
                .shared(through: fleet.quota, scope: "key")
            let client = Client(configuration: configuration, transport: transport)
            for _ in 0..<2000 { client.get("/x").subscribe(onFailure: { _ in }) }
        }
        try clock.advance(to: .seconds(13))
        for connection in connections { connection.isConnected = false }
        store.loseData()
        try clock.advance(to: .seconds(23))
        for (connection, isFirst) in connections.map({ ($0, Bool.random(using: &random)) }) {
            let wait = Duration.milliseconds(Int.random(in: 0...2500, using: &random))
            _ = clock.schedule(after: wait) { connection.isConnected = true }
            // Some of them lose it again for a moment.
            guard isFirst else { continue }
            _ = clock.schedule(after: wait + .milliseconds(1500)) { connection.isConnected = false }
            _ = clock.schedule(after: wait + .milliseconds(1700)) { connection.isConnected = true }
        }
        try clock.advance(to: .seconds(40))
        let starts = transport.exchanges.map(\.startedAt).sorted()
        #expect(starts.count <= 3300 + 20, "1.1 times the quota: \(starts.count)")
        #expect(starts.count >= 2700, "\(starts.count)")
        for second in 10..<38 {
            let count = starts.count { $0 >= .seconds(second) && $0 < .seconds(second + 2) }
            // Those that have the store use the whole rate, the others their share of it.
            #expect(count <= 400, "\(count) from second \(second) on")
        }
    }

    /// Hosts have a quota each, without a scope of their own.
    @Test func hosts() throws {
        let processes = processes(2, .perSecond(1), scope: nil)
        for process in processes {
            process.client.get("/x").subscribe()
            var other = ClientConfiguration(baseURL: "https://other.test")
            other.hostLimits = RequestLimits(rate: .perSecond(1)).shared(through: process.quota)
            Client(configuration: other, transport: process.transport).get("/x").subscribe()
        }
        try clock.run()
        let hosts = Dictionary(grouping: processes.flatMap(\.transport.exchanges)) { $0.request.url.host() }
        for exchanges in hosts.values {
            let times = exchanges.map(\.startedAt).sorted()
            #expect(times.count == 2 && times[1] - times[0] >= .milliseconds(990), "\(times)")
        }
    }

    // MARK: - Reservations

    /// The reply of the budget says when each permit may be used.
    @Test(arguments: [
        // count, burst, used, first, together, last
        (1, 1, 1, 0, 1, 0), (1, 1, 4, 3, 1, 3), (4, 1, 4, 0, 1, 3), (4, 4, 4, 0, 4, 0),
        (4, 4, 6, 0, 2, 2),
        (4, 4, 8, 1, 1, 4), (4, 4, 20, 13, 1, 16), (4, 10, 5, 0, 4, 0),
    ])
    func times(count: Int, burst: Int, used: Int, first: Int, together: Int, last: Int) {
        let reservation = Reservation(count, at: .perSecond(1, burst: burst))
        #expect(reservation.budget.burst == burst + 30)
        let batch = reservation.batch(
            BudgetReply(
                isLimited: false, limit: burst + 30, remaining: 0, retryAfter: .zero,
                resetAfter: .seconds(used)))
        #expect(batch.count == count)
        #expect(batch.wait == .seconds(first))
        #expect(batch.burst + 1 == together)
        #expect(first + count - together == last)
    }

    /// Impossible rates and replies are taken for the nearest possible ones.
    @Test func lies() {
        for rate in [0, -1, 1e300, .infinity, .nan, 1e-300] {
            for burst in [0, -5, .max, 1] {
                for count in [0, -1, .max, 7] {
                    let reservation = Reservation(count, at: .perSecond(rate, burst: burst))
                    for time in [Duration.zero, .seconds(-9), .seconds(1 << 55)] {
                        let batch = reservation.batch(
                            BudgetReply(
                                isLimited: count == 7, limit: -1, remaining: .max, retryAfter: time,
                                resetAfter: time))
                        #expect(batch.count >= 0 && batch.burst >= 0 && batch.wait >= .zero)
                        #expect(batch.count <= max(1, reservation.count))
                    }
                }
            }
        }
    }

    /// Messages that are not closures are dropped.
    @Test func garbage() throws {
        let process = try #require(processes(1, .perSecond(10)).first)
        let closures = Recorder(process.quota.closures, on: clock)
        for text in ["", "{}", "[1]", #"{"writer": 1, "scope": "key", "milliseconds": -5}"#] {
            store.publish(Array(text.utf8), to: "limits").subscribe(onFailure: { _ in })
        }
        try clock.run()
        #expect(closures.values.isEmpty)
    }
}
#endif
