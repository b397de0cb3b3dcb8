#if Fleet && Outbox
import FoundationEssentials
import RxHTTP
import RxLite
import RxOutbox
import Synchronization

/// The changes of the record of a ``SharedOutboxStore``: those made at the same time share a write, and looks share a read.
/// One batch runs at a time. The store may answer on any thread, hence the lock of `queue`.
extension SharedOutboxStore {
    struct Queue {
        var waiting: [Change] = []
        var isRunning = false
        /// The record as it was written or read last.
        var known: Known?
        var lease = HeldLease()
        var requestCount = 0
    }

    /// The record as it is stored, with the number of its bytes.
    struct Known {
        var record: OutboxRecord
        var version: ExpectedVersion
        var size: Int
    }

    /// A change of the record, or a look at it.
    struct Change: Sendable {
        let lease: OutboxLease?
        /// A record that must exist before the change.
        let blob: (key: String, data: Data, lifetime: Duration?)?
        let isLook: Bool
        let isAddition: Bool
        /// Whether the blob has been written, and the change is made without others, since together they had no room.
        var isAlone = false
        /// Changes the record; returns the report for when that is durable. Called again if another process was faster.
        let make: @Sendable (inout OutboxRecord) -> @Sendable () -> Void
        /// Called in place of a report if ``lease`` is no longer that of this process.
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
    enum Outcome<Value: Sendable>: Sendable {
        case value(Value)
        case content(String, @Sendable (Data) -> Value)

        init(_ value: Value) { self = .value(value) }
        init(reading content: String, _ make: @escaping @Sendable (Data) -> Value) {
            self = .content(content, make)
        }
    }

    /// The outcome of a change, once it is durable. `make` runs on any thread, and raises ``OutboxRecord/revision`` if
    /// it changes the record; otherwise nothing is written.
    func changing<Value: Sendable>(
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

    func reading<Value: Sendable>(
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

    /// Writes the contents that the changes refer to, one after the other, before the record that refers to them.
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
    ///
    /// - Parameter isFresh: whether the known record has been read for this batch.
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
            // Nothing to write. That counts only for a record that was read for this batch: another process may have
            // changed it since it became known.
            guard isFresh else {
                queue.withLock { $0.known = nil }
                return commit(batch, isFresh: false)
            }
            clean(garbage)
            return end(batch, reports)
        }
        let token = Self.token()
        record.recentWriteTokens = Array((record.recentWriteTokens + [token]).suffix(OutboxRecord.tokenCount))
        record.garbage = []
        guard let bytes = try? Array(JSONEncoder().encode(record)) else {
            return end(batch) { $0.fail(OutboxRecord.corruptError) }
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
            if case .success(let known) = result, known.record.recentWriteTokens.contains(token) {
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
            // First: `commit` takes it from there.
            self.queue.withLock { $0.known = try? known.get() }
            report(known)
        }
    }

    static func token() -> String { RandomSource.uuid().uuidString }

    static func perform<Value: Sendable>(
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
