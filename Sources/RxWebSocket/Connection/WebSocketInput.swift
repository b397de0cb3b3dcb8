/// A parsed item of a connection's input.
package enum WebSocketInput: Sendable, Hashable {
    /// A complete message.
    case message(WebSocketMessage)
    /// A ping; the pong has been appended to the replies.
    case ping([UInt8])
    /// A pong, solicited or not.
    case pong([UInt8])
    /// The peer's close frame, the last item; `nil` if it contains no code. Its reply has been appended to
    /// the replies, unless it is itself the reply to a close frame of this side.
    case close(code: WebSocketCloseCode?, reason: String)
    /// The peer violated the protocol or a limit; the last item. A close frame with the code has been
    /// appended to the replies, unless one was sent before. The owner ends the transport's connection.
    case violation(WebSocketViolation)
}
