#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Synchronization
import Testing

/// Several outboxes on one store: the order of their entries, and the lease that goes from one to another.
@Suite(.timeLimit(.minutes(3))) struct SeveralOutboxesTests {
    private func slowOutbox(_ store: SlowStore, _ fixture: OutboxFixture) throws -> Outbox {
        var configuration = OutboxConfiguration()
        configuration.schedule.jitter = 0
        return try Outbox(
            store: store, client: fixture.client, endpoints: [PlaceOrder.self], configuration: configuration)
    }

    /// Entries of one order are sent in the order in which they became durable, though the sender has not looked for those
    /// of others yet.
    @Test func orderOverOutboxes() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(60), leaseTime: .seconds(600))
        let fixture = OutboxFixture(store: store)
        let (sender, other) = (try fixture.outbox(), try fixture.outbox())
        try fixture.clock.advance(by: .seconds(1))
        #expect(sender.state.value.role == .sender && other.state.value.role == .standby)
        for number in stride(from: 1, to: 10, by: 2) {
            _ = try fixture.enqueue(other, number, order: "a")
            _ = try fixture.enqueue(sender, number + 1, order: "a")
        }
        try fixture.clock.advance(by: .seconds(30))
        #expect(fixture.ledger.numbers == Array(1...10))
    }

    /// An entry that another process has just written is there by its id and by its key, and an unknown one is not.
    @Test func ticketsOfOthers() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(60), leaseTime: .seconds(600))
        let fixture = OutboxFixture(store: store)
        let (sender, other) = (try fixture.outbox(), try fixture.outbox())
        try fixture.clock.advance(by: .seconds(1))
        fixture.reachability.set(.unreachable)
        let key = OutboxKey.given("order-7", .stripe)
        let ticket = try fixture.enqueue(sender, 7, key: key)
        let byID = Recorder(other.ticket(PlaceOrder.self, of: ticket.id).progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(byID.values.map(text) == ["queued"])

        let second = try fixture.enqueue(sender, 8, key: .given("order-8", .stripe))
        let again = try fixture.enqueue(other, 8, key: .given("order-8", .stripe))
        #expect(again.id == second.id)
        let byKey = Recorder(again.progress, on: fixture.clock)
        #expect(byKey.values.map(text) == ["queued"])

        let unknown = other.ticket(PlaceOrder.self, of: OutboxID(rawValue: "unknown"))
        let progress = Recorder(unknown.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(progress.values.map(text) == ["gone"] && progress.isFinished)
    }

    /// An entry behind unknown ones waits for a store that fails, too.
    @Test func orderAfterAFailure() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(60), leaseTime: .seconds(600))
        let fixture = OutboxFixture(store: store)
        let slow = SlowStore(store, on: fixture.clock)
        let (sender, other) = (try slowOutbox(slow, fixture), try fixture.outbox())
        try fixture.clock.advance(by: .seconds(1))
        _ = try fixture.enqueue(other, 1, order: "a")
        slow.times.withLock { $0.loadFailure = NetworkError(.file, "as scripted") }
        _ = try fixture.enqueue(sender, 2, order: "a")
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent.isEmpty)
        slow.times.withLock { $0.loadFailure = nil }
        try fixture.clock.advance(by: .seconds(30))
        #expect(fixture.ledger.numbers == [1, 2])
    }

    /// An outbox that takes over sends nothing before it has read what the former sender has done.
    @Test func takeoverReadsFirst() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(1), leaseTime: .seconds(5))
        let fixture = OutboxFixture(store: store, [.stall])
        fixture.reachability.set(.unreachable)
        let slow = SlowStore(store, on: fixture.clock)
        var first: Outbox? = try fixture.outbox()
        let second = try slowOutbox(slow, fixture)
        try fixture.clock.advance(by: .milliseconds(1500))
        _ = try fixture.enqueue(try #require(first), 1, key: .withoutKey(.atMostOnce))
        // The second one learns of the entry.
        try fixture.clock.advance(by: .seconds(2))
        #expect(second.state.value.counts.queued == 1 && second.state.value.role == .standby)
        slow.times.withLock { $0.load = .seconds(10) }
        fixture.reachability.set(.wifi)
        #expect(fixture.sent == [1])
        first = nil
        try fixture.clock.advance(by: .seconds(2))
        // It has the lease, and its entries are on their way.
        _ = try fixture.enqueue(second, 2)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == [1, 2])
        #expect(second.state.value.role == .sender && second.state.value.counts.dead == 1)
    }

    /// The late news that a former lease is lost does not end a newer one.
    @Test func lateLoss() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(1), leaseTime: .seconds(5))
        let fixture = OutboxFixture(store: store)
        let slow = SlowStore(store, on: fixture.clock)
        slow.times.withLock { $0.loss = .seconds(4) }
        let outbox = try slowOutbox(slow, fixture)
        try fixture.clock.advance(by: .seconds(1))
        let roles = Recorder(outbox.state.observable.map(\.role).distinctUntilChanged(), on: fixture.clock)
        _ = try fixture.enqueue(outbox, 1)
        // Another outbox has the lease for a moment, in which the answer arrives.
        let taken = Recorder(
            store.lease(renewing: nil, at: fixture.clock.date.addingTimeInterval(3600)), on: fixture.clock)
        let lease = try #require(taken.values.first ?? nil)
        try fixture.clock.advance(by: .milliseconds(500))
        _ = Recorder(store.release(lease), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(3))
        #expect(outbox.state.value.role == .sender)
        try fixture.clock.advance(by: .seconds(20))
        #expect(roles.values == [.sender, .standby, .sender])
        #expect(fixture.ledger.numbers == [1] && store.entries.isEmpty)
    }

    /// A store that cannot be read at the start is read as soon as it can be.
    @Test func lateStart() throws {
        let fixture = OutboxFixture()
        let slow = SlowStore(fixture.store, on: fixture.clock)
        slow.times.withLock { $0.loadFailure = NetworkError(.file, "as scripted") }
        let outbox = try slowOutbox(slow, fixture)
        try fixture.clock.advance(by: .seconds(1))
        #expect(outbox.state.value.storeFailure != nil)
        slow.times.withLock { $0.loadFailure = nil }
        try fixture.clock.advance(by: .seconds(60))
        #expect(outbox.state.value.role == .sender && outbox.state.value.storeFailure == nil)
    }
}
#endif
