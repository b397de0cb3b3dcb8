#if Inspector
import Synchronization

/// A signal or property that has a name. Those of all types of values are in one list.
protocol NamedSource: AnyObject, Sendable {
    /// Begins its track, unless it has one or there are too many.
    func beginTrack()
}

/// The signals and properties that got their names when no inspector was attached. Keeps none of them alive.
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
        contents.withLock { contents in
            contents.entries += crowd
            contents.purgeCount = max(Self.minimum, 2 * contents.entries.count)
        }
        // An inspector that has attached meanwhile has not found them in the list.
        if StreamLog.isAttached { Self.beginTracks(of: crowd) }
        return isAdded
    }

    /// Begins the tracks of all sources, of which there may be too many for now. Only when an inspector is attached.
    func beginTracks() { Self.beginTracks(of: contents.withLock { $0.entries }) }

    private static func beginTracks(of entries: [Entry]) {
        for entry in entries { entry.source?.beginTrack() }
    }
}
#endif
