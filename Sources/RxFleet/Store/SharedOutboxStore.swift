#if Fleet && Outbox
public import FoundationEssentials
public import RxHTTP
public import RxLite
public import RxOutbox
import Synchronization

/// The store of an outbox in a ``SharedStore``: all processes of a fleet write entries, and the one that holds a lease
/// sends them.
///
/// ```swift
/// let shared = FileStore(folder: "/var/lib/shop/fleet")
/// let outbox = try Outbox(
///     store: SharedOutboxStore(shared, name: "orders"), client: client, endpoints: [PlaceOrder.self])
/// ```
///
/// The lease and its fencing number are those of the shared store: a process that dies, or is cut off for longer than the
/// time of the lease, is followed by another one, and nothing that it writes later has an effect.
///
/// All entries are one record of the shared store, and each endpoint is another. Changes made at the same time share a
/// write. A record has at most 8 MiB. An enqueue beyond 4 MiB, which is enough for some 5,000 entries, fails with `tooLarge`:
/// the rest is for the failures of those entries, which are stored as well. An entry is as durable as the shared store: that
/// of a Redis that keeps its data in memory is lost with it.
///
/// A process that is killed while it enqueues may leave the record of an endpoint behind that belongs to no entry.
///
/// Thread-safe. Operations take effect in the order of their subscriptions.
public final class SharedOutboxStore: OutboxStore {
    /// How often an outbox looks for changes by other processes, and tries to become the sender.
    public let pollInterval: Duration?
    let shared: any SharedStore
    private let name: String
    private let leaseTime: Duration
    private let receiptLifetime: Duration
    let queue = Mutex(Queue())

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - shared: the store that the processes share.
    ///   - name: the name of the outbox, with which its records and its lease begin. Default `outbox`.
    ///   - leaseTime: the time after which another process takes over from one that does not run any more. Default 10 s.
    ///   - pollInterval: how often an outbox looks for changes by other processes. Default a second.
    ///   - receiptLifetime: the time after which the shared store removes receipts, whatever the outbox's rules say. Default
    ///     24 hours.
    public init(
        _ shared: any SharedStore, name: String = "outbox", leaseTime: Duration = .seconds(10),
        pollInterval: Duration = .seconds(1), receiptLifetime: Duration = .seconds(24 * 3600)
    ) {
        self.shared = shared
        self.name = name
        self.leaseTime = leaseTime
        self.pollInterval = max(pollInterval, .milliseconds(10))
        self.receiptLifetime = receiptLifetime
    }

    deinit { queue.withLock { $0.lease.take() }?.cancel() }

    /// The most bytes of the record with another entry: half of ``StoreRules/largestEntry``, so that the failures of
    /// the entries have room. The documentation of the type states both.
    static let fullSize = 4 << 20

    // Keys in the shared store: all processes, also of other releases, form the same ones.
    var recordKey: String { name + "/entries" }
    func contentKey(_ content: String) -> String { name + "/content/" + content }
    private func receiptKey(_ id: OutboxID) -> String { name + "/receipt/" + id.rawValue }

    // MARK: - Operations

