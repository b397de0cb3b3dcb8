/// The state machine of one WebSocket connection after its handshake (RFC 6455, RFC 7692): it parses received
/// bytes and builds the bytes to send. It has no input or output of its own and no clock; its owner moves the
/// bytes and limits the time that a close handshake may take.
///
///     open ──close()──▶ closeSent ──peer's close──▶ closed
///     open ──peer's close, replied──▶ closeReceived ──end()──▶ closed
///     any ──violation or end()──▶ closed
package struct WebSocketConnectionState: ~Copyable, Sendable {
    /// The side of the connection.
    package enum Role: Sendable {
        /// Masks its frames and refuses masked ones.
        case client
        /// The opposite.
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

    /// Notes that the transport's connection has ended.
    package mutating func end() { phase = .closed }
}
