import HTTPTypes
import RxHTTP
import RxLite

/// One running event source: connects, and reconnects.
final class EventSource: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// An event of a connection.
    enum ConnectionEvent: Sendable {
        case open(ResponseHead)
        case found(EventStreamParser.Output)
        /// The server asks for no further connection.
        case stop
        case reconnecting(after: Duration)

        var isStop: Bool { if case .stop = self { true } else { false } }
    }

    private let clock: any Scheduler
    private let connect: @Sendable (_ lastEventID: String) -> Observable<ConnectionEvent, NetworkError>
    private var lastEventID: String
    private let waits: EventSourceWaits
    private var reconnectionTime: Duration
    /// Whether the request may be sent again.
    private let isRepeatable: Bool
    /// The error that ended the last connection, if there was one.
    private var cause: NetworkError?
    /// The number of consecutive connections that did not open.
    private var failures = 0
    private var isOpen = false

    init(
        lastEventID: String, waits: EventSourceWaits, isRepeatable: Bool, on clock: any Scheduler,
        connect: @escaping @Sendable (_ lastEventID: String) -> Observable<ConnectionEvent, NetworkError>
    ) {
        self.lastEventID = lastEventID
        self.waits = waits
        self.isRepeatable = isRepeatable
        reconnectionTime = waits.first
        self.clock = clock
        self.connect = connect
    }

    var updates: Observable<EventSourceUpdate, NetworkError> {
        let connections =
            isRepeatable
            ? Observable.concat([.deferred { self.connection }, .deferred { self.wait }]).repeat()
            : connect(lastEventID)
        return connections.take(while: { signal throws(NetworkError) in !signal.isStop })
            .compactMap { self.update(for: $0) }
    }

    private var connection: Observable<ConnectionEvent, NetworkError> {
        cause = nil
        isOpen = false
        return connect(lastEventID).catch { error in
            guard error.mayPass else { return .fail(error) }
            self.cause = error
            return .empty()
        }
    }

    private var wait: Observable<ConnectionEvent, NetworkError> {
        if !isOpen { failures += 1 }
        let base = max(reconnectionTime, waits.shortest)
        let backoff = min(base * (1 << min(max(failures - 1, 0), 16)), max(base, waits.longest))
        // While the circuit is open, nothing is sent before it admits a request.
        let delay = max(backoff, (cause?.openCircuit?.until ?? clock.now) - clock.now)
        return .concat([
            .just(.reconnecting(after: delay)),
            Observable<Void, Never>.timer(delay, on: clock).setFailureType(to: NetworkError.self).flatMap {
                _ in .empty()
            },
        ])
    }

    private func note(_ id: String) {
        if HTTPField.isValidValue(id) { lastEventID = id }
    }

    private func update(for signal: ConnectionEvent) -> EventSourceUpdate? {
        switch signal {
        case .open(let head):
            isOpen = true
            failures = 0
            return .open(head)
        case .found(.event(let event)):
            note(event.lastEventID)
            return .message(event)
        case .found(.lastEventID(let id)):
            note(id)
            return nil
        case .found(.retry(let time)):
            reconnectionTime = time
            return nil
        case .found(.comment(let text)): return .comment(text)
        case .reconnecting(let delay): return .reconnecting(after: delay, because: cause)
        case .stop: return nil
        }
    }
}

extension NetworkError {
    /// Whether another connection may succeed.
    fileprivate var mayPass: Bool {
        // A response that libcurl could not read as HTTP may be temporary; a response of the wrong type is
        // final.
        code.remedies.contains(.reconnection) || code == .invalidResponse && curlCode != nil
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
