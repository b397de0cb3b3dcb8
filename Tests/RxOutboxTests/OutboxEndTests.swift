#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Testing

/// The end of an outbox, drained or released, and what is left of it.
@Suite(.timeLimit(.minutes(3))) struct OutboxEndTests {
    /// A part of an outbox, which lives as long as that.
    private final class Part: Sendable {}

    private let fixture = OutboxFixture(
        store: MemoryOutboxStore(pollInterval: .seconds(60)), [.status(.serviceUnavailable)])

    /// An outbox with an entry that waits for its next attempt, and one whose answer the store has not taken.
    private func busyOutbox(with part: Part) throws -> Outbox {
        let clock = fixture.clock
        let outbox = try fixture.outbox { configuration in
            configuration.currentDate = { withExtendedLifetime(part) { clock.date } }
        }
        _ = try fixture.enqueue(outbox, 1)
        try clock.advance(by: .milliseconds(100))
        _ = try fixture.enqueue(outbox, 2)
        #expect(fixture.sent == [1, 2])
        fixture.store.fail(with: NetworkError(.file, "as scripted"))
        try clock.advance(by: .milliseconds(100))
        #expect(outbox.state.value.counts.waiting == 1 && outbox.state.value.storeFailure != nil)
        return outbox
    }

    /// The timers of a released outbox go with it.
    @Test func noTimerAfterTheRelease() throws {
        weak var held: Part?
        do {
            let part = Part()
            held = part
            let outbox = try busyOutbox(with: part)
            // For the next attempt, for the store, and for changes by others.
            #expect(fixture.clock.pendingCount == 3)
            withExtendedLifetime(outbox) {}
        }
        #expect(fixture.clock.pendingCount == 0)
        #expect(held == nil)
        fixture.store.fail(with: nil)
        try fixture.clock.advance(by: .seconds(3600))
        #expect(fixture.sent == [1, 2])
    }

    /// A drained outbox has no timers, while somebody still holds it; nor does it keep anything afterwards.
    @Test func noTimerAfterTheDrain() throws {
        weak var held: Part?
        do {
            let part = Part()
            held = part
            let outbox = try busyOutbox(with: part)
            let drained = Recorder(outbox.drain(within: .seconds(10)), on: fixture.clock)
            // One more, for the limit.
            #expect(fixture.clock.pendingCount == 4 && drained.values.isEmpty)
            fixture.store.fail(with: nil)
            // The store is tried again after a second, before the next attempt.
            try fixture.clock.advance(by: .milliseconds(1200))
            #expect(drained.values == [1])
            #expect(fixture.clock.pendingCount == 0)
            try fixture.clock.advance(by: .seconds(3600))
            #expect(fixture.sent == [1, 2])
            withExtendedLifetime(outbox) {}
        }
        #expect(held == nil)
    }

    /// An entry that the end of a drain removes, since a later one has its topic, does not count among those that remain.
    @Test func replacedAtTheEnd() throws {
        let fixture = OutboxFixture(session: Session(requiresLogin: true) { .never() })
        let outbox = try fixture.outbox()
        _ = try fixture.enqueue(outbox, 1, replacing: "draft")
        try fixture.clock.advance(by: .seconds(1))
        let later = try fixture.enqueue(outbox, 2, replacing: "draft")
        #expect(fixture.store.entries.count == 2)
        let drained = Recorder(outbox.drain(within: .seconds(2)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(3))
        #expect(fixture.store.entries.map(\.id) == [later.id])
        #expect(drained.values == [1])
    }
}
#endif
