public import RxHTTP
public import RxLite

extension Client {
    /// Server-sent events, with automatic reconnection as in the HTML standard
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    ///
    /// ```swift
    /// client.events(.get("/prices")).messages()
    ///     .subscribe(onNext: { event in show(event.data) })
    ///
    /// client.events(.post("/chat", ["prompt": "tea?"]), until: .data("[DONE]"), resumption: .next { received in
    ///     .post("/chat", ["prompt": "tea?", "prefix": received.items.map(\.data).joined()])
    /// })
    /// ```
    ///
    /// A new connection names the last received event (`Last-Event-ID`). It waits three seconds, or the
    /// server's latest reconnection time (`retry`, at least 0.1 s). After failed connections the wait doubles
    /// each time, up to a minute or the server's time, whichever is longer; see ``ReconnectionWaits``. An
    /// open circuit and a machine without network are such failures. The status 204 ends the stream
    /// successfully, also one with an `end`: the server has nothing more to send. The stream fails with
    /// `status` for every status other than 200 and 204, with `invalidResponse` for a response that is not
    /// `text/event-stream`, and with errors that a reconnection cannot fix, such as an invalid URL or
    /// certificate. The client's retry policy does not apply; its session does: the stream fails with `loginExpired` when
    /// the account at its start is gone.
    ///
    /// The endpoint specifies method, parameters and header fields. A request that must not be sent twice,
    /// such as a POST whose endpoint is not declared idempotent, has one connection, unless `resumption` says
    /// otherwise: the stream ends or fails with it. With ``StreamResumption/next(keeping:_:)`` the stream
    /// continues after temporary statuses, whose `Retry-After` is a minimum of the wait, and a connection
    /// without an event counts as failed. `Accept: text/event-stream` and `Cache-Control: no-cache` are sent
    /// unless the endpoint or the client sets these fields.
    ///
    /// If the stream has an `end`, it finishes with that event and closes the connection. A response that is
    /// complete without that event is a failure with `partialBody`.
    ///
    /// A connection has no ``Timeouts/attempt`` and no ``Timeouts/total``: its duration is unlimited. Silence
    /// ends it with `idleTimeout` after 60 s, or after the ``Timeouts/idle`` of the endpoint's timeouts, or of the
    /// client's if that differs from its default of 20 s; `nil` means never. A comment is not silence.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that sends the events.
    ///   - end: the event that ends the stream. Default: none.
    ///   - resumption: how the stream continues after a connection has ended. Default: with the last id, if
    ///     the request may be sent twice.
    ///   - lastEventID: the event after which the first connection continues; empty for none. An id that a
    ///     header field cannot contain, such as one with CR, LF or NUL, fails with `invalidHeader`. Ids from
    ///     the server that a header field cannot contain are ignored for the next connection.
    ///   - limit: the maximum number of bytes of one event, and of one comment; a larger one ends the stream
    ///     with `tooLarge`. Default 1 MiB.
    ///   - waits: the waits before new connections.
    public func events(
        _ endpoint: some Endpoint, until end: StreamEnd<ServerSentEvent>? = nil,
        resumption: StreamResumption<ServerSentEvent> = .automatic, lastEventID: String = "",
        limit: Int = 1 << 20, waits: ReconnectionWaits = ReconnectionWaits()
    ) -> Observable<EventSourceUpdate, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            let account = self.account(in: observer.scope.lane)
            StreamSource(
                endpoint, until: end, resumption: self.permitted(resumption.continuation, for: endpoint),
                lastEventID: lastEventID, waits: waits, on: scheduler
            ) { endpoint, lastEventID in
                self.connection(
                    endpoint, account, lastEventID: lastEventID, limit: limit, needsEnd: end != nil)
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
        return call(.events, endpoint, CallSettings(account: account, reader: reader)) { event, _ in
            if case .output(let output) = event { output as? StreamSignal<ServerSentEvent> } else { nil }
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
