public import RxHTTP
public import RxLite

extension Client {
    /// A streamed response that continues over new connections: lines, JSON values, parts, or other items that
    /// an operator makes from a response.
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl"), resumption: .next(keeping: 1) { received in
    ///     .get("/goods.jsonl", query: ["after": received.items.last?.id])
    /// }, reading: { $0.jsonLines(Goods.self) })
    /// ```
    ///
    /// Each connection is a separate ``stream(_:)``, with the timeouts and the retry policy of its endpoint. If it is
    /// interrupted, its items have been sent, and the next connection follows after a wait. A connection without an
    /// item counts as failed, and `Retry-After` is a minimum of the wait. A complete response ends the stream. With
    /// `until`, the stream finishes with the item that satisfies it, closes its connection, and counts a response that ends
    /// without that item as interrupted, with `partialBody`. An unterminated line at the end of such a response is an
    /// item only if it satisfies `until`. Errors of the content, such as `decoding` or `tooLarge`, are final. The stream fails
    /// with `loginExpired` when the account that it started with is logged out.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the first connection.
    ///   - isEnd: whether an item ends the stream. Default `nil`: none does.
    ///   - deliversEnd: whether the stream sends that item before it finishes. Default false.
    ///   - resumption: how the stream continues after an interruption. With a last id, as for event
    ///     streams, there is one connection.
    ///   - backoff: the waits before new connections, by the number of connections in a row that failed. Default: 3 s,
    ///     doubled up to a minute.
    ///   - body: makes the items of one connection.
    public func stream<Item: Sendable>(
        _ endpoint: some Endpoint, until isEnd: (@Sendable (Item) -> Bool)? = nil, deliversEnd: Bool = false,
        resumption: StreamResumption<Item>,
        backoff: Backoff = .exponential(base: .seconds(3), cap: .seconds(60)),
        reading body:
            @escaping @Sendable (Observable<TransferEvent, NetworkError>) -> Observable<
                Item, NetworkError
            >
    ) -> Observable<Item, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            let account = self.account(in: observer.scope.lane)
            StreamSource(
                endpoint, until: isEnd, deliversEnd: deliversEnd, resumption: resumption.withoutIDs,
                endsWithBody: isEnd == nil,
                backoff: backoff, on: scheduler
            ) { endpoint, _ in
                let events = self.transferEvents(of: endpoint, CallOverrides(account: account))
                let items = isEnd.map { events.items(until: $0, reading: body) } ?? body(events)
                return items.map { .item($0, id: nil) }
            }
            .values { signal in if case .item(let item, id: _) = signal { item } else { nil } }
            .ending(with: self.account(account, of: endpoint))
            .subscribe(observer)
        }
    }
}

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The items of a response that fails with `partialBody` where it ends without the last item of the stream.
    fileprivate func items<Item: Sendable>(
        until isEnd: @escaping @Sendable (Item) -> Bool,
        reading body: @escaping @Sendable (Observable) -> Observable<Item, NetworkError>
    ) -> Observable<Item, NetworkError> {
        .deferred { [scheduler] in
            let remainder = BodyRemainder()
            let items = body(
                map { event in
                    guard case .head(var head) = event else { return event }
                    head.remainder = remainder
                    return .head(head)
                })
            // The server need not have terminated the last line, but another incomplete one would be a wrong item.
            let last = Observable(scheduler: scheduler) { observer in
                Observable.sequence(remainder.events).subscribe(observer)
            }
            return .concat([
                items, body(last).filter(isEnd).catch { _ in .empty() }, .fail(.endedEarly),
            ])
        }
    }
}

/// The way in which a stream continues after a connection that ended before the stream did.
///
/// ```swift
/// client.events(Answer(to: prompt), until: { $0.data == "[DONE]" }, resumption: .next { received in
///     Answer(to: prompt, continuing: received.items.map(\.data).joined())
/// })
/// ```
public struct StreamResumption<Item: Sendable>: Sendable {
    enum Continuation: Sendable {
        case never
        /// Repeats the request with the last id; `isForced` disregards whether it may be sent twice.
        case lastEventID(isForced: Bool)
        case next(keeping: Int, @Sendable (Received) -> (any Endpoint)?)
    }

