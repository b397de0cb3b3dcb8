public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import Synchronization

extension Client {
    /// Server-sent events, with automatic reconnection as in the HTML standard
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    ///
    /// ```swift
    /// client.events(.get("/prices")).messages()
    ///     .subscribe(onNext: { event in show(event.data) })
    ///
    /// client.events(.post("/chat", ["prompt": "tea?"]), until: { $0.data == "[DONE]" }, resumption: .next { received in
    ///     .post("/chat", ["prompt": "tea?", "prefix": received.items.map(\.data).joined()])
    /// })
    /// ```
    ///
    /// A new connection names the last received event (`Last-Event-ID`). It follows after three seconds; the wait doubles
    /// with each connection in a row that fails, up to a minute (`backoff`). An open circuit and a missing network count as
    /// failures. A reconnection time of the server (`retry`, at least 0.1 s) replaces `backoff`: the waits then double from
    /// it, up to a minute or that time, whichever is longer. The status 204 ends the stream successfully, even one with
    /// `until`: the server has nothing more to send. The stream fails with `status` for every status other than 200 and 204, with
    /// `invalidResponse` for a response that is not `text/event-stream`, and with errors that a reconnection cannot
    /// fix, such as an invalid URL or certificate. The client's retry policy does not apply; its session does: the
    /// stream fails with `loginExpired` when the account that it started with is logged out.
    ///
    /// The endpoint specifies method, parameters and header fields. A request that must not be sent twice,
    /// such as a POST whose endpoint is not declared idempotent, has one connection, unless `resumption` says
    /// otherwise: the stream ends or fails with it. With ``StreamResumption/next(keeping:_:)`` the stream
    /// continues after temporary statuses, whose `Retry-After` is a minimum of the wait, and a connection
    /// without an event counts as failed. `Accept: text/event-stream` and `Cache-Control: no-cache` are sent
    /// unless the endpoint or the client sets these fields.
    ///
    /// With `until`, the stream finishes with that event and closes the connection. A complete response without
    /// that event is a failure with `partialBody`.
    ///
    /// A connection has no ``Timeouts/attempt`` and no ``Timeouts/total``: its duration is unlimited. Silence
    /// ends it with `idleTimeout` after 60 s, or after the ``Timeouts/idle`` of the endpoint's timeouts, or of the
    /// client's if that differs from its default of 20 s; `nil` means never. A comment is not silence.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that sends the events.
    ///   - isEnd: whether an event ends the stream. Default `nil`: none does.
    ///   - deliversEnd: whether the stream sends that event before it finishes. Default false.
    ///   - resumption: how the stream continues after a connection has ended. Default: with the last id, if
    ///     the request may be sent twice.
    ///   - lastEventID: the event after which the first connection continues; empty for none. An id that a
    ///     header field cannot contain, such as one with CR, LF or NUL, fails with `invalidHeader`. Ids from
    ///     the server that a header field cannot contain are ignored for the next connection.
    ///   - limit: the maximum number of bytes of one event, and of one comment; a larger one ends the stream
    ///     with `tooLarge`. Default 1 MiB.
    ///   - backoff: the waits before new connections, by the number of connections in a row that failed. Default: 3 s,
    ///     doubled up to a minute.
    public func events(
        _ endpoint: some Endpoint, until isEnd: (@Sendable (ServerSentEvent) -> Bool)? = nil,
        deliversEnd: Bool = false,
        resumption: StreamResumption<ServerSentEvent> = .automatic, lastEventID: String = "",
        limit: Int = 1 << 20, backoff: Backoff = .exponential(base: .seconds(3), cap: .seconds(60))
    ) -> Observable<EventSourceUpdate, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            let account = self.account(in: observer.scope.lane)
            StreamSource(
                endpoint, until: isEnd, deliversEnd: deliversEnd,
                resumption: self.permitted(resumption.continuation, for: endpoint),
                lastEventID: lastEventID, backoff: backoff, on: scheduler
            ) { endpoint, lastEventID in
                self.connection(
                    endpoint, account, lastEventID: lastEventID, limit: limit, needsEnd: isEnd != nil)
            }
            .values { $0.update }
            .ending(with: self.account(account, of: endpoint))
            .subscribe(observer)
        }
    }

    /// The continuation, or one connection if the request must not be sent again.
    private func permitted(
        _ continuation: StreamResumption<ServerSentEvent>.Continuation, for endpoint: some Endpoint
    ) -> StreamResumption<ServerSentEvent>.Continuation {
        // A request that cannot be prepared fails when it is sent.
        guard case .lastEventID(let isForced) = continuation,
            let request = try? PreparedRequest(endpoint, of: self, on: scheduler).serialized()
        else { return continuation }
        return (isForced ? request.body.isReplayable : request.isRepeatable) ? continuation : .never
    }

    /// One connection.
    private func connection(
        _ endpoint: some Endpoint, _ account: SessionAccount?, lastEventID: String, limit: Int, needsEnd: Bool
    ) -> Observable<StreamSignal<ServerSentEvent>, NetworkError> {
        let reader = EventReading(
            lastEventID: lastEventID, limit: limit, hasOwnTimeouts: endpoint.options.timeouts != nil,
            needsEnd: needsEnd)
        let overrides = CallOverrides(account: account, reader: reader)
        return call(.events, endpoint, overrides) { event, call throws(NetworkError) in
            try call.output(in: event)
        }
    }
}

