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
    /// The silence of the server after which it is sent a ping. Default 30 s; `nil` sends none, so that a
    /// connection that is lost without a word stays open.
    public var pingInterval: Duration? = .seconds(30)
    /// How long the server may stay silent after a ping, before the connection fails with
    /// ``NetworkError/Code/idleTimeout``. Default 20 s.
    public var pongTimeout = Duration.seconds(20)
    /// How long the server may take to end the connection after close frames, before this side does. Default
    /// 5 s.
    public var closeTimeout = Duration.seconds(5)
    /// When to connect again after a connection has ended. Default ``WebSocketReconnection/never``.
    public var reconnection = WebSocketReconnection.never

    /// Creates settings with the defaults.
    public init() {}
}
