#if Outbox
/// A receiver of the news of one entry.
final class OutboxWatcher: Sendable {
    let receive: @Sendable (OutboxUpdate) -> Void

    init(_ receive: @escaping @Sendable (OutboxUpdate) -> Void) { self.receive = receive }
}

/// The receivers of news, by the ids of their entries.
struct OutboxWatchers {
    private var watchers: [OutboxID: [ObjectIdentifier: OutboxWatcher]] = [:]

    /// The entries that somebody watches.
    var ids: [OutboxID] { Array(watchers.keys) }

    mutating func add(_ watcher: OutboxWatcher, of id: OutboxID) {
        watchers[id, default: [:]][ObjectIdentifier(watcher)] = watcher
    }

    mutating func remove(_ watcher: OutboxWatcher, of id: OutboxID) {
        watchers[id]?[ObjectIdentifier(watcher)] = nil
        if watchers[id]?.isEmpty == true { watchers[id] = nil }
    }

    /// The watchers of an entry, which are removed if the news is the last.
    mutating func receivers(of update: OutboxUpdate, _ id: OutboxID) -> [OutboxWatcher] {
        guard let own = watchers[id] else { return [] }
        if update.isFinal { watchers[id] = nil }
        return Array(own.values)
    }
}
#endif
