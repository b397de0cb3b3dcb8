public import RxHTTP

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
