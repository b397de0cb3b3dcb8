#if Inspector
import RxClient
import RxLite
import Synchronization

/// Tells the pages of streams what happens, in batches: ten a second at most, of bounded size.
///
/// Nothing is recorded while no page is open. A page that reads too slowly skips batches and is told how many; one that
/// reads nothing is disconnected by its outbox.
final class StreamFeed: Sendable {
    /// The time between two batches.
    static let period = Duration.milliseconds(100)
    /// The bytes that may wait for a page before it skips batches.
    static let backlog = 1 << 20

    private struct Contents {
        var viewers: [ObjectIdentifier: Viewer] = [:]
        /// The pages that have begun again, and have not been sent the values of states.
        var begun: [ObjectIdentifier: Viewer] = [:]
        /// The number of the feed among the watchers of the log, while there are pages.
        var watcher: Int?
        /// The last states of the clients that were sent.
        var states: [UInt8] = []
        var ticker: Task<Void, Never>?
        var isStopped = false
    }

    private let log = StreamLog.shared
    private let clients: InspectedClients
    private let sampling: RequestSampling
    private let contents = Mutex(Contents())
    /// Has a separate lock, because clients wait for it.
    private let requests: Mutex<RequestRows>
    private let isAttached = Atomic<Bool>(true)

    private let textLimit: Duration?

    /// Attaches to the streams of the process that are subscribed to from now on.
    ///
    /// - Parameter textLimit: see ``StreamLog``.
    init(
        _ clients: InspectedClients, _ sampling: RequestSampling, _ settings: Inspector.Settings,
        textLimit: Duration? = nil
    ) {
        requests = Mutex(RequestRows(settings))
        self.clients = clients
        self.sampling = sampling
        self.textLimit = textLimit
        log.attach()
    }

    /// Ends all work; pages are disconnected by the server.
    func stop() {
        let ended = contents.withLock { contents in
            defer {
                contents = Contents()
                contents.isStopped = true
            }
            return contents
        }
        ended.ticker?.cancel()
        if let watcher = ended.watcher { log.endWatching(watcher) }
        detach()
    }

    deinit { detach() }

    private func detach() {
        if isAttached.exchange(false, ordering: .relaxed) { log.detach() }
    }

    /// The exchanges of the last requests that have ended.
    var exchanges: [RequestRow.Exchanged] {
        requests.withLock { $0.all }.flatMap { $0.exchanged(endedOnly: true) }
    }

    /// The request with this number; `nil` if it has been dropped.
    func request(_ number: UInt64) -> RequestRow? { requests.withLock { $0.row(number) } }

    /// Takes an event of a client of this name, on any thread.
    func take(_ event: TrafficEvent, of client: String) {
        let now = log.now
        requests.withLock { $0.take(event, of: client, at: now) }
    }

    // MARK: - Pages

    /// Begins to send to a page: the state of everything, then batches.
    func add(_ viewer: Viewer) {
        // Otherwise the page would get records from before the state.
        tick()
        let tracks = contents.withLock { contents -> [StreamTrack] in
            guard !contents.isStopped else { return [] }
            let tracks: [StreamTrack]
            if contents.watcher == nil {
                (contents.watcher, tracks) = log.beginWatching(textLimit: textLimit)
            } else {
                tracks = log.openTracks
            }
            contents.viewers[ObjectIdentifier(viewer)] = viewer
            viewer.send(hello(tracks)) { hello(tracks) }
            if contents.ticker == nil {
                let feed = { @Sendable [weak self] in self }
                contents.ticker = Task { await Self.run(feed) }
            }
            return tracks
        }
        sendValues(of: tracks, to: [viewer])
    }

