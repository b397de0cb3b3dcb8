/// A peer's violation of the protocol or of a limit.
package struct WebSocketViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The close code that the peer is sent (RFC 6455 §7.4.1).
    package let code: WebSocketCloseCode
    /// The reason, without a period at its end.
    package let message: String

    package init(_ code: WebSocketCloseCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(message), close code \(code)" }

    static func protocolError(_ message: String) -> WebSocketViolation {
        WebSocketViolation(.protocolError, message)
    }

    static let invalidText = WebSocketViolation(.invalidPayload, "a text message is not UTF-8")
    static let invalidCompression = WebSocketViolation(
        .invalidPayload, "a compressed message is not valid DEFLATE")
    static func largeFrame(_ limit: Int) -> WebSocketViolation {
        WebSocketViolation(.messageTooBig, "a frame is larger than \(limit) bytes")
    }
    static func largeMessage(_ limit: Int) -> WebSocketViolation {
        WebSocketViolation(.messageTooBig, "a message is larger than \(limit) bytes")
    }
    static func expanded(_ ratio: Int) -> WebSocketViolation {
        WebSocketViolation(.messageTooBig, "a message decompresses to more than \(ratio) times its size")
    }
}
