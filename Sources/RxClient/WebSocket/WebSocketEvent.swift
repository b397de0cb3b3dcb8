public import RxHTTP
public import RxLite
public import RxWebSocket

/// An event of a WebSocket.
public enum WebSocketEvent: Sendable {
    // Indirect where it is rare and large, so that a message is small enough to be passed without allocation.

    /// The handshake has succeeded, on the first connection or a later one.
    indirect case opened(WebSocketOpening)
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
    /// A ping of the server; it has been answered. Pings and pongs may be omitted while many events wait for a paused
    /// subscriber.
    case ping([UInt8])
    /// A pong of the server.
    case pong([UInt8])
    /// The server has sent a close frame, which the client has answered. No message follows on this
    /// connection. The code is ``WebSocketCloseCode/noStatus`` if the frame has none.
    case closing(WebSocketCloseCode, reason: String)
    /// The connection has ended, or could not be opened; the next one follows after this delay. `because` is
    /// `nil` if the server closed it normally.
    indirect case reconnecting(after: Duration, because: NetworkError?)
}

/// The agreement with which a connection begins.
public struct WebSocketOpening: Sendable {
    /// The head of the response.
    public let head: ResponseHead
    /// The subprotocol that the server chose; `nil` for none.
    public let subprotocol: String?
    /// Whether messages are compressed (RFC 7692).
    public let isCompressed: Bool
}

extension Observable where Element == WebSocketEvent {
    /// Only the messages, texts and bytes.
    public func messages() -> Observable<WebSocketMessage, Failure> {
        compactMap { event in
            switch event {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            default: nil
            }
        }
    }

    /// Only the texts.
    public func texts() -> Observable<String, Failure> {
        compactMap { event in if case .text(let text) = event { text } else { nil } }
    }
}
