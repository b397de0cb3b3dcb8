#if Outbox
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