    /// Sends the current values of states. Pages compare the times, because a batch with later values may come before.
    private func sendValues(of tracks: [StreamTrack], to viewers: [Viewer]) {
        guard !viewers.isEmpty else { return }
        // Outside of the lock, because it calls the program's code.
        let (time, texts) = log.currentTexts(of: tracks)
        guard !texts.isEmpty else { return }
        let values = StreamMessages.values(of: texts, from: time, until: log.now)
        contents.withLock { _ in
            // The others will begin again.
            for viewer in viewers where !viewer.isBehind { viewer.send(values) { values } }
        }
    }

    private func hello(_ tracks: [StreamTrack]) -> JSON {
        StreamMessages.hello(
            tracks, requests: requests.withLock { $0.all }.map(\.document), clients: clients.states,
            omitted: sampling.omittedCount, untracked: log.lateUntracked, at: log.now)
    }

    /// Sends batches as long as there are pages.
    private static func run(_ feed: @Sendable () -> StreamFeed?) async {
        repeat {
            do { try await Task.sleep(for: period) } catch { return }
        } while feed()?.continueTicking() == true
    }

    private func continueTicking() -> Bool {
        tick()
        return contents.withLock { contents in
            if contents.watcher == nil { contents.ticker = nil }
            return contents.ticker != nil
        }
    }

    /// Stops sending to a page. The last one ends the recording.
    func remove(_ viewer: Viewer) {
        contents.withLock { contents in
            contents.viewers[ObjectIdentifier(viewer)] = nil
            contents.begun[ObjectIdentifier(viewer)] = nil
            guard contents.viewers.isEmpty, let watcher = contents.watcher.take() else { return }
            log.endWatching(watcher)
        }
    }

    /// Sends a batch if there are pages.
    func tick() {
        // The batch ends with this function, outside of the lock, since it may release the program's objects.
        let begun = contents.withLock {
            contents -> (viewers: [Viewer], tracks: [StreamTrack], StreamBatch)? in
            guard let watcher = contents.watcher else { return nil }
            let viewers = contents.viewers.values
            let batch = log.drain(watcher, listsTracks: viewers.contains(where: \.isBehind))
            let states = clients.states
            let stateBytes = JSON.array(states).bytes
            let message = StreamMessages.batch(
                batch, requests: requests.withLock { $0.takeChanged() }.map(\.document),
                clients: stateBytes == contents.states ? nil : states, omitted: sampling.omittedCount)
            contents.states = stateBytes
            for viewer in viewers where viewer.send(message, orToBegin: { hello(batch.tracks) }) {
                contents.begun[ObjectIdentifier(viewer)] = viewer
            }
            // The program has to make the texts, however often pages begin again.
            guard !contents.begun.isEmpty, log.hasTextTime else { return ([], [], batch) }
            defer { contents.begun = [:] }
            return (Array(contents.begun.values), log.openTracks, batch)
        }
        if let begun { sendValues(of: begun.tracks, to: begun.viewers) }
    }
}

/// One open page of streams.
final class Viewer: SocketSession {
    private let outbox: MessageOutbox
    private let feed: StreamFeed
    private let missed = Atomic<Int>(0)

    init(_ outbox: MessageOutbox, _ feed: StreamFeed) {
        self.outbox = outbox
        self.feed = feed
    }

    /// Whether the page has missed messages.
    var isBehind: Bool { missed.load(ordering: .relaxed) > 0 }

    /// Sends a message; or skips it if the page has not read the ones before. From within the feed's lock, so that the
    /// messages are in order.
    ///
    /// - Parameter beginning: makes the message that the page is sent instead after it has skipped some.
    /// - Returns: whether the page begins again.
    @discardableResult
    func send(_ message: JSON, orToBegin beginning: () -> JSON) -> Bool {
        guard outbox.waitingCount <= StreamFeed.backlog else {
            missed.add(1, ordering: .relaxed)
            return false
        }
        let missed = missed.exchange(0, ordering: .relaxed)
        outbox.send((missed > 0 ? beginning() : message).adding(("missed", .integer(missed))))
        return missed > 0
    }

    /// A page has nothing to say.
    func receive(_ text: String) async {}

    func close() async { feed.remove(self) }
}
#endif