    /// Adds an entry.
    public func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        // `OutboxTable` and `MemoryOutboxStore` have the same rules; change all three.
        let contentName = Self.token()
        return changing(
            under: nil, writing: (contentKey(contentName), content, nil), refused: nil, isAddition: true
        ) { record in
            if let key = entry.guarantee.key,
                let known = record.rows.first(where: { $0.entry.guarantee.key == key })
            {
                record.garbage.append(contentName)
                return Outcome(reading: known.content) { .exists(known.entry, $0) }
            }
            if let key = entry.usedKeyName, let used = record.usedKeys[key], used.until > entry.created {
                record.garbage.append(contentName)
                return Outcome(.delivered(used.id))
            }
            let replaced = record.rows.filter { row in
                row.entry.topic != nil && row.entry.topic == entry.topic
                    && row.entry.account == entry.account && row.entry.delivery.phase != .sending
            }
            for row in replaced { record.remove(row.entry.id) }
            record.latestSequence += 1
            var entry = entry
            entry.sequence = record.latestSequence
            record.rows.append(OutboxRecord.Row(entry: entry, content: contentName))
            record.revision += 1
            return Outcome(.added(sequence: entry.sequence, replaced: replaced.map(\.entry.id).sorted()))
        }
    }

    /// Changes an entry.
    public func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        let contentName = Self.token()
        let blob: (key: String, data: Data, lifetime: Duration?)? =
            switch change {
            case .revive(_, let content?): (contentKey(contentName), content, nil)
            case .complete(let id, let receipt?) where !receipt.content.isEmpty:
                (try? JSONEncoder().encode(receipt)).map { (receiptKey(id), $0, receiptLifetime) }
            default: nil
            }
        // As in `add`: `OutboxTable` and `MemoryOutboxStore` have the same rules; change all three.
        return changing(under: lease, writing: blob, refused: .leaseLost) { record in
            guard let index = record.rows.firstIndex(where: { $0.entry.id == change.id }),
                change.isAllowed(for: record.rows[index].entry)
            else {
                if case .revive(_, .some) = change { record.garbage.append(contentName) }
                return Outcome(.gone)
            }
            record.revision += 1
            switch change {
            case .begin(_, let delivery):
                record.rows[index].entry.delivery = delivery
                return Outcome(reading: record.rows[index].content) { .applied($0) }
            case .settle(_, let delivery): record.rows[index].entry.delivery = delivery
            case .complete(let id, let receipt):
                record.remove(id)
                if let receipt { record.keep(receipt) }
            case .discard(let id): record.remove(id)
            case .revive(let entry, let content):
                let former = record.rows[index]
                var entry = entry
                entry.sequence = former.entry.sequence
                record.rows[index] = OutboxRecord.Row(
                    entry: entry, content: content == nil ? former.content : contentName)
                if content != nil { record.garbage.append(former.content) }
            }
            return Outcome(.applied(nil))
        }
    }

    /// All entries.
    public func load() -> Observable<OutboxSnapshot, NetworkError> {
        reading { OutboxSnapshot(entries: $0.rows.map(\.entry), revision: $0.revision) }
    }

    /// The number of changes.
    public func revision() -> Observable<Int64, NetworkError> { reading { $0.revision } }

    /// The stored endpoint of an entry.
    public func content(of id: OutboxID) -> Observable<Data?, NetworkError> {
        reading { record in record.rows.first { $0.entry.id == id }?.content }
            .flatMap { [shared, self] content -> Observable<Data?, NetworkError> in
                guard let content else { return .just(nil) }
                return shared.read(contentKey(content)).map { $0.map { Data($0.bytes) } }
            }
    }

    /// The receipt of a delivered entry.
    public func receipt(of id: OutboxID) -> Observable<OutboxReceipt?, NetworkError> {
        shared.read(receiptKey(id)).map { entry in
            entry.flatMap { try? JSONDecoder().decode(OutboxReceipt.self, from: Data($0.bytes)) }
        }
    }

    /// Does nothing: the shared store removes receipts when their lifetime is over.
    public func removeReceipts(before _: Date, keeping _: Int) -> Observable<Void, NetworkError> { .just(()) }

    // MARK: - The lease

    /// The lease if it has been granted and not been taken yet, or if `held` is still held; otherwise `nil`. The shared
    /// store extends it by itself. Queues this process for it, if it is not queued yet, until it is granted or
    /// ``close()`` is called.
    public func lease(
        renewing held: OutboxLease?, at now: Date
    ) -> Observable<OutboxLease?, NetworkError> {
        Observable { [self] observer in
            guard observer.scope.isOpen else { return }
            let report: @Sendable (Result<OutboxLease?, NetworkError>) -> Void = { result in
                observer.scope.enter { observer.emitOnly(result) }
            }
            if let held {
                let isHeld = queue.withLock { $0.lease.granted?.number == held.number }
                return report(.success(isHeld ? renewed(held.number, at: now) : nil))
            }
            requestLease()
            // Only a barrier: a lease that is free has been granted before the reply to a later command arrives. From a
            // store where it is granted later, the next call takes it.
            Self.perform(shared.read(recordKey)) { result in
                report(
                    result.map { _ in
                        self.queue.withLock { $0.lease.claim() }.flatMap { self.renewed($0, at: now) }
                    })
            }
        }
    }

    /// Gives a lease back.
    public func release(_ lease: OutboxLease) -> Observable<Void, NetworkError> {
        Observable { [self] observer in
            let subscription = queue.withLock { queue in
                queue.lease.granted?.number == lease.number ? queue.lease.take() : nil
            }
            subscription?.cancel()
            observer.scope.enter { observer.emitOnly(.success(())) }
        }
    }

    /// Gives up the place in the queue of the lease. A lease that has not been released stays, since another outbox may
    /// send with this store.
    public func close() -> Observable<Void, NetworkError> {
        Observable { [self] observer in
            // Another outbox may send with this store.
            queue.withLock { $0.lease.granted == nil ? $0.lease.take() : nil }?.cancel()
            observer.scope.enter { observer.emitOnly(.success(())) }
        }
    }

    private func renewed(_ number: Int64, at now: Date) -> OutboxLease? {
        OutboxLease(number: number, expires: now.addingTimeInterval(leaseTime / .seconds(1)))
    }

    /// Asks for the lease, unless it is held or has been asked for.
    private func requestLease() {
        let request: Int? = queue.withLock { queue in
            guard queue.lease.request == nil else { return nil }
            queue.requestCount += 1
            queue.lease.request = queue.requestCount
            return queue.requestCount
        }
        guard let request else { return }
        let subscription = shared.lease(name, for: leaseTime).observe(
            onNext: { [weak self] lease in
                self?.queue.withLock { queue in
                    guard queue.lease.request == request else { return }
                    queue.lease.shared = lease
                }
            },
            onEnd: { [weak self] _ in
                self?.queue.withLock { queue in
                    if queue.lease.request == request { queue.lease = HeldLease() }
                }
            })
        let isWanted = queue.withLock { queue in
            guard queue.lease.request == request else { return false }
            queue.lease.subscription = subscription
            return true
        }
        if !isWanted { subscription.cancel() }
    }

    /// The right to send, from the request on.
    struct HeldLease {
        /// The number of the running request, by which events of former ones are told apart.
        var request: Int?
        var shared: SharedLease?
        var subscription: Subscription?
        var isClaimed = false

        /// The lease, if it has been granted and taken.
        var granted: (number: Int64, lease: SharedLease)? {
            guard isClaimed, let shared else { return nil }
            return (Int64(clamping: shared.fence), shared)
        }

        /// The number of the lease if it is granted, and nobody has taken it.
        mutating func claim() -> Int64? {
            guard !isClaimed, let shared else { return nil }
            isClaimed = true
            return Int64(clamping: shared.fence)
        }

        mutating func take() -> Subscription? {
            defer { self = HeldLease() }
            return subscription
        }
    }
}
#endif
