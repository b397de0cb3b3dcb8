import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite

/// Parses the response as server-sent events: one connection of an event source.
struct EventReading: Interceptor {
    let lastEventID: String
    let limit: Int
    /// Whether the endpoint has set time limits.
    let hasOwnTimeouts: Bool
    /// Whether a complete response is an error, because the stream ends with an event.
    let needsEnd: Bool

    /// Servers send comments every 15 to 30 s to keep a connection open.
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
                guard head.status != .noContent else { return .just(.stop) }
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
                call.session?.noteSuccess(of: call.stamp)
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
    /// The same head with the decoder of the client.
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
