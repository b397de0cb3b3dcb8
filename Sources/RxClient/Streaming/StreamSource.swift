import HTTPTypes
import RxHTTP
import RxLite

/// One running resumable stream: connects, and connects again.
final class StreamSource<Item: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    typealias Connection = Observable<StreamSignal<Item>, NetworkError>

    private let resumption: StreamResumption<Item>.Continuation
    private let isEnd: (@Sendable (Item) -> Bool)?
    private let deliversEnd: Bool
    /// Whether a complete body is a complete stream.
    private let endsWithBody: Bool
    private var waits: ReconnectionWaits
    private let clock: any Scheduler
    private let connect: @Sendable (any Endpoint, _ lastEventID: String) -> Connection
    private var endpoint: any Endpoint
    private var received = StreamResumption<Item>.Received()
    /// The server's reconnection time.
    private var reconnectionTime: Duration?
    /// Whether the last connection has opened.
    private var isOpen = false
    /// Whether the end has been found, or the server has asked for no further connection.
    private var isOver = false

    init(
        _ endpoint: any Endpoint, until isEnd: (@Sendable (Item) -> Bool)?, deliversEnd: Bool,
        resumption: StreamResumption<Item>.Continuation,
        endsWithBody: Bool = false, lastEventID: String = "", backoff: Backoff,
        on clock: any Scheduler,
        connect: @escaping @Sendable (any Endpoint, _ lastEventID: String) -> Connection
    ) {
        self.endpoint = endpoint
        self.isEnd = isEnd
        self.deliversEnd = deliversEnd
        self.resumption = resumption
        self.endsWithBody = endsWithBody
        waits = ReconnectionWaits(backoff)
        self.clock = clock
        self.connect = connect
        received.lastEventID = lastEventID
    }

    /// The signals as values of the stream; `nil` is not sent.
    func values<T>(_ value: @escaping @Sendable (StreamSignal<Item>) -> T?) -> Observable<T, NetworkError> {
        Observable.reconnecting(
            on: clock,
            connection: { self.connection },
            delay: { error throws(NetworkError) in try self.delay(after: error) },
            announcement: { .reconnecting(after: $0, because: $1) }
        )
        .compactMap(value)
    }

    private var connection: Connection {
        received.newCount = 0
        isOpen = false
        return connect(endpoint, received.lastEventID)
            .take(while: { signal in self.continues(after: signal) }, inclusive: true)
            .filter { _ in !self.isOver || self.deliversEnd }
    }

    /// Takes note of a signal.
    ///
    /// - Returns: whether the stream continues after it.
    private func continues(after signal: StreamSignal<Item>) -> Bool {
        switch signal {
        case .open:
            isOpen = true
            if !asks { received.failures = 0 }
        case .item(let item, let id):
            if let id { record(id) }
            if isEnd?(item) == true {
                isOver = true
                break
            }
            if case .next(let limit, _) = resumption { received.append(item, keeping: limit) }
        case .lastEventID(let id): record(id)
        case .retry(let time): reconnectionTime = time
        case .stop:
            // The response is complete, and its end follows.
            isOver = true
            return true
        case .comment, .reconnecting: break
        }
        return !isOver
    }

    private func record(_ id: String) {
        if HTTPField.isValidValue(id) { received.lastEventID = id }
    }

    /// Whether a closure decides on each connection.
    private var asks: Bool { if case .next = resumption { true } else { false } }

    private func delay(after error: NetworkError?) throws(NetworkError) -> Duration? {
        if isOver || endsWithBody && error == nil { return nil }
        // Standard event sources wait longer after connections that do not open, others after connections
        // without an item.
        if asks ? received.newCount == 0 : !isOpen { received.failures += 1 }
        guard error.map(mayPass) ?? true, let next = next(after: error) else {
            if let error { throw error }
            return nil
        }
        endpoint = next
        let delay = waits.next(after: received.failures, requested: reconnectionTime, on: clock)
        return max(delay, error?.leastWait(now: clock.currentDate) ?? .zero)
    }

    /// Whether another connection may succeed.
    private func mayPass(_ error: NetworkError) -> Bool {
        switch error.code {
        // By the HTML standard every other status than 200 is final; ``StreamResumption/next(keeping:_:)`` lists those
        // that are not.
        case .status: asks && error.hasTransientStatus
        // A response that libcurl could not read as HTTP may be temporary; a response of the wrong type is
        // final.
        case .invalidResponse: error.curlCode != nil
        default: error.isPassingOnReconnection
        }
    }

    private func next(after error: NetworkError?) -> (any Endpoint)? {
        switch resumption {
        case .never: return nil
        case .lastEventID: return endpoint
        case .next(let limit, let next):
            received.error = error
            received.dropOldest(keeping: limit)
            return next(received)
        }
    }
}

extension NetworkError {
    /// The error of a response that is complete without the item that ends its stream. A reconnection may follow a
    /// failure with this code.
    static var endedEarly: NetworkError {
        NetworkError(.partialBody, "the response is complete, but the end of the stream is missing")
    }
}

/// A signal of a resumable stream.
enum StreamSignal<Item: Sendable>: Sendable {
    case open(ResponseHead)
    /// An item, and the id of the stream from then on, if there are ids.
    case item(Item, id: String?)
    case comment(String)
    case lastEventID(String)
    /// The server's reconnection time.
    case retry(Duration)
    /// The server asks for no further connection.
    case stop
    case reconnecting(after: Duration, because: NetworkError?)
}
