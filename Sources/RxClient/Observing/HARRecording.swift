import FoundationEssentials
public import RxHAR
public import RxHTTP
public import RxLite
import Synchronization

/// Records a client's exchanges, for viewing in a browser's developer tools.
///
/// ```swift
/// let recording = HARRecording(of: client.traffic)
/// // The requests to record.
/// try recording.archive.encoded().write(to: file)
/// ```
///
/// Each hop of each attempt is an entry. Secrets are replaced before anything is recorded; the values of
/// cookies always are. When a limit is exceeded, the oldest entries are dropped. Safe from any thread.
public final class HARRecording: Sendable {
    private struct Contents {
        var drafts: [TrafficEvent.ExchangeID: HARDraft] = [:]
        var entries: HAREntries
        /// The number of exchanges that have begun; entries are in that order, in whatever order they end.
        var begun = 0
    }

    private let bodyLimit: Int
    private let contents: Mutex<Contents>
    private let subscription = Mutex<Subscription?>(nil)

    /// Starts a recording, which runs until ``stop()``, or until the client or the recording is released.
    ///
    /// - Parameters:
    ///   - traffic: the traffic to record: ``Client/traffic``, or a part of it.
    ///   - bodyLimit: the maximum number of bytes recorded of each body. Default 0: bodies are not recorded.
    ///   - entryLimit: the maximum number of entries. Default 1000.
    ///   - byteLimit: the approximate maximum number of bytes in all entries together. Default 16 MiB.
    public init(
        of traffic: Observable<TrafficEvent, Never>, bodyLimit: Int = 0, entryLimit: Int = 1000,
        byteLimit: Int = 16 << 20
    ) {
        self.bodyLimit = bodyLimit
        contents = Mutex(Contents(entries: HAREntries(limit: entryLimit, byteLimit: byteLimit)))
        let subscription = traffic.subscribe(onNext: { [weak self] event in self?.take(event) })
        self.subscription.withLock { $0 = subscription }
    }

    deinit { stop() }

    /// The recording so far: the exchanges that have ended.
    public var archive: HAR { HAR(contents.withLock { $0.entries.all }) }

    /// Stops the recording. Recorded exchanges stay.
    public func stop() {
        subscription.withLock { $0.take() }?.cancel()
    }

    private func take(_ event: TrafficEvent) {
        switch event.kind {
        case .sent:
            contents.withLock { contents in
                contents.begun += 1
                contents.drafts[event.exchangeID] = HARDraft(
                    event.request, number: contents.begun, date: event.date, start: event.time,
                    bodyLimit: bodyLimit)
            }
        case .transfer(.redirected): break
        case .transfer(.finished(let metrics)):
            finish(event) { $0.entry(metrics: metrics, error: nil, end: event.time) }
        case .transfer(let transfer):
            contents.withLock { $0.drafts[event.exchangeID]?.take(transfer, at: event.time) }
        case .webSocket(let message, let isSent):
            contents.withLock { contents in
                contents.drafts[event.exchangeID]?.take(message, isSent: isSent, date: event.date)
            }
        case .broken(let error): finish(event) { $0.entry(metrics: nil, error: error.shown, end: event.time) }
        // `CassetteReader` of RxSimulation knows this text.
        case .abandoned: finish(event) { $0.entry(metrics: nil, error: "abandoned", end: event.time) }
        case .started, .relogin, .retry, .retryRefused, .queued, .admitted, .hedged,
            .failover, .cached, .ended:
            break
        }
    }

    private func finish(_ event: TrafficEvent, _ entry: (HARDraft) -> HAR.Entry) {
        guard let draft = contents.withLock({ $0.drafts.removeValue(forKey: event.exchangeID) }) else {
            return
        }
        let (entry, number) = (entry(draft), draft.number)
        contents.withLock { $0.entries.add(entry, number) }
    }
}

extension HARRecording: RedactedDescription {
    /// The number of entries.
    public var description: String { "\(archive.log.entries.count) entries" }
}
