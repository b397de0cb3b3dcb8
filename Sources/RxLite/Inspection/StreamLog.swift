import Synchronization

/// The records of the process's inspected streams, for an inspector.
///
/// Without an inspector a subscription costs one atomic load, and its values nothing. With an inspector but no open
/// page, a value is counted. While a page is open, a part of the values is recorded: at most ``trackLimit`` of a track
/// and ``valueLimit`` of all tracks between two calls of ``drain(_:)``, and only as long as their texts take less than
/// ``textShare`` of the time; the others are counted. All other events are recorded, and ``StreamBatch/lost`` counts
/// what exceeds ``recordLimit``.
///
/// A *watcher* is one open page, with a backlog of its own. A *period* lasts from one drain to the next and has its
/// allowance of values, tracks and text time. A *late* stream is older than the inspector; *untracked* streams got no
/// track because the limit was reached.
package final class StreamLog: Sendable {
    /// The log of all streams of the process.
    package static let shared = StreamLog()

    // InspectedStreams.md names these limits.

    /// The most values of one track that are recorded between two calls of ``drain(_:)``.
    package static let trackLimit = 12
    /// The most values of all tracks that are recorded between two calls of ``drain(_:)``.
    package static let valueLimit = 100
    /// The most records that wait for ``drain(_:)``.
    package static let recordLimit = 1000
    /// The maximum number of tracks that begin between two calls of ``drain(_:)`` while the page is open.
    package static let newTrackLimit = 50
    /// The most open tracks; further subscriptions are not shown.
    package static let openLimit = 500
    /// The share of time that making texts may take.
    static let textShare = 0.02

    /// The records that one watcher has not taken yet.
    private struct Backlog {
        var records: [StreamRecord] = []
        /// The numbers of values of the tracks that have ended since.
        var ended: [Int: Int] = [:]
        var lost = 0
        var untracked = 0
    }

    private struct Contents {
        var open: [Int: StreamTrack] = [:]
        var backlogs: [Int: Backlog] = [:]
        /// The number of streams that are older than the inspector and have no track.
        var lateUntracked = 0
        var lastWatcher = 0
        var lastTrack = 0
        /// Marbles count from 1: 0 is none, and negative numbers are those that `StreamMessages` makes.
        var lastMarble = 0
        var valuesLeft = 0
        var tracksLeft = 0
        /// The time left for texts. Negative after a text that took longer.
        var textTime = Duration.zero
        var textLimit: Duration?
        var lastDrain = Duration.zero

        var isWatched: Bool { !backlogs.isEmpty }

        mutating func forEachBacklog(_ change: (inout Backlog) -> Void) {
            for index in backlogs.values.indices { change(&backlogs.values[index]) }
        }
    }

    private static let attachments = Atomic<Int>(0)
    #if Inspector
    let waiting = NamedSources()
    #endif
    private let origin = ContinuousClock.now
    private let contents = Mutex(Contents())
    private let currentPeriod = Atomic<Int>(0)
    /// The number of the last period. It is never reset: by its period a probe knows what it has used up.
    private let periods = Atomic<Int>(0)

    /// Whether an inspector is attached.
    @inline(__always) static var isAttached: Bool { attachments.load(ordering: .relaxed) > 0 }

    /// The number of the period between two calls of ``drain(_:)``; 0 while no page is open.
    var period: Int { currentPeriod.load(ordering: .relaxed) }

    /// The time since the log was first used.
    package var now: Duration { ContinuousClock.now - origin }

    /// Begins to follow the subscriptions that are made from now on, and all signals and properties that have names.
    /// Each call needs a ``detach()``.
    package func attach() {
        // First, so that a source which gets its name from now on is not added to those that wait.
        Self.attachments.add(1, ordering: .relaxed)
        #if Inspector
        contents.withLock { $0.lateUntracked = 0 }
        waiting.beginTracks()
        #endif
    }

    /// Undoes one ``attach()``.
    package func detach() { Self.attachments.subtract(1, ordering: .relaxed) }

    /// Begins to record for a watcher. Each call needs an ``endWatching(_:)``.
    ///
    /// - Parameter textLimit: the time that texts may take in a period, instead of ``textShare`` of it; for tests,
    ///   whose thread may wait for a processor meanwhile.
    /// - Returns: the watcher's number, and the open tracks, whose beginnings are not recorded again.
    package func beginWatching(textLimit: Duration? = nil) -> (watcher: Int, tracks: [StreamTrack]) {
        contents.withLock { contents in
            if !contents.isWatched {
                contents.textTime = .zero
                contents.textLimit = textLimit
                contents.lastDrain = now
                // `StreamFeed.period`, as if a period had passed.
                beginPeriod(&contents, after: .milliseconds(100))
            }
            contents.lastWatcher += 1
            contents.backlogs[contents.lastWatcher] = Backlog()
            return (contents.lastWatcher, Self.tracks(contents))
        }
    }

    /// Undoes a ``beginWatching(textLimit:)``.
    package func endWatching(_ watcher: Int) {
        // Ends outside of the lock, since it may release the program's objects, whose streams report that.
        _ = contents.withLock { contents in
            defer { if !contents.isWatched { currentPeriod.store(0, ordering: .relaxed) } }
            return contents.backlogs.removeValue(forKey: watcher)
        }
    }

    /// The number of streams that are older than the inspector and have no track, because there were too many.
    package var lateUntracked: Int { contents.withLock { $0.lateUntracked } }

    /// The open tracks, in the order in which they began.
    package var openTracks: [StreamTrack] { contents.withLock { Self.tracks($0) } }

    /// Parents come before their children, as the page (`streams.js`) needs them.
    private static func tracks(_ contents: Contents) -> [StreamTrack] {
        contents.open.values.sorted { $0.id < $1.id }
    }

    /// The current values of the properties among the tracks, with the time before they were read. Making their texts
    /// takes the time that values' texts may take.
    package func currentTexts(of tracks: [StreamTrack]) -> (time: Duration, texts: [(StreamTrack, String)]) {
        let time = now
        // Outside of the lock, because it calls the program's code.
        let texts = tracks.compactMap { track in track.current.map { (track, $0) } }
        let taken = now - time
        contents.withLock { $0.textTime -= taken }
        return (time, texts)
    }

    /// Whether there is time left for texts in this period.
    package var hasTextTime: Bool { contents.withLock { $0.textTime > .zero } }

    /// Takes the records for a watcher since its last call, and begins the next period.
    ///
    /// - Parameter listsTracks: whether the batch lists the tracks that are open after it.
    package func drain(_ watcher: Int, listsTracks: Bool = false) -> StreamBatch {
        contents.withLock { contents in
            let now = now
            let backlog = contents.backlogs[watcher] ?? Backlog()
            if contents.isWatched {
                contents.backlogs[watcher] = Backlog()
                beginPeriod(&contents, after: now - contents.lastDrain)
            }
            contents.lastDrain = now
            return StreamBatch(
                time: now, records: backlog.records,
                counts: contents.open.mapValues(\.count).merging(backlog.ended) { $1 }, lost: backlog.lost,
                untracked: backlog.untracked, tracks: listsTracks ? Self.tracks(contents) : [])
        }
    }

    private func beginPeriod(_ contents: inout Contents, after time: Duration) {
        contents.valuesLeft = Self.valueLimit
        contents.tracksLeft = Self.newTrackLimit
        let allowance = contents.textLimit ?? min(time, .seconds(1)) * Self.textShare
        contents.textTime = min(contents.textTime + allowance, max(allowance, .milliseconds(2)))
        currentPeriod.store(periods.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    }

    // MARK: - Streams

    /// A new track, or `nil` if there are too many.
    ///
    /// - Parameter isLate: whether the stream is older than the inspector. Such streams leave half of the tracks to
    ///   those that begin later.
    func begin(
        _ origin: StreamTrack.Origin, isLate: Bool = false,
        currentText: @escaping @Sendable () -> String? = { nil }
    ) -> StreamTrack? {
        let cause = StreamCause.current
        return contents.withLock { contents in
            let limit = isLate ? Self.openLimit / 2 : Self.openLimit
            guard contents.open.count < limit, !contents.isWatched || contents.tracksLeft > 0 else {
                if isLate {
                    contents.lateUntracked += 1
                } else {
                    contents.forEachBacklog { $0.untracked += 1 }
                }
                return nil
            }
            contents.tracksLeft -= contents.isWatched ? 1 : 0
            contents.lastTrack += 1
            let track = StreamTrack(
                id: contents.lastTrack, origin, because: cause, at: now, currentText: currentText)
            contents.open[track.id] = track
            append(.begun(track), of: track.id, at: track.begun, to: &contents)
            return track
        }
    }

    /// Records a value. Returns the number of its marble, or `nil` if it is only counted.
    func take(_ track: StreamTrack, _ text: () -> (String, ShownPages?)) -> Int? {
        let marble = contents.withLock { contents -> Int? in
            guard contents.valuesLeft > 0, contents.textTime > .zero, contents.isWatched else { return nil }
            contents.valuesLeft -= 1
            contents.lastMarble += 1
            return contents.lastMarble
        }
        guard let marble else { return nil }
        let time = now
        // Outside of the lock, because it calls the program's code.
        let (text, pages) = text()
        let taken = now - time
        contents.withLock { contents in
            contents.textTime -= taken
            append(.value(marble: marble, text: text, pages: pages), of: track.id, at: time, to: &contents)
        }
        return marble
    }

    /// Records an event that is no value.
    func add(_ kind: StreamRecord.Kind, of track: StreamTrack) {
        contents.withLock { contents in
            append(kind, of: track.id, at: now, to: &contents)
            switch kind {
            case .finished, .failed, .cancelled, .released:
                contents.open[track.id] = nil
                contents.forEachBacklog { $0.ended[track.id] = track.count }
            case .begun, .value, .paused, .resumed: break
            }
        }
    }

    private func append(
        _ kind: StreamRecord.Kind, of track: Int, at time: Duration, to contents: inout Contents
    ) {
        let record = StreamRecord(track: track, time: time, kind: kind)
        contents.forEachBacklog { backlog in
            if backlog.records.count < Self.recordLimit {
                backlog.records.append(record)
            } else {
                backlog.lost += 1
            }
        }
    }
}

/// The records of one period of a ``StreamLog``.
package struct StreamBatch: Sendable {
    /// The end of the period, on the log's clock.
    package let time: Duration
    /// The recorded events, in order.
    package let records: [StreamRecord]
    /// The number of values so far of each open track, and of each that has ended in the period, recorded or not.
    package let counts: [Int: Int]
    /// The number of events that were not recorded because too many waited.
    package let lost: Int
    /// The number of subscriptions that have no track because there were too many.
    package let untracked: Int
    /// The tracks that are open after the period, in the order in which they began, if these are asked for.
    package let tracks: [StreamTrack]
}

/// An event of an inspected stream, as an inspector shows it.
package struct StreamRecord: Sendable {
    /// The kinds of events. `StreamMessages` names them for the page, whose `model.js` has a mark for each end.
    package enum Kind: Sendable {
        /// The subscription has begun.
        case begun(StreamTrack)
        /// A value: the number of its marble, and a short text.
        case value(marble: Int, text: String, pages: ShownPages?)
        /// The stream has completed.
        case finished
        /// The stream has failed, with the error's text.
        case failed(String)
        /// The subscription was cancelled before an end.
        case cancelled
        /// The signal or property was released.
        case released
        /// The subscriber has paused the stream.
        case paused
        /// The stream continues after a pause.
        case resumed
    }

    /// The track that shows the event.
    package let track: Int
    /// The time on the log's clock.
    package let time: Duration
    /// The kind of the event.
    package let kind: Kind
}

/// The progress of a list that is loaded page by page.
package struct ShownPages: Sendable, Equatable {
    /// The number of loaded pages.
    package var page: Int
    /// The number of items so far.
    package var items: Int
    /// The number of all items, if it is known.
    package var total: Int?
    /// The name of the current activity. The page (`cards.js`) looks for `loading` and `failed` at its beginning, and
    /// for `end`.
    package var phase: String

    /// Creates a description of a list.
    package init(page: Int, items: Int, total: Int?, phase: String) {
        self.page = page
        self.items = items
        self.total = total
        self.phase = phase
    }
}

/// A value that has a text for inspectors: short, and without secrets.
package protocol InspectedValue {
    /// The text.
    var inspectedText: String { get }
    /// The progress, if the value is a list of pages.
    var inspectedPages: ShownPages? { get }
}

extension InspectedValue {
    /// Most values are no lists of pages.
    package var inspectedPages: ShownPages? { nil }
}
