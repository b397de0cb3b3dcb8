import HTTPTypes
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
            let request = try? Draft(endpoint, of: self, on: scheduler).unsigned()
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
        drafted(endpoint, isWhole: false) { draft throws(NetworkError) in
            guard HTTPField.isValidValue(lastEventID) else {
                throw NetworkError(
                    .invalidHeader,
                    "the last event id begins or ends in space, or holds a control character",
                    request: try draft.unsigned())
            }
            let hasTimeouts = endpoint.options.timeouts != nil
            let attempts = try self.attempts(of: draft, retrying: .never)
            let session = self.session(for: draft)
            let envelope = self.envelope(of: draft)
            return self.send(
                attempts, session: session, cookies: self.cookies(for: draft),
                through: [.failover, .circuitBreaker],
                preparing: { request in
                    request.askForEvents(after: lastEventID)
                    if !hasTimeouts { request.timeouts.idle = nil }
                }
            ) { events, request in
                events.checkStatus(of: request, envelope: envelope)
                    .afterHead { head, rest throws(NetworkError) in
                        guard head.status != .noContent else { return .just(.stop) }
                        try head.checkEventStream(of: request)
                        return rest.parsed {
                            EventStreamParser(lastEventID: lastEventID, limit: limit, findsComments: true)
                        }
                        .map { .found($0) }
                        .startWith(.open(head))
                    }
            }
            .handleEvents(onNext: { _ in session?.noteSuccess(of: attempts.stamp) })
            .relogin(through: session, replay: attempts.replay, trace: attempts.trace)
            .traced(by: attempts.trace, isWhole: false)
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

extension ResponseHead {
    fileprivate func checkEventStream(of request: Request) throws(NetworkError) {
        let type = self[.contentType] ?? ""
        var error: NetworkError
        if status != .ok {
            error = NetworkError(.status, "the answer to an event source is 200", request: request)
        } else if MediaType(type).name != "text/event-stream" {
            error = NetworkError(
                .invalidResponse, "the answer is no text/event-stream but \(type.debugDescription)",
                request: request)
        } else {
            return
        }
        error.head = self
        throw error
    }
}
