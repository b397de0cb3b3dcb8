/// The state of a WebSocket, for a view.
public enum WebSocketState: Sendable, Hashable {
    /// Not in use: no subscription, or the stream has ended.
    case idle
    /// A connection is being opened.
    case connecting
    /// The connection is open.
    case open
    /// The connection has ended; the next one follows after this delay.
    case waiting(Duration)
}
