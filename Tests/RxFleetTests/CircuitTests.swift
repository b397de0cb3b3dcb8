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

/// The circuits of processes that share a store.
@Suite struct CircuitTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let store: MemoryStore
    private let isBroken = Flag()

    private final class Flag: Sendable {
        private let value = Mutex(true)
        var now: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    init() { store = MemoryStore(on: clock, latency: .milliseconds(1)) }

    private struct Process {
        let connection: MemoryStore
        let fleet: Fleet
        let client: Client
        let transport: ScriptedTransport
        let events: Recorder<FleetEvent, Never>

        var state: CircuitBreaker.State? { client.circuitBreaker()?.state.value }
    }

    private func process() -> Process {
        let connection = store.connection(on: clock, latency: .milliseconds(1))
        let fleet = Fleet(sharing: connection, clock: clock)
        let transport = ScriptedTransport(on: clock) { [isBroken] _ in
            isBroken.now ? .status(.internalServerError, after: .milliseconds(10)) : .json("1")
        }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.circuitBreaker = CircuitBreaker.Policy(
            failureRatio: 0.5, minimumRequests: 4, openDuration: .seconds(30)
        ).shared(through: fleet.circuits)
        return Process(
            connection: connection, fleet: fleet,
            client: Client(configuration: configuration, transport: transport), transport: transport,
            events: Recorder(fleet.events, on: clock))
    }

    private func send(_ count: Int = 1, through process: Process) {
        for _ in 0..<count { process.client.get("/x").subscribe(onFailure: { _ in }) }
    }

    private func sent(_ processes: [Process]) -> Int {
        processes.reduce(0) { $0 + $1.transport.exchanges.count }
    }

    private func open(_ processes: [Process]) throws {
        send(4, through: processes[0])
        try clock.advance(by: .milliseconds(50))
    }

    /// The failures of one process open the circuit of all; one of them probes the host, and closes it for all.
    @Test func shared() throws {
        let processes = (0..<6).map { _ in process() }
        try open(processes)
        #expect(sent(processes) == 4)
        for round in 1...3 {
            for process in processes {
                guard case .open = process.state else {
                    Issue.record("\(String(describing: process.state))")
                    continue
                }
                send(5, through: process)
            }
            try clock.advance(by: .seconds(28))
            #expect(sent(processes) == 3 + round, "nothing is sent while it is open")
            try clock.advance(by: .seconds(2))
            if round == 3 { isBroken.now = false }
            for process in processes { send(5, through: process) }
            try clock.advance(by: .milliseconds(50))
            #expect(sent(processes) == 4 + round, "one probe of the fleet")
        }
        #expect(processes.allSatisfy { $0.state == .closed })
        for process in processes { send(2, through: process) }
        try clock.advance(by: .milliseconds(50))
        #expect(sent(processes) == 7 + 12)
        for process in processes {
            let times = process.events.values.compactMap { event -> Duration? in
                if case .circuit("https://shop.test:443", let time) = event { time ?? .zero } else { nil }
            }
            #expect(times == [.seconds(30), .seconds(30), .seconds(30), .zero])
        }
        #expect(store.keys.allSatisfy { !$0.hasPrefix("circuit:") })
    }

    /// A process that starts while the circuit is open sends nothing to the host.
    @Test func late() throws {
        let first = process()
        try open([first])
        let late = process()
        // Its breaker begins with its first request to the host.
        _ = late.client.circuitBreaker()
        try clock.advance(by: .milliseconds(10))
        for _ in 0..<20 {
            send(3, through: late)
            try clock.advance(by: .seconds(1))
        }
        #expect(late.transport.exchanges.isEmpty)
        isBroken.now = false
        for _ in 0..<12 {
            send(1, through: late)
            try clock.advance(by: .seconds(1))
        }
        #expect(!late.transport.exchanges.isEmpty)
        #expect(late.state == .closed && first.state == .closed)
    }

    /// The claim of a process that ends while it probes is over after the time for which a circuit is open.
    @Test func deadProbe() throws {
        let processes = (0..<2).map { _ in process() }
        try open(processes)
        try clock.advance(by: .seconds(30))
        send(through: processes[1])
        try clock.advance(by: .milliseconds(5))
        processes[1].connection.isConnected = false
        isBroken.now = false
        var recovered: Duration?
        let start = clock.now
        for _ in 0..<60 where recovered == nil {
            send(through: processes[0])
            try clock.advance(by: .seconds(1))
            if processes[0].state == .closed { recovered = clock.now - start }
        }
        #expect(try #require(recovered) >= .seconds(28))
        #expect(try #require(recovered) <= .seconds(33))
    }

    /// The outcome of a probe counts also if the store was lost and found again meanwhile.
    @Test func ownClaim() throws {
        let process = process()
        try open([process])
        try clock.advance(by: .seconds(30))
        send(through: process)
        try clock.advance(by: .milliseconds(5))
        process.connection.isConnected = false
        process.connection.isConnected = true
        try clock.advance(by: .milliseconds(50))
        guard case .open(_, let until) = process.state else {
            Issue.record("\(String(describing: process.state))")
            return
        }
        #expect(until > clock.now + .seconds(20))
    }

    /// Without the store each process opens, probes and closes by itself.
    @Test func alone() throws {
        let processes = (0..<2).map { _ in process() }
        for process in processes { process.connection.isConnected = false }
        try open(processes)
        send(4, through: processes[1])
        try clock.advance(by: .seconds(31))
        for process in processes {
            guard case .open = process.state else {
                Issue.record("\(String(describing: process.state))")
                continue
            }
        }
        isBroken.now = false
        for process in processes { send(through: process) }
        try clock.advance(by: .seconds(2))
        #expect(processes.allSatisfy { $0.state == .closed })
        #expect(sent(processes) == 10)
    }

    /// A message that is none changes nothing, and neither does one about another host.
    @Test func garbage() throws {
        let process = process()
        _ = process.client.circuitBreaker()
        try clock.advance(by: .milliseconds(10))
        for text in [
            "", "{}", "[]", #"{"writer": 1, "host": "https://shop.test:443", "milliseconds": -1}"#,
            #"{"writer": 1, "host": "https://shop.test:443", "milliseconds": 99999999999}"#,
            #"{"writer": 1, "host": "https://other.test:443", "milliseconds": 1000}"#,
        ] {
            store.publish(Array(text.utf8), to: "circuits").subscribe(onFailure: { Issue.record("\($0)") })
        }
        try clock.run()
        #expect(process.state == .closed)
        let text = #"{"writer": 1, "host": "https://shop.test:443", "milliseconds": 1000}"#
        store.publish(Array(text.utf8), to: "circuits").subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        #expect(process.state != .closed)
    }
}
#endif
