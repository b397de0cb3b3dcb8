/// The reason why a frame is not sent. Nothing has been appended to the output then.
package enum WebSocketSendRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// A close frame has been sent or received, or the connection has ended.
    case closing
    /// The payload of a control frame has more than 125 bytes (RFC 6455 §5.5).
    case largeControlFrame(Int)
    /// No close frame may contain the code (``WebSocketCloseCode/isSendable``).
    case unsendable(WebSocketCloseCode)

    package var description: String {
        switch self {
        case .closing: "the WebSocket is closing or closed"
        case .largeControlFrame(let count): "a control frame holds at most 125 bytes, not \(count)"
        case .unsendable(let code): "close code \(code) may not be sent"
        }
    }
}
