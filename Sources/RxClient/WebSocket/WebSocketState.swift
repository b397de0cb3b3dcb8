/// The state of a WebSocket, for a view.
public enum WebSocketState: Sendable, Hashable {
    /// Nobody has subscribed, or the stream has ended.
    case idle
    /// A connection is being opened.
    case connecting
    /// Messages go both ways.
    case open
    /// The connection has ended; the next one follows after this delay.
    case waiting(Duration)
}