extension StreamSignal<ServerSentEvent> {
    fileprivate var update: EventSourceUpdate? {
        switch self {
        case .open(let head): .open(head)
        case .item(let event, id: _): .message(event)
        case .comment(let text): .comment(text)
        case .reconnecting(let delay, let error): .reconnecting(after: delay, because: error)
        case .lastEventID, .retry, .stop: nil
        }
    }
}

/// An update of an event source.
public enum EventSourceUpdate: Sendable {
    /// The server has begun to send events, on the first connection or a later one.
    case open(ResponseHead)
    /// An event.
    case message(ServerSentEvent)
    /// A comment, without the leading colon and the space after it. Servers send comments to keep a quiet
    /// connection open.
    case comment(String)
    /// The connection has ended, or could not be opened; the next attempt follows after this delay. `because`
    /// is `nil` if the server ended the connection normally.
    case reconnecting(after: Duration, because: NetworkError?)
}

extension Observable where Element == EventSourceUpdate {
    /// Only the events.
    public func messages() -> Observable<ServerSentEvent, Failure> {
        compactMap { update in
            if case .message(let event) = update { event } else { nil }
        }
    }
}

extension Observable where Element == EventSourceUpdate, Failure == NetworkError {
    /// The events, decoded from JSON.
    ///
    /// ```swift
    /// client.events(answer).messages(of: Delta.self, named: "delta")
    /// ```
    ///
    /// Data that cannot be decoded fails with ``NetworkError/Code/decoding``: the error holds the coding path,
    /// and the data as its body.
    ///
    /// - Parameters:
    ///   - type: the type of the events.
    ///   - name: the type of the events to decode (`event:`); others are skipped. Default `nil`: all events.
    ///   - decoder: the JSON decoder. Default `nil`: the decoder of the client.
    public func messages<T: Decodable & Sendable>(
        of type: T.Type = T.self, named name: String? = nil, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        messages(by: name.map { [$0: .json] } ?? [:], others: name == nil ? .json : nil, decoder: decoder)
    }

    /// The events, decoded by their types (`event:`); an event without one has the type `message`.
    ///
    /// ```swift
    /// client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])
    /// ```
    ///
    /// - Parameters:
    ///   - table: the decoders of the types.
    ///   - others: the decoder of all other events. Default `nil`: they are skipped.
    ///   - decoder: the JSON decoder. Default `nil`: the decoder of the client.
    public func messages<T: Sendable>(
        by table: [String: EventDecoder<T>], others: EventDecoder<T>? = nil, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        let decoder = Mutex<JSONDecoder?>(decoder)
        return compactMap { update throws(NetworkError) -> T? in
            switch update {
            case .open(let head):
                decoder.withLock { $0 = $0 ?? head.decoder }
                return nil
            case .message(let event):
                guard let value = table[event.type] ?? others else { return nil }
                return try value.decode(event, with: decoder.withLock { $0 } ?? JSONDecoder())
            case .comment, .reconnecting: return nil
            }
        }
    }
}

// MARK: - Messages as values

/// Makes a value of a server-sent event.
///
/// ```swift
/// enum Piece { case delta(Delta), usage(Usage) }
///
/// let all = client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])
/// ```
public struct EventDecoder<Output: Sendable>: Sendable {
    private let output: @Sendable (ServerSentEvent, JSONDecoder) throws(NetworkError) -> Output