    let continuation: Continuation

    /// The continuation of a stream that is not an event stream: no request names an id.
    var withoutIDs: Continuation { if case .lastEventID = continuation { .never } else { continuation } }

    /// The items that a stream has received when one of its connections has ended, and the reason of that end.
    public struct Received: Sendable {
        /// The items of all connections, the oldest first; at most as many as the resumption keeps.
        public internal(set) var items: [Item] = []
        /// The number of items of all connections.
        public internal(set) var count = 0
        /// The number of items of the connection that has ended.
        public internal(set) var newCount = 0
        /// The number of connections in a row that delivered no item.
        public internal(set) var failures = 0
        /// The last id of an event stream; empty for none.
        public internal(set) var lastEventID = ""
        /// The error that ended the connection; `nil` if the server ended it normally.
        public internal(set) var error: NetworkError?

        mutating func append(_ item: Item, keeping limit: Int) {
            count += 1
            newCount += 1
            failures = 0
            guard limit > 0 else { return }
            items.append(item)
            // Not at each item, so that an item is moved only once.
            if items.count / 2 >= limit { dropOldest(keeping: limit) }
        }

        mutating func dropOldest(keeping limit: Int) {
            items.removeFirst(max(0, items.count - max(0, limit)))
        }
    }

    /// One connection only: the stream ends or fails with it.
    public static var never: StreamResumption { StreamResumption(continuation: .never) }

    /// A new connection to the endpoint that `endpoint` makes from the received items; `nil` for no further
    /// connection, so that the stream ends or fails as the last one did.
    ///
    /// The closure is called after each connection that ended before the stream did, unless by an error that
    /// no connection can fix, such as an invalid URL or certificate, or a status that is not temporary.
    /// Temporary are 408, 425, 429, 500, 502, 503, 504, and 413 with `Retry-After`. To give up after a number
    /// of failures, return `nil` by ``Received/failures``.
    ///
    /// - Parameters:
    ///   - limit: the most items to keep in memory for the closure, the latest ones. Default: all.
    ///   - endpoint: makes the endpoint of the next connection, in the lane of the subscription.
    public static func next(
        keeping limit: Int = .max,
        _ endpoint: @escaping @Sendable (_ received: Received) -> (any Endpoint)?
    ) -> StreamResumption {
        StreamResumption(continuation: .next(keeping: limit, endpoint))
    }
}

extension StreamResumption where Item == ServerSentEvent {
    /// ``lastEventID`` if the request may be sent twice (``Endpoint/isRepeatable``), otherwise ``never``.
    public static var automatic: StreamResumption {
        StreamResumption(continuation: .lastEventID(isForced: false))
    }

    /// Repeats the request with the id of the last event (`Last-Event-ID`), whatever its method. Use it for
    /// a POST only if the server does not execute it twice. A request whose body cannot be sent again has one
    /// connection.
    public static var lastEventID: StreamResumption {
        StreamResumption(continuation: .lastEventID(isForced: true))
    }
}

// MARK: - Waits

/// The waits of a stream before it connects again.
struct ReconnectionWaits: Sendable {
    // The documentation of event sources names both times.

    /// The shortest wait that a server can ask for.
    private static let shortest = Duration.milliseconds(100)
    /// The longest wait after failed connections, unless the server's time is longer.
    private static let longest = Duration.seconds(60)

    private let backoff: Backoff
    private var history: RetryHistory?

    init(_ backoff: Backoff) { self.backoff = backoff }

    /// The wait after this number of connections in a row that failed.
    ///
    /// - Parameter requested: the server's reconnection time, from which the waits double; `nil` if it has sent none.
    mutating func next(after failures: Int, requested: Duration?, on clock: any Scheduler) -> Duration {
        let base = requested.map { max($0, Self.shortest) }
        let backoff = base.map { Backoff.exponential(base: $0, cap: max($0, Self.longest)) } ?? self.backoff
        var current = failures <= 1 ? RetryHistory(clock: clock) : history ?? RetryHistory(clock: clock)
        current.count = max(0, failures - 1)
        defer { history = current }
        return current.countRetry(by: backoff, RandomSource.fraction)
    }
}
