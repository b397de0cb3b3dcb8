public import RxHTTP
public import RxLite

extension Client {
    /// Server-sent events, with a new connection whenever one ends, as the HTML standard has it
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    ///
    /// ```swift
    /// client.events(.get("/prices")).messages()
    ///     .subscribe(onNext: { event in show(event.data) })
    /// ```
    ///
    /// A new connection names the last event that came (`Last-Event-ID`). It waits three seconds, or what the server
    /// said last (`retry`, at least 0.1 s); after connections that failed twice as long each time, up to a minute or the
    /// server's own time, whichever is longer; see ``EventSourceWaits``. An open circuit and a machine without network are such
    /// failures. The status 204 ends the stream. It fails for good with `status` for every other status but 200, with
    /// `invalidResponse` for a response that is no `text/event-stream`, and with what no further try would mend, such as
    /// an invalid URL or certificate. The client's retry policy does not count; its session does.
    ///
    /// The endpoint gives method, parameters and header fields. Requests that must not be sent twice, such as POST unless
    /// the endpoint says that it is idempotent, have one connection: its end is the stream's, and its failure, too.
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the endpoint or the client has such fields.
    ///
    /// A connection has no ``Timeouts/attempt`` and no ``Timeouts/total``: it lasts as long as it does. Silence ends
    /// it (``Timeouts/idle``) only where the endpoint has timeouts of its own.
    ///
    /// - Parameters:
    ///   - endpoint: what is asked for.
    ///   - lastEventID: the event after which the first connection continues; empty for none. An id that no header field
    ///     can carry, such as one with CR, LF or NUL, fails with `invalidHeader`. Ids of the server's that none can carry do
    ///     not count for the next connection.
    ///   - limit: the most bytes of one event, and of one comment; a larger one ends the stream with `tooLarge`. Default
    ///     1 MiB.
    ///   - waits: how long it waits before new connections.
    public func events(
        _ endpoint: some Endpoint, lastEventID: String = "", limit: Int = 1 << 20,
        waits: EventSourceWaits = EventSourceWaits()
    ) -> Observable<EventSourceUpdate, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            // What cannot be made into a request fails when it is to be sent.
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
