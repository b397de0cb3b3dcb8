package import FoundationEssentials
import Synchronization

/// The changes that a cache has heard of, for all threads.
package final class CacheHistory: Sendable {
    /// How much had happened when a request began.
    package struct Moment: Sendable {
        fileprivate let changes: Int
        fileprivate let removals: Int
    }

    private struct Contents {
        /// The beginnings and ends of requests that may change something, and the removals.
        var changes = CacheChanges()
        /// The removals alone.
        var removals = CacheChanges()
    }

    private let contents = Mutex(Contents())

    /// Nothing has happened yet.
    package init() {}

    /// This moment.
    package var now: Moment {
        contents.withLock { Moment(changes: $0.changes.count, removals: $0.removals.count) }
    }

    /// Something may be changed from now on, or has been.
    package func noteChange(of selections: [CacheSelection]) {
        contents.withLock { contents in
            for selection in selections { contents.changes.note(selection) }
        }
    }

    /// Responses are about to be removed from the store.
    package func noteRemoval(of selection: CacheSelection) {
        contents.withLock { contents in
            contents.changes.note(selection)
            contents.removals.note(selection)
        }
    }

    /// Whether what was asked for at `start` may be out of date.
    package func hasChanged(_ names: Set<CacheSelection>, since start: Moment) -> Bool {
        contents.withLock { $0.changes.includes(names, since: start.changes) }
    }

    /// Whether what was stored at `start` has been removed.
    package func hasRemoved(_ names: Set<CacheSelection>, since start: Moment) -> Bool {
        contents.withLock { $0.removals.includes(names, since: start.removals) }
    }

    /// Begins to hand a response to the store, unless it may be out of date.
    package func beginStoring(_ metadata: CacheEntry.Metadata, since start: Moment) -> Bool {
        let names = CacheSelection.names(of: metadata.key, tags: metadata.tags)
        return contents.withLock { contents in
            contents.changes.beginStoring(metadata.id, of: names, since: start.changes)
        }
    }

    /// The store has it. Whether it must be removed again.
    package func endStoring(_ id: UUID) -> Bool { contents.withLock { $0.changes.endStoring(id) } }

    /// Whether a response in the store must not be used.
    package func condemns(_ id: UUID) -> Bool { contents.withLock { $0.changes.condemns(id) } }
}
