public import RxHTTP
public import RxLite

/// An update of an event source.
public enum EventSourceUpdate: Sendable {
    /// The server has begun to send events, for the first time or again.
    case open(ResponseHead)
    /// An event.
    case message(ServerSentEvent)
    /// A comment, without the colon before it and the blank after that. Servers send them to keep a quiet connection
    /// open.
    case comment(String)
    /// The connection has ended, or could not be opened; the next attempt follows after this delay. `because` is `nil`
    /// where the server ended it in order.
    case reconnecting(after: Duration, because: NetworkError?)
}

extension Observable where Element == EventSourceUpdate {
    /// The events alone.
    public func messages() -> Observable<ServerSentEvent, Failure> {
        compactMap { update in
            if case .message(let event) = update { event } else { nil }
        }
    }
}
