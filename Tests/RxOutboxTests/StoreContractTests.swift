#if Outbox
import Foundation
import RxCurl
import RxFleet
import RxHTTP
import RxLite
import TestServers
import Testing

@testable import RxOutbox

/// The contract of all stores of an outbox.
@Suite(.timeLimit(.minutes(3))) struct StoreContractTests {
    enum Kind: CaseIterable {
        case memory, sqlite, sharedMemory, sharedFile
    }

    /// A store, and what it needs as long as it is used.
    private struct Subject {
        let store: any OutboxStore
        let folder: TemporaryFolder?

        init(_ kind: Kind) throws {
            switch kind {
            case .memory: (store, folder) = (MemoryOutboxStore(), nil)
            case .sqlite:
                let folder = try TemporaryFolder()
                self.folder = folder
                store = SQLiteOutboxStore(folder: folder.file("outbox"))
            case .sharedMemory:
                folder = nil
                store = SharedOutboxStore(MemoryStore(on: CurlTransport.shared.scheduler))
            case .sharedFile:
                let folder = try TemporaryFolder()
                self.folder = folder
                store = SharedOutboxStore(FileStore(folder: folder.file("fleet")))
            }
        }
    }

    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private func entry(
        _ id: String, key: String? = nil, order: OutboxOrder? = nil, topic: String? = nil,
        account: String = "anna"
    ) -> OutboxEntry {
        OutboxEntry(
            id: OutboxID(rawValue: id),
            OutboxEntry.Terms(
                name: "n", version: 3,
                guarantee: key.map { .key($0, .stripe) } ?? .atLeastOnce,
                order: order, topic: topic, account: account,
                attachments: [OutboxAttachment(path: "/f", size: 3, digest: "00")], created: Self.start,
                expires: Self.start + 60, isSealed: true))
    }

    private func delivery(_ phase: OutboxDelivery.Phase, attempts: Int = 1) -> OutboxDelivery {
        var delivery = OutboxDelivery()
        delivery.attempts = attempts
        delivery.mayHaveArrivedSince = Self.start
        delivery.phase = phase
        return delivery
    }

    private func add(_ entry: OutboxEntry, _ text: String = "x", to store: any OutboxStore) async throws
        -> (sequence: Int64, replaced: [OutboxID])
    {
        guard case .added(let sequence, let replaced) = try await store.add(entry, Data(text.utf8)).value()
        else { throw NetworkError(.noValue, "exists") }
        return (sequence, replaced)
    }

    private func entries(_ store: any OutboxStore) async throws -> [OutboxEntry] {
        try await store.load().value().entries
    }

    /// Entries come back as they were written, in the order in which they became durable.
    @Test(arguments: Kind.allCases)
    func roundTrip(_ kind: Kind) async throws {
        let store = try Subject(kind)
        var written: [OutboxEntry] = []
        for number in 0..<5 {
            var entry = entry("\(number)", key: "k\(number)", order: OutboxOrder("é", afterDeath: .release))
            entry.sequence = try await add(entry, "content \(number)", to: store.store).sequence
            written.append(entry)
        }
        #expect(try await entries(store.store) == written)
        #expect(written.map(\.sequence) == written.map(\.sequence).sorted())
        let content = try await store.store.content(of: written[3].id).value()
        #expect(content == Data("content 3".utf8))
        #expect(try await store.store.content(of: OutboxID(rawValue: "other")).value() == nil)
    }

    /// Sequence numbers are never used again.
    @Test(arguments: Kind.allCases)
    func sequences(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let first = try await add(entry("a"), to: subject.store).sequence
        _ = try await subject.store.change(.complete(OutboxID(rawValue: "a"), nil), under: nil).value()
        #expect(try await add(entry("b"), to: subject.store).sequence > first)
    }

    /// An entry with a known key is not added.
    @Test(arguments: Kind.allCases)
    func knownKeys(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        _ = try await add(entry("a", key: "k"), "first", to: subject.store)
        guard
            case .exists(let known, let content) = try await subject.store.add(
                entry("b", key: "k"), Data("second".utf8)
            ).value()
        else {
            Issue.record("added twice")
            return
        }
        #expect(known.id.rawValue == "a" && content == Data("first".utf8))
        #expect(try await entries(subject.store).count == 1)
        // Once it has been delivered, the key is free.
        _ = try await subject.store.change(.complete(known.id, nil), under: nil).value()
        _ = try await add(entry("b", key: "k"), to: subject.store)
    }

    /// A given key of a delivered entry is kept until its end.
    @Test(arguments: Kind.allCases)
    func usedKeys(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        var first = entry("a", key: "k")
        first.terms.isKeyGiven = true
        _ = try await add(first, to: subject.store)
        let receipt = OutboxReceipt(
            id: first.id, delivered: Self.start, isSealed: false, content: Data(),
            usedKey: UsedKey(try #require(first.usedKeyName), until: Self.start + 60))
        _ = try await subject.store.change(.complete(first.id, receipt), under: nil).value()
        #expect(try await subject.store.receipt(of: first.id).value() == nil)
        func again(_ id: String, at date: Date) -> OutboxEntry {
            var entry = entry(id, key: "k")
            entry.terms.isKeyGiven = true
            entry.terms.created = date
            return entry
        }
        guard
            case .delivered(let id) = try await subject.store.add(again("b", at: Self.start + 59), Data())
                .value()
        else {
            Issue.record("added twice")
            return
        }
        #expect(id == first.id)
        #expect(try await entries(subject.store).isEmpty)
        let next = again("c", at: Self.start + 60)
        _ = try await add(next, to: subject.store)
        let stored = try #require(await entries(subject.store).first)
        #expect(stored.terms == next.terms)
    }

    /// A dead entry is changed only as it was when somebody looked at it.
    @Test(arguments: Kind.allCases)
    func comparedRevivals(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let id = OutboxID(rawValue: "a")
        _ = try await add(entry("a"), to: subject.store)
        var dead = delivery(.dead(.expired(nil)))
        dead.since = Self.start + 0.3
        _ = try await subject.store.change(.settle(id, dead), under: nil).value()
        var revived = entry("a")
        revived.delivery = delivery(.queued)
        for since in [nil, Self.start, Self.start + 0.5] {
            revived.delivery.since = since
            #expect(try await subject.store.change(.revive(revived, nil), under: nil).value() == .gone)
        }
        revived.delivery.since = dead.since
        #expect(try await subject.store.change(.revive(revived, nil), under: nil).value() == .applied(nil))
    }

    /// An entry replaces those with its topic that are not being sent.
    @Test(arguments: Kind.allCases)
    func topics(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        for id in ["waiting", "sending", "dead", "other"] {
            _ = try await add(entry(id, topic: nil), to: subject.store)
        }
        for (id, phase) in [
            ("t-queued", OutboxDelivery.Phase.queued),
            ("t-waiting", .waiting(until: Self.start, .interrupted)), ("t-sending", .sending),
            ("t-dead", .dead(.expired(nil))),
        ] {
            // Written one by one, each would replace the one before.
            _ = try await add(entry(id), to: subject.store)
            _ = try await subject.store.change(
                .settle(OutboxID(rawValue: id), delivery(.dead(.expired(nil)))), under: nil
            ).value()
            var revived = entry(id, topic: "t")
            revived.delivery = delivery(phase)
            _ = try await subject.store.change(.revive(revived, nil), under: nil).value()
        }
        // The topics of another account are others.
        let others = try await add(entry("ben", topic: "t", account: "ben"), to: subject.store).replaced
        #expect(others.isEmpty)
        let replaced = try await add(entry("new", topic: "t"), to: subject.store).replaced
        #expect(Set(replaced.map(\.rawValue)) == ["t-queued", "t-waiting", "t-dead"])
        let left = try await entries(subject.store).map(\.id.rawValue)
        #expect(left == ["waiting", "sending", "dead", "other", "t-sending", "ben", "new"])
    }

    /// A change needs an entry that is not dead, or one that is.
    @Test(arguments: Kind.allCases)
    func conditions(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let id = OutboxID(rawValue: "a")
        let sending = delivery(.sending)
        #expect(try await subject.store.change(.begin(id, sending), under: nil).value() == .gone)
        _ = try await add(entry("a", key: "k"), "content", to: subject.store)
        #expect(
            try await subject.store.change(.begin(id, sending), under: nil).value()
                == .applied(Data("content".utf8)))
        #expect(try await entries(subject.store).first?.delivery == sending)
        #expect(try await subject.store.change(.discard(id), under: nil).value() == .gone)
        #expect(try await subject.store.change(.revive(entry("a"), nil), under: nil).value() == .gone)

        let dead = delivery(.dead(.uncertain(.interrupted)))
        #expect(try await subject.store.change(.settle(id, dead), under: nil).value() == .applied(nil))
        for change in [OutboxChange.begin(id, sending), .settle(id, sending), .complete(id, nil)] {
            #expect(try await subject.store.change(change, under: nil).value() == .gone)
        }
        var revived = entry("a", key: "new")
        revived.delivery = delivery(.queued, attempts: 0)
        #expect(
            try await subject.store.change(.revive(revived, Data("edited".utf8)), under: nil).value()
                == .applied(nil))
        let stored = try #require(await entries(subject.store).first)
        #expect(stored.guarantee.key == "new" && stored.delivery == revived.delivery)
        #expect(try await subject.store.content(of: id).value() == Data("edited".utf8))
        // The former key is free, the new one is not.
        _ = try await add(entry("b", key: "k"), to: subject.store)
        guard case .exists = try await subject.store.add(entry("c", key: "new"), Data()).value() else {
            Issue.record("the new key is not known")
            return
        }
    }

    /// The revision grows by one with each change that takes effect.
    @Test(arguments: Kind.allCases)
    func revisions(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let start = try await subject.store.revision().value()
        _ = try await add(entry("a", key: "k"), to: subject.store)
        _ = try await subject.store.add(entry("b", key: "k"), Data()).value()
        _ = try await subject.store.change(.begin(OutboxID(rawValue: "b"), delivery(.sending)), under: nil)
            .value()
        _ = try await subject.store.change(.begin(OutboxID(rawValue: "a"), delivery(.sending)), under: nil)
            .value()
        _ = try await subject.store.change(.complete(OutboxID(rawValue: "a"), nil), under: nil).value()
        #expect(try await subject.store.revision().value() == start + 3)
        #expect(try await subject.store.load().value().revision == start + 3)
    }

    /// The receipt of a delivered entry stays; only the change that is made keeps it.
    @Test(arguments: Kind.allCases)
    func receipts(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let (a, b) = (OutboxID(rawValue: "a"), OutboxID(rawValue: "b"))
        _ = try await add(entry("a"), to: subject.store)
        let receipt = OutboxReceipt(
            id: a, delivered: Self.start, isSealed: true, content: Data("answer".utf8))
        #expect(try await subject.store.receipt(of: a).value() == nil)
        #expect(try await subject.store.change(.complete(a, receipt), under: nil).value() == .applied(nil))
        #expect(try await subject.store.receipt(of: a).value() == receipt)
        #expect(try await subject.store.receipt(of: b).value() == nil)
        _ = try await add(entry("b"), to: subject.store)
        #expect(
            try await subject.store.change(.settle(b, delivery(.dead(.expired(nil)))), under: nil).value()
                == .applied(nil))
        #expect(try await entries(subject.store).map(\.id) == [b])
    }

    /// The changes of a former lease have no effect.
    @Test(arguments: Kind.allCases)
    func fencing(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        _ = try await add(entry("a"), to: subject.store)
        let first = try #require(await subject.store.lease(renewing: nil, at: Self.start).value())
        _ = try await subject.store.release(first).value()
        let second = try #require(await subject.store.lease(renewing: nil, at: Self.start).value())
        #expect(second.number > first.number)
        let change = OutboxChange.begin(OutboxID(rawValue: "a"), delivery(.sending))
        #expect(try await subject.store.change(change, under: first).value() == .leaseLost)
        #expect(try await entries(subject.store).first?.delivery.phase == .queued)
        #expect(try await subject.store.change(change, under: second).value() == .applied(Data("x".utf8)))
    }

    /// Changes made at the same time are all made.
    @Test(arguments: Kind.allCases)
    func concurrent(_ kind: Kind) async throws {
        let subject = try Subject(kind)
        let store = subject.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await store.add(
                        OutboxEntry(
                            id: OutboxID(rawValue: "\(number)"),
                            OutboxEntry.Terms(
                                name: "n", version: 1, guarantee: .atLeastOnce, created: Self.start)),
                        Data("\(number)".utf8)
                    ).value()
                }
            }
            try await group.waitForAll()
        }
        let found = try await entries(store)
        #expect(Set(found.map(\.id.rawValue)) == Set((0..<200).map { "\($0)" }))
        #expect(Set(found.map(\.sequence)).count == 200)
    }
}
#endif
