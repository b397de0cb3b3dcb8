public import RxHTTP
public import RxLite

extension Client {
    /// Server-sent events, with automatic reconnection as in the HTML standard
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    ///
    /// ```swift
    /// client.events(.get("/prices")).messages()
    ///     .subscribe(onNext: { event in show(event.data) })
    /// ```
    ///
    /// A new connection names the last received event (`Last-Event-ID`). It waits three seconds, or the
    /// server's latest reconnection time (`retry`, at least 0.1 s). After failed connections the wait doubles
    /// each time, up to a minute or the server's time, whichever is longer; see ``EventSourceWaits``. An open
    /// circuit and a machine without network are such failures. The status 204 ends the stream. The stream
    /// fails with `status` for every status other than 200 and 204, with `invalidResponse` for a response
    /// that is not `text/event-stream`, and with errors that a reconnection cannot fix, such as an invalid
    /// URL or certificate. The client's retry policy does not apply; its session does.
    ///
    /// The endpoint specifies method, parameters and header fields. A request that must not be sent twice,
    /// such as a POST whose endpoint is not declared idempotent, has one connection: the stream ends or fails
    /// with it. `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the endpoint or the
    /// client sets these fields.
    ///
    /// A connection has no ``Timeouts/attempt`` and no ``Timeouts/total``: its duration is unlimited. Silence
    /// ends it (``Timeouts/idle``) only if the endpoint sets timeouts.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that sends the events.
    ///   - lastEventID: the event after which the first connection continues; empty for none. An id that a
    ///     header field cannot contain, such as one with CR, LF or NUL, fails with `invalidHeader`. Ids from
    ///     the server that a header field cannot contain are ignored for the next connection.
    ///   - limit: the maximum number of bytes of one event, and of one comment; a larger one ends the stream
    ///     with `tooLarge`. Default 1 MiB.
    ///   - waits: the waits before new connections.
    public func events(
        _ endpoint: some Endpoint, lastEventID: String = "", limit: Int = 1 << 20,
        waits: EventSourceWaits = EventSourceWaits()
    ) -> Observable<EventSourceUpdate, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            // A request that cannot be prepared fails when it is sent.
            let request = try? PreparedRequest(endpoint, of: self, on: scheduler).serialized()
            EventSource(
                lastEventID: lastEventID, waits: waits, isRepeatable: request?.isRepeatable ?? true,
                on: scheduler
            ) { lastEventID in
                self.connection(endpoint, lastEventID: lastEventID, limit: limit)
            }
            .updates.subscribe(observer)
        }
    }

    /// One connection.
    private func connection(
        _ endpoint: some Endpoint, lastEventID: String, limit: Int
    ) -> Observable<EventSource.ConnectionEvent, NetworkError> {
        let reader = EventReading(
            lastEventID: lastEventID, limit: limit, endsSilence: endpoint.options.timeouts != nil)
        return call(.events, endpoint, CallSettings(reader: reader)) { event in
            if case .output(let output) = event { output as? EventSource.ConnectionEvent } else { nil }
        }
    }
}
