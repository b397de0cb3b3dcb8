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
    package func noteChange(of selections: [CacheSelection]) {
        contents.withLock { contents in
            for selection in selections { contents.changes.note(selection) }
        }
    }

    /// Records that responses are about to be removed from the store.
    package func noteRemoval(of selection: CacheSelection) {
        contents.withLock { contents in
            contents.changes.note(selection)
            contents.removals.note(selection)
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
    package func condemns(_ id: UUID) -> Bool { contents.withLock { $0.changes.condemns(id) } }
}
