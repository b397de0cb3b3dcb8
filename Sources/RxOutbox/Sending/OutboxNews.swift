#if Outbox
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite

/// The news of entries for those who watch them, and the receipts of delivered ones.
extension OutboxRun {
    /// Calls `receive` with the news of an entry until `owner` closes. From inside the lane of `owner`.
    func watch(
        _ id: OutboxID, _ owner: Scope, _ receive: @escaping @Sendable (OutboxUpdate) -> Void
    ) {
        let watcher = OutboxWatcher(receive)
        owner.onClose {
            self.scope.enter { self.watchers.remove(watcher, of: id) }
        }
        scope.enter {
            let entry = self.plan.entries[id]
            if let entry { watcher.receive(.entry(entry)) }
            guard !self.isStopped else { return watcher.receive(.closed) }
            self.watchers.add(watcher, of: id)
            guard entry == nil else { return }
            // The entries that are being loaded may have been read before this one was written.
            if self.runningLoads > 0 { self.lateWatched.insert(id) }
            if self.revision != nil { self.findReceipt(id, mayBeStored: true) }
        }
    }

    func publish(_ update: OutboxUpdate, of id: OutboxID) {
        for watcher in watchers.receivers(of: update, id) { watcher.receive(update) }
    }

    /// The receipt of a delivered entry: its result, and its key if another enqueue may use that again.
    func receipt(
        of entry: OutboxEntry, _ content: Data, _ response: Response, at date: Date
    ) -> OutboxReceipt? {
        let result = configuration.receipts.flatMap { rules in
            endpointTypes.receipt(
                of: entry, content, response, hiding: response.request.redaction, rules, at: date)
        }
        guard let key = entry.usedKeyName, case .key(_, let rules) = entry.guarantee else { return result }
        return OutboxReceipt(
            id: entry.id, delivered: date, isSealed: result?.isSealed ?? false,
            content: result?.content ?? Data(),
            usedKey: UsedKey(key, until: (entry.delivery.mayHaveArrivedSince ?? date) + rules.lifetime))
    }

    /// Tells what has become of an entry that the plan does not have.
    ///
    /// - Parameter mayBeStored: whether the store may have the entry, written by another process since it was loaded.
    func findReceipt(_ id: OutboxID, mayBeStored: Bool) {
        guard let rules = configuration.receipts else {
            return mayBeStored ? load() : publish(.gone, of: id)
        }
        perform(store.receipt(of: id)) { result in
            guard !self.isStopped, self.plan.entries[id] == nil else { return }
            switch result {
            case .success(let receipt?) where self.currentDate < receipt.delivered + rules.lifetime:
                self.publish(.receipt(receipt), of: id)
            case .success where mayBeStored: self.load()
            case .success: self.publish(.gone, of: id)
            // Loading asks again once the store works.
            case .failure(let error): self.storeFails(error)
            }
        }
    }

    func countReceipt() {
        receiptCount += 1
        if receiptCount % OutboxReceiptRules.surplus == 0 { removeReceipts() }
    }

    func removeReceipts() {
        let rules = configuration.receipts
        let date = rules.map { currentDate + (.zero - $0.lifetime) } ?? .distantFuture
        perform(store.removeReceipts(before: date, keeping: rules?.limit ?? 0)) { result in
            if case .failure(let error) = result { self.storeFails(error) }
        }
    }
}

/// A receiver of the news of one entry.
final class OutboxWatcher: Sendable {
    let receive: @Sendable (OutboxUpdate) -> Void

    init(_ receive: @escaping @Sendable (OutboxUpdate) -> Void) { self.receive = receive }
}

/// The receivers of news, by the ids of their entries, in the order in which they came.
struct OutboxWatchers {
    private var watchers: [OutboxID: [OutboxWatcher]] = [:]

    /// The entries that somebody watches, in order, so that the same run has the same order of events.
    var ids: [OutboxID] { watchers.keys.sorted() }

    mutating func add(_ watcher: OutboxWatcher, of id: OutboxID) {
        watchers[id, default: []].append(watcher)
    }

    mutating func remove(_ watcher: OutboxWatcher, of id: OutboxID) {
        watchers[id]?.removeAll { $0 === watcher }
        if watchers[id]?.isEmpty == true { watchers[id] = nil }
    }

    /// The watchers of an entry, which are removed if the news is the last.
    mutating func receivers(of update: OutboxUpdate, _ id: OutboxID) -> [OutboxWatcher] {
        guard let own = watchers[id] else { return [] }
        if update.isFinal { watchers[id] = nil }
        return own
    }
}
#endif
