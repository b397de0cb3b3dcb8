#if Outbox
import Foundation
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxParameters
import RxTesting
import Testing

/// The outbox from `enqueue` to the answer, in virtual time.
@Suite(.timeLimit(.minutes(3))) struct OutboxTests {
    /// An entry is sent with its key, reported, and removed after the answer.
    @Test func delivery() throws {
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        #expect(fixture.store.entries.count == 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        let output = Recorder(ticket.output(), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(progress.values.map(text) == ["sending 1", "delivered Receipt(number: 1)"])
        #expect(progress.isFinished)
        #expect(output.values == [Receipt(number: 1)])
        #expect(fixture.store.entries.isEmpty)
        #expect(fixture.ledger.numbers == [1])
        #expect(fixture.keys[0]?.isEmpty == false)
        #expect(outbox.state.value.counts.pending == 0 && outbox.state.value.role == .sender)
    }

    /// Nothing is stored before enqueue is subscribed to, and a subscriber that leaves changes nothing.
    @Test func cold() throws {
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox()
        let stream = outbox.enqueue(PlaceOrder(number: 1), key: .generated(.stripe))
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent.isEmpty)
        stream.subscribe().cancel()
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent == [1])
    }

    /// An answer that gets lost is asked for again with the same key, and the order is executed once.
    @Test func lostAnswers() throws {
        let fixture = OutboxFixture(
            [.failure(.connectionLost), .failure(.emptyReply), .stall], executing: true)
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 7)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(600))
        #expect(fixture.ledger.numbers == [7])
        #expect(fixture.sent == [7, 7, 7, 7])
        #expect(Set(fixture.keys).count == 1)
        #expect(
            progress.values.map(text) == [
                "sending 1", "waiting: connectionLost: as scripted", "sending 2",
                "waiting: emptyReply: as scripted", "sending 3",
                progress.values.map(text)[5], "sending 4", "delivered Receipt(number: 7)",
            ])
    }

    /// A new outbox on the same store goes on with the same key, and its ticket comes back by its id.
    @Test func restart() throws {
        let store = MemoryOutboxStore()
        let ledger = KeyLedger()
        let id: OutboxID
        let key: String?
        do {
            let fixture = OutboxFixture(store: store, ledger: ledger, [.stall], executing: true)
            let outbox = try fixture.outbox()
            id = try fixture.enqueue(outbox, 3).id
            try fixture.clock.advance(by: .seconds(1))
            key = fixture.keys[0]
            #expect(store.entries.first?.delivery.phase == .sending)
        }
        let fixture = OutboxFixture(store: store, ledger: ledger)
        let outbox = try fixture.outbox()
        let progress = Recorder(outbox.ticket(PlaceOrder.self, of: id).progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(10))
        #expect(progress.values.map(text).suffix(2) == ["sending 2", "delivered Receipt(number: 3)"])
        #expect(ledger.numbers == [3])
        #expect(fixture.keys == [key])
        let later = Recorder(outbox.ticket(PlaceOrder.self, of: id).progress, on: fixture.clock)
        #expect(later.values.map(text) == ["delivered Receipt(number: 3)"] && later.isFinished)
    }

    /// At most once: an entry whose fate is unknown is not sent again.
    @Test func atMostOnce() throws {
        let fixture = OutboxFixture([.failure(.connect), .failure(.connectionLost)])
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1, key: .withoutKey(.atMostOnce))
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(3600))
        // The connection that was never made does no harm.
        #expect(
            progress.values.map(text) == [
                "sending 1", "waiting: connect: as scripted", "sending 2",
                "dead: it may have arrived: connectionLost: as scripted",
            ])
        #expect(fixture.keys == [nil, nil])
        // Without a key there is none to keep.
        let same = Recorder(outbox.sendAgain(ticket.id, with: .sameKey), on: fixture.clock)
        #expect(same.failure?.code == .undelivered)
        let anew = Recorder(outbox.sendAgain(ticket.id, with: .newKey), on: fixture.clock)
        #expect(anew.values.count == 1)
    }

    /// At most once: the client's own retries, even of a PUT, send nothing twice.
    @Test func atMostOnceWithinTheClient() throws {
        struct Put: OutboxEndpoint {
            static let outboxName = "put"
            typealias Output = Response
            var path: String { "/a" }
            var method: HTTPRequest.Method { .put }
            var options: RequestOptions {
                RequestOptions(retry: .exponentialBackoff(maxRetries: 5), hedging: .after(.milliseconds(1)))
            }
        }
        let fixture = OutboxFixture([.status(.badGateway, after: .milliseconds(50)), .json("{}")])
        let outbox = try fixture.outbox([Put.self])
        Recorder(outbox.enqueue(Put(), key: .withoutKey(.atMostOnce)), on: fixture.clock).cancel()
        try fixture.clock.advance(by: .seconds(3600))
        #expect(fixture.transport.requests.count == 1)
        #expect(fixture.store.entries.first?.delivery.deadReason != nil)
    }

    /// At least once: an entry whose fate is unknown is sent again.
    @Test func atLeastOnce() throws {
        let fixture = OutboxFixture([.failure(.connectionLost), .json("{\"number\":1}")])
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1, key: .withoutKey(.atLeastOnce))
        let output = Recorder(ticket.output(), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(60))
        #expect(output.values == [Receipt(number: 1)])
        #expect(fixture.sent == [1, 1])
    }

    /// Entries of one order arrive in their order, though each fails now and then.
    @Test func order() throws {
        let replies = (0..<30).map { number -> ScriptedTransport.Reply in
            number % 3 == 0 ? .status(.serviceUnavailable) : .failure(.connectionLost)
        }
        let fixture = OutboxFixture(replies, executing: true)
        let outbox = try fixture.outbox()
        for number in 1...10 { _ = try fixture.enqueue(outbox, number, order: "account") }
        try fixture.clock.advance(by: .seconds(24 * 3600 - 120))
        #expect(fixture.ledger.numbers == Array(1...10))
        #expect(fixture.store.entries.isEmpty)
    }

    /// A dead entry blocks its order until it is sent again or removed.
    @Test func deadLetters() throws {
        let fixture = OutboxFixture([.status(.init(code: 402))])
        let outbox = try fixture.outbox()
        let first = try fixture.enqueue(outbox, 1, order: "a")
        _ = try fixture.enqueue(outbox, 2, order: "a")
        _ = try fixture.enqueue(outbox, 3)
        let progress = Recorder(first.progress, on: fixture.clock)
        let failure = Recorder(first.output(), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.ledger.numbers == [3])
        #expect(failure.failure?.code == .undelivered)
        let letters = Recorder(outbox.deadLetters(), on: fixture.clock)
        #expect(letters.values.first?.map(\.id) == [first.id])
        let stored = Recorder(outbox.endpoint(PlaceOrder.self, of: first.id), on: fixture.clock)
        #expect(stored.values.first?.number == 1)
        let again = Recorder(outbox.sendAgain(first.id, with: .sameKey), on: fixture.clock)
        #expect(again.values.count == 1)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.ledger.numbers == [3, 1, 2])
        #expect(
            progress.values.map(text) == [
                "sending 1", "dead: refused: status [402]", "queued", "sending 1",
                "delivered Receipt(number: 1)",
            ])
        // The same entry keeps its key.
        #expect(fixture.keys[0] == fixture.keys[2])
        let missing = Recorder(outbox.sendAgain(first.id, with: .newKey), on: fixture.clock)
        #expect(missing.failure?.code == .undelivered)
    }

    /// An edited dead letter is sent with a new key; a removed one never.
    @Test func editedAndRemoved() throws {
        let fixture = OutboxFixture([.status(.badRequest), .status(.badRequest)])
        let outbox = try fixture.outbox()
        let (first, second) = (try fixture.enqueue(outbox, 1), try fixture.enqueue(outbox, 2))
        try fixture.clock.advance(by: .seconds(60))
        let edited = Recorder(outbox.edit(first.id, to: PlaceOrder(number: 10)), on: fixture.clock)
        #expect(edited.values.count == 1)
        let removed = Recorder(outbox.remove(second.id), on: fixture.clock)
        #expect(removed.values.count == 1)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == [1, 2, 10])
        #expect(Set(fixture.keys).count == 3)
        #expect(fixture.store.entries.isEmpty)
    }

    /// Where the server compares no bodies, an edited entry keeps its key as long as the server knows it, and is not
    /// executed again.
    @Test func editedWithItsKey() throws {
        var rules = KeyRules.draft(lifetime: .seconds(3600))
        rules.comparesBody = false
        let fixture = OutboxFixture([.status(.badRequest), .status(.badRequest)])
        let outbox = try fixture.outbox()
        let ids = try (1...2).map { try fixture.enqueue(outbox, $0, key: .generated(rules)).id }
        try fixture.clock.advance(by: .seconds(60))
        #expect(
            Recorder(outbox.edit(ids[0], to: PlaceOrder(number: 10)), on: fixture.clock).values.count == 1)
        try fixture.clock.advance(by: .seconds(3600))
        #expect(
            Recorder(outbox.edit(ids[1], to: PlaceOrder(number: 20)), on: fixture.clock).values.count == 1)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == [1, 2, 10, 20])
        #expect(fixture.keys[0] == fixture.keys[2])
        // A 400 says that nothing was executed, so the life of the key has not begun.
        #expect(fixture.keys[1] == fixture.keys[3])
    }

    /// After the life of its key an entry is a dead letter, which needs a new key.
    @Test func keyLife() throws {
        let fixture = OutboxFixture(
            (0..<100).map { _ in .failure(.connectionLost) }, executing: true)
        let outbox = try fixture.outbox { $0.lifetime = nil }
        let ticket = try fixture.enqueue(outbox, 1)
        try fixture.clock.advance(by: .seconds(48 * 3600))
        let entry = try #require(fixture.store.entries.first)
        guard case .keyExpired = entry.delivery.deadReason else {
            Issue.record("not dead: \(entry)")
            return
        }
        // The last attempt came before the server could forget the key.
        let last = try #require(fixture.transport.exchanges.last)
        #expect(last.startedAt < .seconds(24 * 3600 - 60))
        #expect(fixture.ledger.numbers == [1])
        let same = Recorder(outbox.sendAgain(ticket.id, with: .sameKey), on: fixture.clock)
        #expect(same.failure?.code == .undelivered)
        let new = Recorder(outbox.sendAgain(ticket.id, with: .newKey), on: fixture.clock)
        #expect(new.values.count == 1)
    }

    /// A month without a network costs nothing and no attempts, and then all is sent in order.
    @Test func monthOffline() throws {
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox { $0.lifetime = nil }
        for number in 1...50 { _ = try fixture.enqueue(outbox, number, order: "a") }
        try fixture.clock.advance(by: .seconds(31 * 24 * 3600))
        #expect(fixture.sent.isEmpty)
        // Not even tried.
        #expect(fixture.store.entries.allSatisfy { $0.delivery.attempts == 0 })
        #expect(!outbox.state.value.isOnline)
        fixture.reachability.set(.cellular)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.ledger.numbers == Array(1...50))
    }

    /// A month without a network that nobody reports: attempts become rare, and all is sent in the end.
    @Test func monthUnreported() throws {
        let broken = OutboxFixture((0..<10_000).map { _ in .failure(.resolve) })
        let outbox = try broken.outbox { $0.lifetime = nil }
        _ = try broken.enqueue(outbox, 1)
        try broken.clock.advance(by: .seconds(31 * 24 * 3600))
        let count = broken.transport.requests.count
        #expect((31 * 23)...(31 * 24 + 20) ~= count)
        // Its key is as young as ever, since no attempt has arrived.
        #expect(broken.store.entries.first?.delivery.mayHaveArrivedSince == nil)
    }

    /// The return of the network ends the waits of what could not connect, not those that the server has asked for.
    @Test func networkReturns() throws {
        let fixture = OutboxFixture([
            .failure(.connect), .status(.tooManyRequests, headers: [.retryAfter: "600"]),
        ])
        let outbox = try fixture.outbox { $0.schedule.first = .seconds(3600) }
        _ = try fixture.enqueue(outbox, 1)
        _ = try fixture.enqueue(outbox, 2)
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == [1, 2])
        fixture.reachability.set(.unreachable)
        try fixture.clock.advance(by: .seconds(60))
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent == [1, 2, 1])
        #expect(fixture.ledger.numbers == [1])
        try fixture.clock.advance(by: .seconds(3600))
        #expect(fixture.ledger.numbers == [1, 2])
    }

    /// An entry expires, and says what it failed with last.
    @Test func expiry() throws {
        let fixture = OutboxFixture((0..<100).map { _ in .failure(.connect) })
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1, lifetime: .seconds(60))
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(59))
        #expect(fixture.store.entries.first?.delivery.deadReason == nil)
        try fixture.clock.advance(by: .seconds(1))
        #expect(
            progress.values.last.map(text) == "dead: not delivered in time; last: connect: as scripted")
    }

    /// Enqueueing with a given key again returns the first entry; another endpoint with it is refused.
    @Test func givenKeys() throws {
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        let first = try fixture.enqueue(outbox, 1, key: .given("order-1", .draft(lifetime: .seconds(3600))))
        let again = try fixture.enqueue(outbox, 1, key: .given("order-1", .draft(lifetime: .seconds(3600))))
        #expect(first.id == again.id)
        #expect(throws: NetworkError.self) {
            try fixture.enqueue(outbox, 2, key: .given("order-1", .stripe))
        }
        #expect(throws: NetworkError.self) { try fixture.enqueue(outbox, 2, key: .given("a\r\nb", .stripe)) }
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.keys == ["\"order-1\""])
    }

    /// Another release of the program, with another version of the form, finds the entry of a given key.
    @Test func givenKeysOverReleases() throws {
        struct Later: OutboxEndpoint {
            static let outboxName = "order.place"
            static let outboxVersion = 2
            var number: Int
            var note = ""

            typealias Output = Receipt
            var path: String { "/orders" }
            var method: HTTPRequest.Method { .post }
            var parameters: Parameters { ["number": number] }

            static func migrate(_ content: Data, from _: Int) throws -> Later {
                Later(number: try JSONDecoder().decode(Receipt.self, from: content).number)
            }
        }
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let key = OutboxKey.given("order-1", .stripe)
        var former: Outbox? = try fixture.outbox()
        let id = try fixture.enqueue(try #require(former), 1, key: key).id
        former = nil
        let outbox = try fixture.outbox([Later.self])
        for isDelivered in [false, true] {
            let again = Recorder(outbox.enqueue(Later(number: 1), key: key), on: fixture.clock)
            #expect(again.values.first?.id == id, "delivered: \(isDelivered)")
            let other = Recorder(outbox.enqueue(Later(number: 1, note: "x"), key: key), on: fixture.clock)
            #expect(other.failure?.code == .invalidParameters, "delivered: \(isDelivered)")
            fixture.reachability.set(.wifi)
            try fixture.clock.advance(by: .seconds(10))
            #expect(fixture.sent == [1])
        }
    }

    /// A given key has one life: an entry that is enqueued again after its delivery is not executed again, as long as the
    /// server may remember the key.
    @Test(arguments: [OutboxReceiptRules(), nil]) func usedKeys(rules: OutboxReceiptRules?) throws {
        let fixture = OutboxFixture(ledger: KeyLedger(lifetime: .seconds(3600)))
        let outbox = try fixture.outbox { $0.receipts = rules }
        let key = OutboxKey.given("order-1", KeyRules(lifetime: .seconds(3600)))
        let first = try fixture.enqueue(outbox, 1, key: key)
        try fixture.clock.advance(by: .seconds(3500))
        let again = try fixture.enqueue(outbox, 1, key: key)
        #expect(again.id == first.id)
        let progress = Recorder(again.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(50))
        #expect(progress.values.map(text) == [rules == nil ? "gone" : "delivered Receipt(number: 1)"])
        #expect(fixture.sent == [1])
        if rules != nil {
            #expect(throws: NetworkError.self) { try fixture.enqueue(outbox, 2, key: key) }
        }
        // Neither does the server know the key any more.
        try fixture.clock.advance(by: .seconds(100))
        #expect(try fixture.enqueue(outbox, 1, key: key).id != first.id)
        try fixture.clock.advance(by: .seconds(1))
        #expect(fixture.sent == [1, 1])
    }

    /// A store that fails stops the sending, loses no outcome, and is tried again.
    @Test func failingStore() throws {
        let fixture = OutboxFixture()
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(10))
        // The request is under way; its answer cannot be stored.
        fixture.store.fail(with: NetworkError(.file, "the disk is full"))
        try fixture.clock.advance(by: .seconds(30))
        #expect(outbox.state.value.storeFailure?.code == "file")
        #expect(progress.values.map(text) == ["sending 1"])
        #expect(throws: NetworkError.self) { try fixture.enqueue(outbox, 2) }
        fixture.store.fail(with: nil)
        try fixture.clock.advance(by: .seconds(120))
        #expect(progress.values.map(text) == ["sending 1", "delivered Receipt(number: 1)"])
        #expect(outbox.state.value.storeFailure == nil)
        #expect(fixture.sent == [1])
        _ = try fixture.enqueue(outbox, 3)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.sent == [1, 3])
    }

    /// A clock that jumps back does not make a key younger; one that jumps ahead sends nothing too late.
    @Test func clockJumps() throws {
        final class Clock: Sendable {
            let offset = MutableProperty(0.0)
        }
        let jumping = Clock()
        let fixture = OutboxFixture((0..<200).map { _ in .failure(.connectionLost) }, executing: true)
        let clock = fixture.clock
        let outbox = try fixture.outbox { configuration in
            configuration.lifetime = nil
            configuration.currentDate = { clock.date.addingTimeInterval(jumping.offset.value) }
        }
        _ = try fixture.enqueue(outbox, 1)
        try clock.advance(by: .seconds(12 * 3600))
        jumping.offset.value = -10 * 24 * 3600
        try clock.advance(by: .seconds(13 * 3600))
        let entry = try #require(fixture.store.entries.first)
        #expect(entry.delivery.deadReason != nil)
        let last = try #require(fixture.transport.exchanges.last)
        #expect(last.startedAt < .seconds(24 * 3600))

        jumping.offset.value = 0
        _ = try fixture.enqueue(outbox, 2)
        try clock.advance(by: .seconds(60))
        let count = fixture.sent.count
        jumping.offset.value = 365 * 24 * 3600
        try clock.advance(by: .seconds(24 * 3600))
        #expect(fixture.sent.count == count)
        #expect(fixture.ledger.numbers == [1, 2])
    }

    /// Draining sends what is due, refuses new entries and leaves what waits.
    @Test func draining() throws {
        let fixture = OutboxFixture([.status(.serviceUnavailable)])
        let outbox = try fixture.outbox { $0.concurrency = 1 }
        for number in 1...3 { _ = try fixture.enqueue(outbox, number) }
        let drained = Recorder(outbox.drain(within: .seconds(10)), on: fixture.clock)
        #expect(throws: NetworkError.self) { try fixture.enqueue(outbox, 4) }
        try fixture.clock.advance(by: .seconds(1))
        #expect(drained.values == [1])
        #expect(fixture.ledger.numbers == [2, 3])
        try fixture.clock.advance(by: .seconds(3600))
        #expect(fixture.sent == [1, 2, 3])
        #expect(outbox.state.value.role == .closed)
    }

    /// The limit of draining cancels what is still running, and the next run repeats it with the same key.
    @Test func drainLimit() throws {
        let fixture = OutboxFixture([.stall], executing: true)
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        let drained = Recorder(outbox.drain(within: .seconds(2)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        #expect(drained.values.isEmpty)
        try fixture.clock.advance(by: .seconds(1))
        #expect(drained.values == [1])
        #expect(progress.isFinished)
        #expect(fixture.transport.cancelled.count == 1)
        let next = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.ledger.numbers == [1] && fixture.store.entries.isEmpty)
        #expect(Set(fixture.keys).count == 1)
        withExtendedLifetime(next) {}
    }

    /// An attempt that the end of a drain cancels before a request is sent has certainly not arrived.
    @Test func drainedBeforeTheRequest() throws {
        let store = MemoryOutboxStore()
        let waiting = OutboxFixture(store: store, session: Session(requiresLogin: true) { .never() })
        let outbox = try waiting.outbox()
        _ = try waiting.enqueue(outbox, 1, key: .withoutKey(.atMostOnce))
        try waiting.clock.advance(by: .seconds(1))
        #expect(store.entries.first?.delivery.phase == .sending)
        let drained = Recorder(outbox.drain(within: .seconds(2)), on: waiting.clock)
        try waiting.clock.advance(by: .seconds(3))
        #expect(drained.values == [1] && waiting.sent.isEmpty)
        let fixture = OutboxFixture(store: store)
        let next = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == [1])
        withExtendedLifetime(next) {}
    }

    /// After its end, operators can still decide about the dead letters of an outbox.
    @Test func removedAfterDraining() throws {
        let fixture = OutboxFixture([.status(.badRequest)])
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        try fixture.clock.advance(by: .seconds(1))
        _ = Recorder(outbox.drain(within: .seconds(1)), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(2))
        #expect(outbox.state.value.role == .closed)
        let removed = Recorder(outbox.remove(ticket.id), on: fixture.clock)
        #expect(removed.values.count == 1 && removed.isFinished)
        #expect(fixture.store.entries.isEmpty)
    }

    /// Two outboxes on one store: one sends, the other one shows, and takes over.
    @Test func twoOutboxes() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(1), leaseTime: .seconds(5))
        let ledger = KeyLedger()
        let fixture = OutboxFixture(store: store, ledger: ledger)
        var first: Outbox? = try fixture.outbox()
        let second = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(1))
        #expect(first?.state.value.role == .sender && second.state.value.role == .standby)
        let ticket = try fixture.enqueue(second, 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(5))
        #expect(ledger.numbers == [1])
        #expect(progress.values.last.map(text) == "delivered Receipt(number: 1)" && progress.isFinished)
        #expect(first?.state.value.role == .sender)
        first = nil
        try fixture.clock.advance(by: .seconds(10))
        #expect(second.state.value.role == .sender)
        _ = try fixture.enqueue(second, 2)
        try fixture.clock.advance(by: .seconds(1))
        #expect(ledger.numbers == [1, 2])
    }

    /// A sender whose lease has been taken sends nothing more.
    @Test func takenLease() throws {
        let store = MemoryOutboxStore(pollInterval: .seconds(1), leaseTime: .seconds(5))
        let fixture = OutboxFixture(store: store)
        let outbox = try fixture.outbox()
        try fixture.clock.advance(by: .seconds(1))
        #expect(outbox.state.value.role == .sender)
        // Another process, whose clock is ahead, takes this one for dead.
        let taken = Recorder(
            store.lease(renewing: nil, at: fixture.clock.date.addingTimeInterval(3600)), on: fixture.clock)
        #expect(taken.values.first.flatMap(\.self) != nil)
        _ = try fixture.enqueue(outbox, 1)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.sent.isEmpty)
        #expect(outbox.state.value.role == .standby)
        #expect(store.entries.map(\.delivery.phase) == [.queued])
    }

    /// The events tell the life of an entry.
    @Test func events() throws {
        let fixture = OutboxFixture([.status(.serviceUnavailable), .status(.notFound)])
        let outbox = try fixture.outbox()
        let events = Recorder(outbox.events, on: fixture.clock)
        _ = try fixture.enqueue(outbox, 1)
        try fixture.clock.advance(by: .seconds(60))
        let kinds = events.values.map { event in
            switch event {
            case .enqueued: "enqueued"
            case .sending: "sending"
            case .waiting: "waiting"
            case .delivered: "delivered"
            case .died: "died"
            case .replaced: "replaced"
            case .role: "role"
            case .storeFailed: "storeFailed"
            }
        }
        #expect(kinds == ["enqueued", "sending", "waiting", "sending", "died"])
        for event in events.values { #expect(!"\(event)".contains("number")) }
    }

    /// Retry-After of the server is kept, and its 409 means that the first attempt still runs.
    @Test func serverTimes() throws {
        let fixture = OutboxFixture([
            .status(.tooManyRequests, headers: [.retryAfter: "600"]), .status(.conflict),
        ])
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(599))
        #expect(fixture.sent.count == 1)
        try fixture.clock.advance(by: .seconds(600))
        #expect(
            progress.values.map(text) == [
                "sending 1", "waiting: status [429]", "sending 2",
                "waiting: an earlier attempt is still being processed", "sending 3",
                "delivered Receipt(number: 1)",
            ])
    }
}
#endif
