public import RxWebSocket

/// How a WebSocket is opened, kept and closed.
public struct WebSocketSettings: Sendable {
    /// The subprotocols to offer, in the order of preference (`Sec-WebSocket-Protocol`). Default none.
    public var subprotocols: [String] = []
    /// The compression to offer. Default: `permessage-deflate` with its default parameters.
    public var compression = WebSocketCompression.permessageDeflate
    /// The limits of received frames and messages.
    public var limits = WebSocketLimits()
    /// The maximum payload of a sent frame, in bytes; larger messages are sent in fragments. Default `nil`:
    /// each message is one frame.
    public var frameSize: Int?
    /// How often the client checks for silence; if nothing has arrived since the previous check, it sends a
    /// ping. Default 30 s, so a ping follows 30 to 60 s of silence. `nil` disables pings; a dead connection
    /// is then not detected.
    public var pingInterval: Duration? = .seconds(30)
    /// How long the server may stay silent after a ping, before the connection fails with
    /// ``NetworkError/Code/idleTimeout``. Default 20 s.
    public var pongTimeout = Duration.seconds(20)
    /// The time that the server has to answer a close frame and to close the connection. Afterwards the
    /// client closes it. Default 5 s.
    public var closeTimeout = Duration.seconds(5)
    /// When to connect again after a connection has ended. Default ``WebSocketReconnection/never``.
    public var reconnection = WebSocketReconnection.never

    /// Creates settings with the defaults.
    public init() {}
}
