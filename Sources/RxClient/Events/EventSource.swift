import HTTPTypes
import RxHTTP
import RxLite

/// One running event source: connects, and connects again.
final class EventSource: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// What a connection tells.
    enum Signal: Sendable {
        case open(ResponseHead)
        case found(EventStreamParser.Output)
        /// The server wants no further connection.
        case stop
        case reconnecting(after: Duration)

        var isStop: Bool { if case .stop = self { true } else { false } }
    }

    private static let waits = (shortest: Duration.milliseconds(100), longest: Duration.seconds(60))

    private let clock: any Scheduler
    private let connect: @Sendable (_ lastEventID: String) -> Observable<Signal, NetworkError>
    private var lastEventID: String
    private var reconnectionTime = Duration.seconds(3)
    /// Why the last connection ended, if not in order.
    private var cause: NetworkError?
    /// Connections in a row that did not open.
    private var failures = 0
    private var isOpen = false

    init(
        lastEventID: String, on clock: any Scheduler,
        connect: @escaping @Sendable (_ lastEventID: String) -> Observable<Signal, NetworkError>
    ) {
        self.lastEventID = lastEventID
        self.clock = clock
        self.connect = connect
    }

    var updates: Observable<EventSourceUpdate, NetworkError> {
        Observable<Signal, NetworkError>.concat([.deferred { self.connection }, .deferred { self.wait }])
            .repeat()
            .take(while: { signal throws(NetworkError) in !signal.isStop })
            .compactMap { self.update(for: $0) }
    }

    private var connection: Observable<Signal, NetworkError> {
        cause = nil
        isOpen = false
        return connect(lastEventID).catch { error in
            guard error.mayPass else { return .fail(error) }
            self.cause = error
            return .empty()
        }
    }

    private var wait: Observable<Signal, NetworkError> {
        if !isOpen { failures += 1 }
        let base = max(reconnectionTime, Self.waits.shortest)
        let delay = min(base * (1 << min(max(failures - 1, 0), 16)), max(base, Self.waits.longest))
        return .concat([
            .just(.reconnecting(after: delay)),
            Observable<Void, Never>.timer(delay, on: clock).setFailureType(to: NetworkError.self).flatMap {
                _ in .empty()
            },
        ])
    }

    private func update(for signal: Signal) -> EventSourceUpdate? {
        switch signal {
        case .open(let head):
            isOpen = true
            failures = 0
            return .open(head)
        case .found(.event(let event)):
            lastEventID = event.lastEventID
            return .message(event)
        case .found(.lastEventID(let id)):
            lastEventID = id
            return nil
        case .found(.retry(let time)):
            reconnectionTime = time
            return nil
        case .reconnecting(let delay): return .reconnecting(after: delay, because: cause)
        case .stop: return nil
        }
    }
}

extension NetworkError {
    /// Whether another connection may fare better.
    fileprivate var mayPass: Bool {
        switch code {
        case .resolve, .connect, .connectionLost, .emptyReply, .partialBody, .queueTimeout, .connectTimeout,
            .firstByteTimeout, .idleTimeout:
            true
        // What libcurl could not read as HTTP; an answer of the wrong type stays what it is.
        case .invalidResponse: curlCode != nil
        default: false
        }
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
