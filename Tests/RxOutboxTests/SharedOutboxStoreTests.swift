#if Outbox && Fleet
import Foundation
import HTTPTypes
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestServers
import Testing

@testable import RxOutbox

/// Outboxes of several processes over the store of a fleet.
@Suite(.timeLimit(.minutes(3))) struct SharedOutboxStoreTests {
    /// Processes with a connection each, and one server.
    private final class Fleet: Sendable {
        let clock = VirtualScheduler(stepLimit: 5_000_000)
        let origin: MemoryStore
        let ledger = KeyLedger()
        private let sent = Mutex<[String]>([])

        init() { origin = MemoryStore(on: clock, latency: .milliseconds(1)) }

        struct Process {
            let name: String
            let connection: MemoryStore
            let outbox: Outbox
        }

        /// The processes that have sent requests, in the order of the requests.
        var senders: [String] { sent.withLock { $0 } }

        /// - Parameter acceptsNoKey: whether its server executes orders without a key.
        func process(
            _ name: String, answering delay: Duration = .milliseconds(20), session: Session? = nil,
            acceptsNoKey: Bool = false
        ) throws -> Process {
            let connection = origin.connection(on: clock, latency: .milliseconds(1))
            let transport = ScriptedTransport(on: clock) { [self] request in
                sent.withLock { $0.append(name) }
                guard case .bytes(let body) = request.body else { return .status(.badRequest) }
                let own = acceptsNoKey ? String(decoding: body, as: UTF8.self) : nil
                guard
                    case .done(let number) = ledger.receive(
                        key: request.headerFields[.idempotencyKey] ?? own, body: body, at: clock.now)
                else { return .status(.badRequest) }
                return .json("{\"number\":\(number)}", after: delay)
            }
            var settings = ClientConfiguration(baseURL: "https://shop.test")
            settings.session = session
            var configuration = OutboxConfiguration()
            configuration.schedule.jitter = 0
            return Process(
                name: name, connection: connection,
                outbox: try Outbox(
                    store: SharedOutboxStore(connection, leaseTime: .seconds(5)),
                    client: Client(configuration: settings, transport: transport),
                    endpoints: [PlaceOrder.self], configuration: configuration))
        }

        func enqueue(
            _ process: Process, _ number: Int, order: OutboxOrder? = "a", key: OutboxKey = .generated(.stripe)
        ) throws -> Recorder<OutboxTicket<PlaceOrder>, NetworkError> {
            let recorder = Recorder(
                process.outbox.enqueue(PlaceOrder(number: number), key: key, order: order), on: clock)
            try clock.advance(by: .milliseconds(100))
            return recorder
        }
    }

    /// All processes write, one sends; another takes over when it is cut off, and the former one sends nothing more.
    @Test func takeover() throws {
        let fleet = Fleet()
        let (first, second) = (try fleet.process("first"), try fleet.process("second"))
        try fleet.clock.advance(by: .seconds(2))
        #expect(first.outbox.state.value.role == .sender)
        #expect(second.outbox.state.value.role == .standby)
        let ticket = try #require(fleet.enqueue(second, 1).values.first)
        let progress = Recorder(ticket.progress, on: fleet.clock)
        try fleet.clock.advance(by: .seconds(2))
        #expect(fleet.senders == ["first"] && fleet.ledger.numbers == [1])
        // The other process has delivered it, and the receipt tells the result.
        #expect(progress.values.last.map(text) == "delivered Receipt(number: 1)")

        first.connection.isConnected = false
        _ = try fleet.enqueue(second, 2)
        try fleet.clock.advance(by: .seconds(10))
        #expect(second.outbox.state.value.role == .sender)
        #expect(fleet.senders == ["first", "second"] && fleet.ledger.numbers == [1, 2])
        first.connection.isConnected = true
        try fleet.clock.advance(by: .seconds(90))
        #expect(first.outbox.state.value.role == .standby)
        _ = try fleet.enqueue(first, 3)
        try fleet.clock.advance(by: .seconds(3))
        #expect(fleet.senders == ["first", "second", "second"] && fleet.ledger.numbers == [1, 2, 3])
    }

    /// Entries of one order are sent in the order in which they became durable, whichever process has written them.
    @Test func orderOverProcesses() throws {
        let fleet = Fleet()
        let (first, second) = (try fleet.process("first"), try fleet.process("second"))
        try fleet.clock.advance(by: .seconds(2))
        #expect(first.outbox.state.value.role == .sender)
        for number in stride(from: 1, to: 8, by: 2) {
            _ = try fleet.enqueue(second, number)
            _ = try fleet.enqueue(first, number + 1)
        }
        try fleet.clock.advance(by: .seconds(3))
        #expect(fleet.ledger.numbers == Array(1...8))
    }

    /// A sender that is cut off during an attempt: the next one sends the entry again, with its key.
    @Test func cutOffDuringAnAttempt() throws {
        let fleet = Fleet()
        let first = try fleet.process("first", answering: .seconds(30))
        try fleet.clock.advance(by: .seconds(2))
        let second = try fleet.process("second")
        _ = try fleet.enqueue(first, 1)
        _ = try fleet.enqueue(first, 2, key: .withoutKey(.atMostOnce))
        #expect(fleet.senders == ["first"])
        first.connection.isConnected = false
        try fleet.clock.advance(by: .seconds(60))
        #expect(fleet.senders.prefix(2) == ["first", "second"])
        #expect(fleet.ledger.numbers == [1])
        #expect(fleet.ledger.violations.count == 1, "the order without a key arrives")
        #expect(second.outbox.state.value.role == .sender)
        withExtendedLifetime(first) {}
    }

    /// The end of a drain stores of each attempt that waits for a login that it has sent nothing, before another process
    /// takes over: that one sends all of them, though none may be sent twice, and reports their results.
    @Test func drainedBeforeTheRequests() throws {
        let fleet = Fleet()
        let first = try fleet.process("first", session: Session(requiresLogin: true) { .never() })
        try fleet.clock.advance(by: .seconds(2))
        let second = try fleet.process("second", acceptsNoKey: true)
        try fleet.clock.advance(by: .seconds(2))
        #expect(first.outbox.state.value.role == .sender && second.outbox.state.value.role == .standby)
        let tickets = try (1...4).map { number in
            let added = try fleet.enqueue(first, number, order: nil, key: .withoutKey(.atMostOnce))
            return try #require(added.values.first)
        }
        let own = tickets.map { Recorder($0.progress, on: fleet.clock) }
        let results = tickets.map { ticket in
            Recorder(second.outbox.ticket(PlaceOrder.self, of: ticket.id).output(), on: fleet.clock)
        }
        try fleet.clock.advance(by: .seconds(1))
        #expect(own.allSatisfy { $0.values.map(text) == ["sending 1"] })
        let drained = Recorder(first.outbox.drain(within: .seconds(2)), on: fleet.clock)
        try fleet.clock.advance(by: .seconds(3))
        #expect(drained.values == [4] && own.allSatisfy { $0.isFinished })
        #expect(fleet.senders.isEmpty)
        try fleet.clock.advance(by: .seconds(10))
        #expect(second.outbox.state.value.role == .sender)
        #expect(fleet.senders == Array(repeating: "second", count: 4))
        #expect(results.map(\.values) == (1...4).map { [Receipt(number: $0)] })
        #expect(second.outbox.state.value.counts == OutboxCounts())
        withExtendedLifetime(first) {}
    }

    /// Replies of the store that get lost lose no entry, and repeat none.
    @Test func lostReplies() throws {
        let fleet = Fleet()
        let process = try fleet.process("only")
        try fleet.clock.advance(by: .seconds(2))
        var random = SeededRandom(4)
        var promised: Set<Int> = []
        for number in 0..<60 {
            process.connection.losesReplies = Int.random(in: 0..<3, using: &random) == 0
            let recorder = try fleet.enqueue(process, number)
            if recorder.values.first != nil { promised.insert(number) }
            process.connection.losesReplies = false
            // A failed store is tried again after up to a minute.
            try fleet.clock.advance(by: .seconds(70))
        }
        try fleet.clock.advance(by: .seconds(600))
        let numbers = fleet.ledger.numbers
        #expect(promised.isSubset(of: numbers) && promised.count > 20)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(fleet.ledger.violations.isEmpty)
        #expect(process.outbox.state.value.counts.pending == 0)
    }

    /// A record that is damaged, or from another release, is refused whole and left as it is.
    @Test(arguments: [
        ("not JSON", "not what was written"),
        (
            #"{"format":2,"revision":0,"latestSequence":0,"rows":[],"commits":[],"keys":[]}"#,
            "another release"
        ),
    ])
    func refused(content: String, reason: String) throws {
        let fleet = Fleet()
        fleet.origin["outbox/entries"] = Array(content.utf8)
        let process = try fleet.process("only")
        try fleet.clock.advance(by: .seconds(2))
        #expect(process.outbox.state.value.storeFailure?.message.contains(reason) == true)
        #expect(try fleet.enqueue(process, 1).failure?.message.contains(reason) == true)
        #expect(fleet.origin["outbox/entries"] == Array(content.utf8))
        #expect(fleet.senders.isEmpty)
    }

    /// An entry for which the record has no room is refused; the others are stored.
    @Test func tooLarge() throws {
        let fleet = Fleet()
        let process = try fleet.process("only")
        try fleet.clock.advance(by: .seconds(2))
        let long = String(repeating: "a", count: 9 << 20)
        let orders: [OutboxOrder] = ["a", OutboxOrder(long), "b"]
        let recorders = orders.enumerated().map { number, order in
            Recorder(
                process.outbox.enqueue(PlaceOrder(number: number), key: .generated(.stripe), order: order),
                on: fleet.clock)
        }
        try fleet.clock.advance(by: .seconds(1))
        #expect(recorders.map { $0.failure?.code } == [nil, .tooLarge, nil])
        #expect(Set(fleet.ledger.numbers) == [0, 2])
    }

    /// Beyond the half of what fits, entries are refused, so that the failures of the others have room.
    @Test func full() throws {
        let fleet = Fleet()
        let process = try fleet.process("only", answering: .seconds(60))
        try fleet.clock.advance(by: .seconds(2))
        let long = String(repeating: "a", count: 5 << 19)
        _ = try fleet.enqueue(process, 0, order: OutboxOrder(long + "1"))
        let refused = try fleet.enqueue(process, 1, order: OutboxOrder(long + "2"))
        #expect(refused.failure?.code == .tooLarge)
        #expect(try fleet.enqueue(process, 2, order: "b").failure == nil)
        try fleet.clock.advance(by: .seconds(120))
        #expect(Set(fleet.ledger.numbers) == [0, 2])
        #expect(process.outbox.state.value.storeFailure == nil)
        #expect(fleet.origin.keys.filter { $0.contains("/content/") }.isEmpty)
    }

    /// A full outbox refuses each of many entries by the commands that write its endpoint and remove it again, though all of
    /// them come at the same time.
    @Test func manyRefused() throws {
        func commands(for count: Int) throws -> Int {
            let fleet = Fleet()
            let process = try fleet.process("only", answering: .seconds(60))
            try fleet.clock.advance(by: .seconds(2))
            let most = String(repeating: "a", count: (4 << 20) - 4000)
            #expect(try fleet.enqueue(process, 0, order: OutboxOrder(most)).failure == nil)
            let before = process.connection.commandCount
            let rest = String(repeating: "b", count: 4000)
            let refused = (1...count).map { number in
                Recorder(
                    process.outbox.enqueue(
                        PlaceOrder(number: number), key: .generated(.stripe),
                        order: OutboxOrder(rest + "\(number)")), on: fleet.clock)
            }
            try fleet.clock.advance(by: .milliseconds(800))
            #expect(refused.allSatisfy { $0.failure?.code == .tooLarge })
            #expect(fleet.origin.keys.count { $0.contains("/content/") } == 1)
            return process.connection.commandCount - before
        }
        let (ten, twenty) = (try commands(for: 10), try commands(for: 20))
        // The outbox looks for changes by others meanwhile.
        #expect(ten <= 2 * 10 + 4 && twenty <= 2 * 20 + 4, "\(ten), \(twenty)")
    }

    /// An entry whose endpoint the shared store has lost becomes a dead letter, and those after it are sent.
    @Test func lostContent() throws {
        let fleet = Fleet()
        let order = OutboxOrder("a", afterDeath: .release)
        let process = try fleet.process("only", answering: .seconds(10))
        try fleet.clock.advance(by: .seconds(2))
        _ = try fleet.enqueue(process, 1, order: order)
        let present = Set(fleet.origin.keys)
        _ = try fleet.enqueue(process, 2, order: order)
        let lost = fleet.origin.keys.filter { $0.contains("/content/") && !present.contains($0) }
        try #require(lost.count == 1)
        fleet.origin.evict(lost[0])
        _ = try fleet.enqueue(process, 3, order: order)
        try fleet.clock.advance(by: .seconds(60))
        #expect(fleet.ledger.numbers == [1, 3])
        #expect(process.outbox.state.value.counts.dead == 1)
    }

    /// The endpoints of delivered and removed entries do not stay behind.
    @Test func leavesNothing() throws {
        let fleet = Fleet()
        let process = try fleet.process("only")
        try fleet.clock.advance(by: .seconds(2))
        for number in 0..<5 { _ = try fleet.enqueue(process, number) }
        try fleet.clock.advance(by: .seconds(2))
        #expect(fleet.ledger.numbers == [0, 1, 2, 3, 4])
        #expect(fleet.origin.keys.filter { $0.contains("/content/") }.isEmpty)
        #expect(fleet.origin.keys.filter { $0.contains("/receipt/") }.count == 5)
        // Receipts end by the lifetime of their records.
        try fleet.clock.advance(by: .seconds(25 * 3600))
        let id = try #require(fleet.enqueue(process, 9).values.first).id
        #expect(
            Recorder(process.outbox.ticket(PlaceOrder.self, of: id).progress, on: fleet.clock).values.count
                <= 1)
    }

    /// Over a folder: of two processes' stores one sends, and the other one takes over when it is closed.
    @Test func folder() async throws {
        let folder = try TemporaryFolder()
        let start = Date(timeIntervalSince1970: 1_000_000)
        let files = [FileStore(folder: folder.file("fleet")), FileStore(folder: folder.file("fleet"))]
        let stores = files.map { SharedOutboxStore($0) }
        let lease = try #require(await stores[0].lease(renewing: nil, at: start).value())
        #expect(try await stores[1].lease(renewing: nil, at: start).value() == nil)
        #expect(try await stores[0].lease(renewing: lease, at: start).value()?.number == lease.number)
        let terms = OutboxEntry.Terms(name: "n", version: 1, guarantee: .atLeastOnce, created: start)
        for (number, store) in stores.enumerated() {
            let entry = OutboxEntry(id: OutboxID(rawValue: "\(number)"), terms)
            _ = try await store.add(entry, Data("\(number)".utf8)).value()
        }
        #expect(try await stores[0].load().value().entries.map(\.id.rawValue) == ["0", "1"])
        #expect(try await stores[0].content(of: OutboxID(rawValue: "1")).value() == Data("1".utf8))
        // Another outbox with the same store ends.
        _ = try await stores[0].close().value()
        #expect(try await stores[0].lease(renewing: lease, at: start).value()?.number == lease.number)
        // The end of the process, whatever it was about to do.
        _ = try await files[0].close().value()
        var next: OutboxLease?
        while next == nil { next = try await stores[1].lease(renewing: nil, at: start).value() }
        #expect(try #require(next).number > lease.number)
        let change = OutboxChange.complete(OutboxID(rawValue: "0"), nil)
        #expect(try await stores[1].change(change, under: lease).value() == .leaseLost)
        #expect(try await stores[1].change(change, under: next).value() == .applied(nil))
    }
}
#endif