    /// A value of the event's data, decoded from JSON.
    public static func json<T: Decodable & Sendable>(
        _ output: @escaping @Sendable (T) -> Output
    ) -> EventDecoder {
        EventDecoder { event, decoder throws(NetworkError) in
            output(
                try decoder.decode(
                    T.self, named: "the event \(event.type.debugDescription)", Array(event.data.utf8)))
        }
    }

    /// A value of the whole event.
    public static func event(_ output: @escaping @Sendable (ServerSentEvent) -> Output) -> EventDecoder {
        EventDecoder { event, _ in output(event) }
    }

    /// The value of an event.
    ///
    /// - Parameter decoder: the decoder of the data, if it is JSON. Default: one with default settings.
    /// - Throws: ``NetworkError/Code/decoding`` with the coding path, and the data as body.
    public func decode(
        _ event: ServerSentEvent, with decoder: JSONDecoder = JSONDecoder()
    ) throws(NetworkError) -> Output {
        try output(event, decoder)
    }
}

extension EventDecoder where Output: Decodable {
    /// The event's data, decoded from JSON.
    public static var json: EventDecoder { .json { $0 } }
}

// MARK: - One connection

/// Parses the response as server-sent events: one connection of an event source.
struct EventReading: Interceptor {
    let lastEventID: String
    let limit: Int
    /// Whether the endpoint has set time limits.
    let hasOwnTimeouts: Bool
    /// Whether a complete response is an error, because the stream ends with an event.
    let needsEnd: Bool

    /// Servers send comments every 15 to 30 s to keep a connection open. The documentation of event sources names this
    /// time.
    private static let longestSilence = Duration.seconds(60)

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard HTTPField.isValidValue(lastEventID) else {
            return .fail(
                NetworkError(
                    .invalidHeader,
                    "lastEventID begins or ends with a space, or contains a control character",
                    request: request))
        }
        var asking = request
        asking.askForEvents(after: lastEventID)
        if !hasOwnTimeouts, request.timeouts.idle == Timeouts().idle {
            asking.timeouts.idle = Self.longestSilence
        }
        return next.transfers(asking)
            .afterHead {
                head, rest throws(NetworkError) -> Observable<StreamSignal<ServerSentEvent>, NetworkError> in
                // Read to its end, so that the exchange succeeds.
                guard head.status != .noContent else {
                    return .concat([rest.ignoreElements(as: StreamSignal.self), .just(.stop)])
                }
                do throws(NetworkError) { try head.checkEventStream(of: request) } catch {
                    throw call.attributed(error)
                }
                let signals = rest.parsed {
                    EventStreamParser(lastEventID: lastEventID, limit: limit, findsComments: true)
                }
                .map { $0.signal }
                .startWith(.open(head.decoding(with: call.client.configuration.decoder)))
                guard needsEnd else { return signals }
                var error = call.attributed(.endedEarly)
                error.head = head
                return .concat([signals, .fail(error)])
            }
            .map { event in
                call.session?.recordSuccess(of: call.credentialVersion)
                return .output(event)
            }
    }
}

extension EventStreamParser.Output {
    fileprivate var signal: StreamSignal<ServerSentEvent> {
        switch self {
        case .event(let event): .item(event, id: event.lastEventID)
        case .lastEventID(let id): .lastEventID(id)
        case .retry(let time): .retry(time)
        case .comment(let text): .comment(text)
        }
    }
}

extension Request {
    fileprivate mutating func askForEvents(after lastEventID: String) {
        timeouts.attempt = nil
        timeouts.total = nil
        if headerFields[.accept] == nil { headerFields[.accept] = "text/event-stream" }
        // https://html.spec.whatwg.org/multipage/server-sent-events.html#the-eventsource-interface
        if headerFields[.cacheControl] == nil { headerFields[.cacheControl] = "no-cache" }
        if !lastEventID.isEmpty { headerFields[.lastEventID] = lastEventID }
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}

extension ResponseHead {
    /// This head with the client's decoder.
    fileprivate func decoding(with decoder: JSONDecoder) -> ResponseHead {
        var head = self
        head.decoder = decoder
        return head
    }

    fileprivate func checkEventStream(of request: Request) throws(NetworkError) {
        let type = self[.contentType] ?? ""
        var error: NetworkError
        if status != .ok {
            error = NetworkError(
                .status, "the server responded to an event source with \(status.code) instead of 200",
                request: request)
        } else if MediaType(type).name != "text/event-stream" {
            error = NetworkError(
                .invalidResponse, "the content type is \(type.debugDescription) instead of text/event-stream",
                request: request)
        } else {
            return
        }
        error.head = self
        throw error
    }
}
