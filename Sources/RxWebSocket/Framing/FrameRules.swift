/// The rules for the next frame, which depend on its place in the stream.
struct FrameRules {
    /// Whether frames must be masked.
    let isMasked: Bool
    /// Whether compression was agreed.
    let allowsCompression: Bool
    /// The message whose fragments are being received; `nil` between messages.
    let openMessage: OpenMessage?
    let limits: WebSocketLimits

    struct OpenMessage {
        let isCompressed: Bool
        let byteCount: Int
    }

    /// Checks the first byte of a frame.
    func check(_ first: UInt8) throws(WebSocketViolation) -> Opcode {
        guard first & 0x30 == 0 else { throw .protocolError("a reserved bit is set") }
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw .protocolError("opcode \(first & 0x0F) is reserved")
        }
        if first & 0x40 != 0 {
            guard allowsCompression else { throw .protocolError("a frame is compressed without agreement") }
            guard opcode == .text || opcode == .binary else {
                throw .protocolError(
                    "the bit for compression is set in a frame that does not begin a message")
            }
        }
        switch opcode {
        case .close, .ping, .pong:
            guard first & 0x80 != 0 else { throw .protocolError("a control frame is fragmented") }
        case .continuation:
            guard openMessage != nil else {
                throw .protocolError("a continuation without a message to continue")
            }
        case .text, .binary:
            guard openMessage == nil else {
                throw .protocolError("a new message begins before the previous one is complete")
            }
        }
        return opcode
    }

    /// Checks the length that a header announces, before anything is buffered.
    func check(_ length: UInt64, of opcode: Opcode, isCompressed: Bool) throws(WebSocketViolation) {
        guard length <= UInt64(limits.frameLimit) else { throw .largeFrame(limits.frameLimit) }
        guard !opcode.isControl, !isCompressed, openMessage?.isCompressed != true else { return }
        let room = limits.messageBytes - (openMessage?.byteCount ?? 0)
        guard length <= UInt64(max(0, room)) else { throw .largeMessage(limits.messageBytes) }
    }
}
