#if Inspector
import Synchronization

/// A signal or state that has a name.
protocol NamedSource: AnyObject, Sendable {
    /// Begins its track.
    func beginTrack()
}

/// The signals and states that got their names when no inspector was attached. Keeps none of them alive.
final class NamedSources: Sendable {
    private struct Entry: Sendable {
        weak var source: (any NamedSource)?
    }

    private struct Contents {
        var entries: [Entry] = []
        /// The number of entries at which those that have been released are removed: twice as many as were left the
        /// last time, so that this costs each entry a constant time.
        var purgeCount = minimum
    }

    private static let minimum = 64
    private let contents = Mutex(Contents())

    /// The number of entries, of which some may have been released.
    var count: Int { contents.withLock { $0.entries.count } }

    /// Adds a source. Returns false, and adds nothing, if an inspector is attached.
    func add(_ source: any NamedSource) -> Bool {
        var crowd: [Entry] = []
        let isAdded = contents.withLock { contents in
            guard !StreamLog.isAttached else { return false }
            contents.entries.append(Entry(source: source))
            if contents.entries.count >= contents.purgeCount {
                (crowd, contents.entries) = (contents.entries, [])
                contents.purgeCount = .max
            }
            return true
        }
        guard !crowd.isEmpty else { return isAdded }
        // Outside of the lock, because the last reference to a source may end here, and with it the program's objects.
        crowd.removeAll { $0.source == nil }
        let isAttached = contents.withLock { contents in
            contents.purgeCount = max(Self.minimum, 2 * (crowd.count + contents.entries.count))
            guard !StreamLog.isAttached else { return true }
            contents.entries += crowd
            return false
        }
        if isAttached { Self.beginTracks(of: crowd) }
        return isAdded
    }

    /// Begins the tracks of all sources, and forgets them. Only when an inspector is attached.
    func beginTracks() {
        let entries = contents.withLock { contents in
            defer { contents.entries = [] }
            return contents.entries
        }
        Self.beginTracks(of: entries)
    }

    private static func beginTracks(of entries: [Entry]) {
        for entry in entries { entry.source?.beginTrack() }
    }
}
#endif
