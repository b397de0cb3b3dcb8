#if Outbox
public import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

/// A store in memory, for tests: its contents last as long as the object, so that a test can end one ``Outbox`` and
/// begin another on the same store.
///
/// ```swift
/// let store = MemoryOutboxStore()
/// let outbox = try Outbox(store: store, client: client, endpoints: [PlaceOrder.self])
/// ```
///
/// Thread-safe.
public final class MemoryOutboxStore: OutboxStore {
    private struct Contents {
        var rows: [OutboxID: (entry: OutboxEntry, content: Data)] = [:]
        var ids: [String: OutboxID] = [:]
        var latestSequence: Int64 = 0
        var revision: Int64 = 0
        var latestLease: Int64 = 0
        var lease: OutboxLease?
        var failure: NetworkError?
        /// In the order of their deliveries.
        var receipts: [OutboxReceipt] = []
        /// The keys of delivered entries.
        var usedKeys: [String: (id: OutboxID, until: Date)] = [:]

        /// Keeps the receipt of a delivered entry, and its key. The caller raises `revision`.
        mutating func keep(_ receipt: OutboxReceipt) {
            if !receipt.content.isEmpty { receipts.append(receipt) }
            guard let used = receipt.usedKey else { return }
            usedKeys = usedKeys.filter { $0.value.until > receipt.delivered }
            usedKeys[used.key] = (receipt.id, used.until)
        }

        /// Removes an entry, if it is there. The caller raises `revision`.
        mutating func remove(_ id: OutboxID) {
            guard let row = rows.removeValue(forKey: id) else { return }
            if let key = row.entry.guarantee.key { ids[key] = nil }
        }
    }

    /// How often an outbox looks for changes by others.
    public let pollInterval: Duration?
    private let leaseTime: Duration
    private let contents = Mutex(Contents())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - pollInterval: how often an outbox looks for changes by others. Default `nil`: one outbox uses the store.
    ///   - leaseTime: how long a lease lasts unless it is renewed. Default 15 s. Without a `pollInterval` leases do not
    ///     end.
    public init(pollInterval: Duration? = nil, leaseTime: Duration = .seconds(15)) {
        self.pollInterval = pollInterval
        self.leaseTime = leaseTime
    }

    /// Lets all operations fail from now on, like a full disk; `nil` ends that.
    public func fail(with error: NetworkError?) { contents.withLock { $0.failure = error } }

    /// All entries and their contents, in the order of their sequence numbers.
    public var entries: [OutboxEntry] {
        contents.withLock { $0.rows.values.map(\.entry) }.sorted { $0.sequence < $1.sequence }
    }

    /// All receipts, in the order of their deliveries.
    public var receipts: [OutboxReceipt] { contents.withLock { $0.receipts } }

    /// Adds an entry.
    public func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        // `OutboxTable`, and `SharedOutboxStore` of RxFleet, have the same rules; change all three.
        working { contents in
            if let key = entry.guarantee.key, let id = contents.ids[key], let row = contents.rows[id] {
                return .exists(row.entry, row.content)
            }
            if let key = entry.usedKeyName, let used = contents.usedKeys[key], used.until > entry.created {
                return .delivered(used.id)
            }
            let replaced = entry.topic.map { topic in
                contents.rows.values.map(\.entry)
                    .filter { known in
                        known.topic == topic && known.account == entry.account
                            && known.delivery.phase != .sending
                    }
                    .map(\.id).sorted()
            }
            for id in replaced ?? [] { contents.remove(id) }
            contents.latestSequence += 1
            var entry = entry
            entry.sequence = contents.latestSequence
            contents.rows[entry.id] = (entry, content)
            if let key = entry.guarantee.key { contents.ids[key] = entry.id }
            contents.revision += 1
            return .added(sequence: entry.sequence, replaced: replaced ?? [])
        }
    }

    /// All entries.
    public func load() -> Observable<OutboxSnapshot, NetworkError> {
        working { contents in
            let entries = contents.rows.values.map(\.entry).sorted { $0.sequence < $1.sequence }
            return OutboxSnapshot(entries: entries, revision: contents.revision)
        }
    }

    /// The stored endpoint of an entry.
    public func content(of id: OutboxID) -> Observable<Data?, NetworkError> {
        working { $0.rows[id]?.content }
    }

    /// Changes an entry.
    public func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        // `OutboxTable`, and `SharedOutboxStore` of RxFleet, make the same changes; change all three.
        working { contents in
            if let lease, lease.number != contents.latestLease { return .leaseLost }
            guard let row = contents.rows[change.id], change.isAllowed(for: row.entry) else { return .gone }
            contents.revision += 1
            switch change {
            case .begin(let id, let delivery):
                contents.rows[id]?.entry.delivery = delivery
                return .applied(row.content)
            case .settle(let id, let delivery): contents.rows[id]?.entry.delivery = delivery
            case .complete(let id, let receipt):
                contents.remove(id)
                if let receipt { contents.keep(receipt) }
            case .discard(let id): contents.remove(id)
            case .revive(let entry, let content):
                if let key = row.entry.guarantee.key { contents.ids[key] = nil }
                if let key = entry.guarantee.key { contents.ids[key] = entry.id }
                var entry = entry
                entry.sequence = row.entry.sequence
                contents.rows[entry.id] = (entry, content ?? row.content)
            }
            return .applied(nil)
        }
    }

    /// The receipt of a delivered entry.
    public func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> {
        working { contents in contents.receipts.first { $0.id == id } }
    }

    /// Removes receipts.
    public func removeReceipts(before date: Date, keeping limit: Int) -> Observable<Void, NetworkError> {
        working { contents in
            contents.receipts.removeAll { $0.delivered < date }
            contents.receipts.removeFirst(max(contents.receipts.count - max(limit, 0), 0))
        }
    }

    /// The number of changes.
    public func revision() -> Observable<Int64, NetworkError> { working { $0.revision } }

    /// Takes or renews the lease.
    public func lease(
        renewing held: OutboxLease?, at now: Date
    ) -> Observable<OutboxLease?, NetworkError> {
        working { [leaseTime, pollInterval] contents in
            if let held {
                guard held.number == contents.lease?.number else { return nil }
            } else {
                // Without an end, the one outbox that uses the store takes the lease from a former one.
                if let expires = contents.lease?.expires, now < expires { return nil }
                contents.latestLease += 1
            }
            let lease = OutboxLease(
                number: contents.latestLease, expires: pollInterval == nil ? nil : now + leaseTime)
            contents.lease = lease
            return lease
        }
    }

    /// Gives a lease back.
    public func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> {
        working { contents in
            guard contents.lease?.number == lease.number else { return }
            contents.lease = nil
        }
    }

    /// Does nothing.
    public func close() -> Observable<Void, NetworkError> { .just(()) }

    private func working<Value: Sendable>(
        _ work: @escaping @Sendable (inout Contents) -> Value
    ) -> Observable<Value, NetworkError> {
        Observable { observer in
            let result = self.contents.withLock { contents -> Result<Value, NetworkError> in
                contents.failure.map { .failure($0) } ?? .success(work(&contents))
            }
            observer.scope.enter { observer.emitOnly(result) }
        }
    }
}
#endif
