/// The state machine of one WebSocket connection after its handshake (RFC 6455, RFC 7692): it parses received bytes and
/// builds the bytes to send. It performs no input or output and has no clock; its owner moves the bytes and limits the
/// time that a close handshake may take.
///
///     open ──close()──▶ closeSent ──peer's close──▶ closed
///     open ──peer's close, replied──▶ closeReceived ──end()──▶ closed
///     any ──violation or end()──▶ closed
package struct WebSocketConnectionState: ~Copyable, Sendable {
    /// The side of the connection.
    package enum Role: Sendable {
        /// Masks its frames and refuses masked ones.
        case client
        /// Masks no frames and refuses those that are not masked.
        case server
    }

    /// The stages of a connection.
    package enum Phase: Sendable, Hashable {
        /// Frames go both ways.
        case open
        /// This side has sent a close frame; the peer may send messages until it replies.
        case closeSent
        /// The peer has sent a close frame, and the reply has been appended to the output.
        case closeReceived
        /// Close frames have gone both ways after this side sent the first one, the peer violated the
        /// protocol, or the transport ended.
        case closed
    }

    /// The maximum payload of a control frame, in bytes (RFC 6455 §5.5).
    package static var largestControlFrame: Int { 125 }

    let role: Role
    let limits: WebSocketLimits
    let deflate: PermessageDeflate?
    let frameSize: Int
    var random: any RandomNumberGenerator & Sendable

    /// The stage of the connection.
    package internal(set) var phase = Phase.open

    // Receiving

    /// The bytes of an incomplete header.
    var partialHeader = PartialHeader()
    /// The frame whose payload is being received; `nil` between frames.
    var frame: FrameHeader?
    /// The received bytes of that payload.
    var receivedBytes = 0
    /// The received payload of an incomplete control frame.
    var control: [UInt8] = []
    var message: IncomingMessage

    // Sending

    /// Created with the first message to be compressed.
    var deflater: Deflater?

    /// Creates the state of an open connection. It takes less than 1 KiB until the first frame.
    ///
    /// - Parameters:
    ///   - role: the side of the connection.
    ///   - limits: the limits for received frames and messages.
    ///   - deflate: the agreed compression; `nil` for none.
    ///   - frameSize: the maximum payload of sent frames; larger messages are sent in fragments. Default
    ///     without a limit.
    ///   - random: the source of masking keys, which must be unpredictable outside of tests.
    package init(
        role: Role, limits: WebSocketLimits = WebSocketLimits(), deflate: PermessageDeflate? = nil,
        frameSize: Int = .max, random: any RandomNumberGenerator & Sendable = SystemRandomBlocks()
    ) {
        self.role = role
        let limits = limits.clamped
        self.limits = limits
        self.deflate = deflate
        self.frameSize = max(1, frameSize)
        self.random = random
        message = IncomingMessage(role: role, limits: limits, deflate: deflate)
    }

    /// Whether nothing is received or sent any more: only the transport's connection is left to end.
    package var isClosed: Bool { phase == .closeReceived || phase == .closed }

    /// Records that the transport's connection has ended.
    package mutating func end() { phase = .closed }
}

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

/// A peer's violation of the protocol or of a limit.
package struct WebSocketViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The close code that the peer is sent (RFC 6455 §7.4.1).
    package let code: WebSocketCloseCode
    /// The reason, without a period at its end: sent to the peer in the close frame, cut off at 123 bytes, and the
    /// message of the client's `NetworkError`.
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

/// The reason why a frame is not sent. Nothing has been appended to the output then.
package enum WebSocketSendRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// A close frame has been sent or received, or the connection has ended.
    case closing
    /// The payload of a control frame has more than 125 bytes (RFC 6455 §5.5).
    case largeControlFrame(Int)
    /// No close frame may contain the code (``WebSocketCloseCode/isSendable``).
    case unsendable(WebSocketCloseCode)

    /// Also the message of the client's `NetworkError`.
    package var description: String {
        switch self {
        case .closing: "the WebSocket is closing or closed"
        case .largeControlFrame(let count): "a control frame holds at most 125 bytes, not \(count)"
        case .unsendable(let code): "close code \(code) may not be sent"
        }
    }
}
