package import FoundationEssentials
import Synchronization

/// The changes that a cache has noticed. Thread-safe.
package final class CacheHistory: Sendable {
    /// The state of the history when a request began.
    package struct Moment: Sendable {
        fileprivate let changes: Int
        fileprivate let removals: Int
    }

    private struct Contents {
        /// The starts and ends of requests that may change something, and the removals.
        var changes = CacheChanges()
        /// The removals alone.
        var removals = CacheChanges()
    }

    private let contents = Mutex(Contents())

    /// Creates an empty history.
    package init() {}

    /// The current moment.
    package var now: Moment {
        contents.withLock { Moment(changes: $0.changes.count, removals: $0.removals.count) }
    }

    /// Records that something may change from now on, or has changed.
    package func recordChange(of selections: [CacheSelection]) {
        contents.withLock { contents in
            for selection in selections { contents.changes.record(selection) }
        }
    }

    /// Records that responses are about to be removed from the store.
    package func recordRemoval(of selection: CacheSelection) {
        contents.withLock { contents in
            contents.changes.record(selection)
            contents.removals.record(selection)
        }
    }

    /// Whether responses requested at `start` may be outdated.
    package func hasChanged(_ names: Set<CacheSelection>, since start: Moment) -> Bool {
        contents.withLock { $0.changes.includes(names, since: start.changes) }
    }

    /// Whether responses stored at `start` have been removed.
    package func hasRemoved(_ names: Set<CacheSelection>, since start: Moment) -> Bool {
        contents.withLock { $0.removals.includes(names, since: start.removals) }
    }

    /// Begins to store a response, unless it may be outdated.
    package func beginStoring(_ metadata: CacheEntry.Metadata, since start: Moment) -> Bool {
        let names = CacheSelection.names(of: metadata.key, tags: metadata.tags)
        return contents.withLock { contents in
            contents.changes.beginStoring(metadata.id, of: names, since: start.changes)
        }
    }

    /// Ends storing a response. Returns whether it must be removed again.
    package func endStoring(_ id: UUID) -> Bool { contents.withLock { $0.changes.endStoring(id) } }

    /// Whether a response in the store must not be used.
    package func invalidates(_ id: UUID) -> Bool { contents.withLock { $0.changes.invalidates(id) } }
}

/// The changes that matter to responses still in flight: a response that was requested before a change is not
/// stored after it (RFC 9111 §4.4).
///
/// A log of the latest changes by selection. When the log is full it starts again, and everything requested
/// before counts as changed: this loses stored responses, but never keeps an outdated one.
struct CacheChanges {
    private static let maxNames = 4096
    private static let maxInvalidated = 1024

    /// The number of changes.
    private(set) var count = 0
    private var latest: [CacheSelection: Int] = [:]
    /// Everything requested at a lower count has changed.
    private var floor = 0
    /// Responses that are being written to the store.
    private var storing: [UUID: Set<CacheSelection>] = [:]
    /// Responses that may have reached the store after the change that was to remove them; the oldest first.
    private var invalidated: [UUID] = []

    /// Records a change of everything selected.
    mutating func record(_ selection: CacheSelection) {
        count += 1
        if selection == .all || latest.count >= Self.maxNames {
            floor = count
            latest = [:]
        }
        if selection != .all { latest[selection] = count }
        for (id, names) in storing where selection == .all || names.contains(selection) {
            if invalidated.count >= Self.maxInvalidated { invalidated.removeFirst(Self.maxInvalidated / 2) }
            invalidated.append(id)
        }
    }

    /// Whether anything of these selections has changed since the count was `start`.
    func includes(_ names: Set<CacheSelection>, since start: Int) -> Bool {
        guard start < count else { return false }
        return start < floor || names.contains { latest[$0].map { $0 > start } == true }
    }

    /// Begins to store a response, unless something has changed since it was requested. If this returns true,
    /// ``endStoring(_:)`` must follow.
    mutating func beginStoring(_ id: UUID, of names: Set<CacheSelection>, since start: Int) -> Bool {
        guard !includes(names, since: start) else { return false }
        storing[id] = names
        return true
    }

    /// Ends storing a response. Returns whether it must be removed again because of a change meanwhile.
    mutating func endStoring(_ id: UUID) -> Bool {
        storing[id] = nil
        return invalidated.contains(id)
    }

    /// Whether a response in the store must not be used.
    func invalidates(_ id: UUID) -> Bool { !invalidated.isEmpty && invalidated.contains(id) }
}

extension CacheSelection {
    /// The selections that include a response with this key and these tags, except `all` and those by id. They must be
    /// those of ``includes(_:)``: a removal of any other kind misses responses in flight.
    package static func names(of key: CacheKey, tags: Set<String>) -> Set<CacheSelection> {
        let names: Set<CacheSelection> = [
            .url(key.url), .anyQuery(of: String(key.urlWithoutQuery)), .identity(key.identity),
        ]
        return names.union(tags.map(CacheSelection.tag)).union(key.isResource ? [.resource(key.url)] : [])
    }
}
