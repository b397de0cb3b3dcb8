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
    private let shared: any SharedStore
    private let name: String
    private let leaseTime: Duration
    private let receiptLifetime: Duration
    private let queue = Mutex(Queue())

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

    /// The most bytes of the record with another entry.
    private static let fullSize = 4 << 20

    private var recordKey: String { name + "/entries" }
    private func contentKey(_ content: String) -> String { name + "/content/" + content }
    private func receiptKey(_ id: OutboxID) -> String { name + "/receipt/" + id.rawValue }

    // MARK: - Operations

    /// Adds an entry.
    public func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        let place = Self.token()
        return changing(
            under: nil, writing: (contentKey(place), content, nil), refused: nil, isAddition: true
        ) { record in
            if let key = entry.guarantee.key,
                let known = record.rows.first(where: { $0.entry.guarantee.key == key })
            {
                record.garbage.append(place)
                return Outcome(reading: known.content) { .exists(known.entry, $0) }
            }
            if let key = entry.usedKeyName, let used = record.usedKeys[key], used.until > entry.created {
                record.garbage.append(place)
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
            record.rows.append(OutboxRecord.Row(entry: entry, content: place))
            record.revision += 1
            return Outcome(.added(sequence: entry.sequence, replaced: replaced.map(\.entry.id).sorted()))
        }
    }

    /// Changes an entry.
    public func change(
        _ change: OutboxChange, under lease: OutboxLease?
    ) -> Observable<OutboxChange.Outcome, NetworkError> {
        let place = Self.token()
        let blob: (key: String, data: Data, lifetime: Duration?)? =
            switch change {
            case .revive(_, let content?): (contentKey(place), content, nil)
            case .complete(let id, let receipt?) where !receipt.content.isEmpty:
                (try? JSONEncoder().encode(receipt)).map { (receiptKey(id), $0, receiptLifetime) }
            default: nil
            }
        return changing(under: lease, writing: blob, refused: .leaseLost) { record in
            guard let index = record.rows.firstIndex(where: { $0.entry.id == change.id }),
                change.isAllowed(for: record.rows[index].entry)
            else {
                if case .revive(_, .some) = change { record.garbage.append(place) }
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
                    entry: entry, content: content == nil ? former.content : place)
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

    /// Takes or renews the lease. The shared store extends it as long as this process runs; it waits in the queue of the
    /// lease until it is granted or ``close()`` is called.
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
            // The grant of a free lease arrives before the reply of a later command.
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

    // MARK: - The queue

    /// The right to send, from the request on.
    private struct HeldLease {
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

    private struct Queue {
        var waiting: [Change] = []
        var isRunning = false
        /// The record as it was written or read last.
        var known: Known?
        var lease = HeldLease()
        var requestCount = 0
    }

    /// The record as it is stored, with the number of its bytes.
    private struct Known {
        var record: OutboxRecord
        var version: ExpectedVersion
        var size: Int
    }

    /// A change of the record, or a look at it.
    private struct Change: Sendable {
        let lease: OutboxLease?
        /// A record that must exist before the change.
        let blob: (key: String, data: Data, lifetime: Duration?)?
        let isLook: Bool
        let isAddition: Bool
        /// Whether the blob has been written, and the change is made without others, since together they had no room.
        var isAlone = false
        /// Changes the record; returns the report for when that is durable. Called again if another process was faster.
        let make: @Sendable (inout OutboxRecord) -> @Sendable () -> Void
        let refuse: @Sendable () -> Void
        let fail: @Sendable (NetworkError) -> Void

        init(
            lease: OutboxLease?, blob: (key: String, data: Data, lifetime: Duration?)?, isLook: Bool = false,
            isAddition: Bool = false,
            make: @escaping @Sendable (inout OutboxRecord) -> @Sendable () -> Void,
            refuse: @escaping @Sendable () -> Void, fail: @escaping @Sendable (NetworkError) -> Void
        ) {
            self.lease = lease
            self.blob = blob
            self.isLook = isLook
            self.isAddition = isAddition
            self.make = make
            self.refuse = refuse
            self.fail = fail
        }
    }

    /// The outcome of a change, perhaps with the content of an entry, which is read afterwards.
    private enum Outcome<Value: Sendable>: Sendable {
        case value(Value)
        case content(String, @Sendable (Data) -> Value)

        init(_ value: Value) { self = .value(value) }
        init(reading content: String, _ make: @escaping @Sendable (Data) -> Value) {
            self = .content(content, make)
        }
    }

    private func changing<Value: Sendable>(
        under lease: OutboxLease?, writing blob: (key: String, data: Data, lifetime: Duration?)?,
        refused: Value?, isAddition: Bool = false,
        _ make: @escaping @Sendable (inout OutboxRecord) -> Outcome<Value>
    ) -> Observable<Value, NetworkError> {
        Observable { [self] observer in
            let report: @Sendable (Result<Value, NetworkError>) -> Void = { result in
                observer.scope.enter { observer.emitOnly(result) }
            }
            enter(
                Change(lease: lease, blob: blob, isAddition: isAddition) { record in
                    switch make(&record) {
                    case .value(let value): return { report(.success(value)) }
                    case .content(let content, let value):
                        return {
                            Self.perform(self.shared.read(self.contentKey(content))) { result in
                                // No endpoint reads what the shared store has lost: the entry becomes a dead letter.
                                report(result.map { value(Data($0?.bytes ?? [])) })
                            }
                        }
                    }
                } refuse: {
                    if let refused { report(.success(refused)) }
                } fail: {
                    report(.failure($0))
                })
        }
    }

    private func reading<Value: Sendable>(
        _ look: @escaping @Sendable (OutboxRecord) -> Value
    ) -> Observable<Value, NetworkError> {
        Observable { [self] observer in
            enter(
                Change(lease: nil, blob: nil, isLook: true) { record in
                    let value = look(record)
                    return { observer.scope.enter { observer.emitOnly(.success(value)) } }
                } refuse: {
                } fail: { error in
                    observer.scope.enter { observer.emitOnly(.failure(error)) }
                })
        }
    }

    private func enter(_ change: Change) {
        let begins = queue.withLock { queue in
            queue.waiting.append(change)
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        if begins { proceed() }
    }

    /// Takes the next changes that share a write, or looks that share a read.
    private func proceed() {
        let batch = queue.withLock { queue -> [Change] in
            guard let first = queue.waiting.first else {
                queue.isRunning = false
                return []
            }
            let count =
                first.isAlone ? 1 : queue.waiting.prefix { $0.isLook == first.isLook && !$0.isAlone }.count
            defer { queue.waiting.removeFirst(count) }
            return Array(queue.waiting.prefix(count))
        }
        guard let first = batch.first else { return }
        if first.isLook { look(batch) } else { prepare(batch[...], []) }
    }

    private func look(_ batch: [Change]) {
        read { result in
            switch result {
            case .success(var known): for report in batch.map({ $0.make(&known.record) }) { report() }
            case .failure(let error): for change in batch { change.fail(error) }
            }
            self.proceed()
        }
    }

    /// Writes the contents that the changes refer to, one after the other.
    private func prepare(_ rest: ArraySlice<Change>, _ ready: [Change]) {
        guard let change = rest.first else {
            return ready.isEmpty ? proceed() : commit(ready, isFresh: false)
        }
        guard let blob = change.blob, !change.isAlone else {
            return prepare(rest.dropFirst(), ready + [change])
        }
        let bytes = Array(blob.data)
        Self.perform(shared.swap(blob.key, to: bytes, expecting: .any, under: nil, for: blob.lifetime)) {
            result in
            switch result {
            case .success: self.prepare(rest.dropFirst(), ready + [change])
            case .failure(let error):
                change.fail(error)
                self.prepare(rest.dropFirst(), ready)
            }
        }
    }

    /// Makes the changes in the record that is known, or in the one of the store if it may be another.
    private func commit(_ batch: [Change], isFresh: Bool) {
        guard let known = queue.withLock({ $0.known }) else {
            return read { result in
                switch result {
                case .success: self.commit(batch, isFresh: true)
                case .failure(let error): self.end(batch) { $0.fail(error) }
                }
            }
        }
        // One batch has one lease: that of this process, or a former one, which is refused below.
        let held = queue.withLock { $0.lease.granted }
        let refused = batch.filter { $0.lease != nil && $0.lease?.number != held?.number }
        guard refused.isEmpty else {
            for change in refused { change.refuse() }
            let rest = batch.filter { $0.lease == nil || $0.lease?.number == held?.number }
            return rest.isEmpty ? proceed() : commit(rest, isFresh: isFresh)
        }
        var record = known.record
        record.garbage = []
        let reports = batch.map { $0.make(&record) }
        let garbage = record.garbage
        guard record.revision != known.record.revision else {
            // Nothing to write, if the record is still that.
            guard isFresh else {
                queue.withLock { $0.known = nil }
                return commit(batch, isFresh: false)
            }
            clean(garbage)
            return end(batch, reports)
        }
        let token = Self.token()
        record.commits = Array((record.commits + [token]).suffix(OutboxRecord.commitCount))
        record.garbage = []
        guard let bytes = try? Array(JSONEncoder().encode(record)) else {
            return end(batch) { $0.fail(OutboxRecord.damage) }
        }
        // An entry that replaces others may take less.
        guard bytes.count <= max(Self.fullSize, known.size) || !batch.contains(where: \.isAddition) else {
            return batch.count > 1 ? commitEach(batch[...]) : refuse(batch[0])
        }
        let written = record
        let lease = batch.contains { $0.lease != nil } ? held?.lease : nil
        Self.perform(shared.swap(recordKey, to: bytes, expecting: known.version, under: lease, for: nil)) {
            result in
            switch result {
            case .success(.swapped(let version)):
                self.queue.withLock {
                    $0.known = Known(record: written, version: .exactly(version), size: bytes.count)
                }
                self.clean(garbage)
                self.end(batch, reports)
            case .success(.conflict):
                self.queue.withLock { $0.known = nil }
                self.commit(batch, isFresh: false)
            case .success(.fenced):
                for change in batch where change.lease != nil { change.refuse() }
                let rest = batch.filter { $0.lease == nil }
                if rest.isEmpty { self.proceed() } else { self.commit(rest, isFresh: isFresh) }
            case .failure(let error) where error.code == .tooLarge && batch.count > 1:
                self.commitEach(batch[...])
            case .failure(let error): self.resolve(batch, reports, token, error)
            }
        }
    }

    /// Finds out whether a write whose reply was lost has taken place.
    private func resolve(
        _ batch: [Change], _ reports: [@Sendable () -> Void], _ token: String, _ error: NetworkError
    ) {
        read { result in
            if case .success(let known) = result, known.record.commits.contains(token) {
                self.end(batch, reports)
            } else {
                self.end(batch) { $0.fail(error) }
            }
        }
    }

    /// The record has no room for another entry.
    private func refuse(_ addition: Change) {
        if let blob = addition.blob { clean([String(blob.key.dropFirst(contentKey("").count))]) }
        end([addition]) { $0.fail(NetworkError(.tooLarge, "the outbox in the shared store is full")) }
    }

    /// One of the changes makes the record too large; the others are made.
    private func commitEach(_ rest: ArraySlice<Change>) {
        guard let change = rest.first else { return }
        let others = rest.dropFirst().map { change in
            var change = change
            change.isAlone = true
            return change
        }
        queue.withLock { $0.waiting.insert(contentsOf: others, at: 0) }
        commit([change], isFresh: false)
    }

    private func end(_ batch: [Change], _ reports: [@Sendable () -> Void]) {
        for report in reports { report() }
        proceed()
    }

    private func end(_ batch: [Change], _ report: (Change) -> Void) {
        for change in batch { report(change) }
        proceed()
    }

    private func clean(_ garbage: [String]) {
        for content in garbage {
            // What stays behind only takes space.
            Self.perform(
                shared.swap(contentKey(content), to: nil, expecting: .any, under: nil, for: nil)
            ) { _ in }
        }
    }

    /// Reads the record.
    private func read(
        _ report:
            @escaping @Sendable (Result<Known, NetworkError>) -> Void
    ) {
        Self.perform(shared.read(recordKey)) { result in
            let known = result.flatMap {
                entry -> Result<Known, NetworkError> in
                guard let entry else {
                    return .success(Known(record: OutboxRecord(), version: .absent, size: 0))
                }
                return Result { () throws(NetworkError) in
                    Known(
                        record: try OutboxRecord(json: Data(entry.bytes)), version: .exactly(entry.version),
                        size: entry.bytes.count)
                }
            }
            self.queue.withLock { $0.known = try? known.get() }
            report(known)
        }
    }

    private static func token() -> String { RandomSource.uuid().uuidString }

    private static func perform<Value: Sendable>(
        _ work: Observable<Value, NetworkError>,
        _ report: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) {
        _ = work.observe(
            onNext: { report(.success($0)) },
            onEnd: { completion in
                guard case .failed(let error) = completion else { return }
                report(.failure(error))
            })
    }
}
#endif
