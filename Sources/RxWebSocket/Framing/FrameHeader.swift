/// The header of a received frame (RFC 6455 §5.2).
struct FrameHeader: Equatable {
    let opcode: Opcode
    let isFinal: Bool
    /// Whether the frame begins a compressed message.
    let isCompressed: Bool
    /// The length of the payload.
    let length: Int
    /// The masking key, its first byte the lowest, as ``Masking`` takes it; `nil` if the payload is not masked.
    let key: UInt32?

    /// Reads a header from the beginning of `bytes`. The rules are applied in the order of the bytes, so that
    /// the outcome does not depend on how many have arrived.
    ///
    /// - Returns: the header and its size; `nil` if it is incomplete.
    static func read(
        _ bytes: UnsafeRawBufferPointer, by rules: FrameRules
    ) throws(WebSocketViolation) -> (header: FrameHeader, size: Int)? {
        guard let first = unsafe bytes.first else { return nil }
        let opcode = try rules.check(first)
        let isCompressed = first & 0x40 != 0
        guard bytes.count >= 2 else { return nil }
        let second = unsafe bytes[1]
        guard (second & 0x80 != 0) == rules.isMasked else {
            throw .protocolError(
                rules.isMasked ? "a client's frame is not masked" : "a server's frame is masked")
        }
        var length = UInt64(second & 0x7F)
        // ``WebSocketConnectionState/largestControlFrame``; 126 and 127 announce a longer field.
        guard !opcode.isControl || length <= 125 else {
            throw .protocolError("a control frame has more than 125 bytes")
        }
        var size = 2
        if length >= 126 {
            let isLong = length == 127
            size = isLong ? 10 : 4
            guard bytes.count >= size else { return nil }
            length =
                isLong
                ? UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
                : UInt64(UInt16(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard length >> 63 == 0 else { throw .protocolError("the highest bit of a length is set") }
            guard length > (isLong ? 0xFFFF : 125) else {
                throw .protocolError("a length is not in its shortest form")
            }
        }
        try rules.check(length, of: opcode, isCompressed: isCompressed)
        var key: UInt32?
        if rules.isMasked {
            guard bytes.count >= size + 4 else { return nil }
            key = UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: size, as: UInt32.self))
            size += 4
        }
        // The length is at most the limit for frames, an Int.
        let header = FrameHeader(
            opcode: opcode, isFinal: first & 0x80 != 0, isCompressed: isCompressed, length: Int(length),
            key: key)
        return (header, size)
    }
}

/// The type of a frame (RFC 6455 §5.2).
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }
}

/// The bytes of a header that has not arrived completely; at most 14 (RFC 6455 §5.2).
struct PartialHeader: Sendable {
    private var bytes: (UInt64, UInt64) = (0, 0)
    private(set) var count = 0

    mutating func append(_ byte: UInt8) {
        let index = count
        unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0[index] = byte }
        count += 1
    }

    mutating func removeAll() { count = 0 }

    func read(by rules: FrameRules) throws(WebSocketViolation) -> (header: FrameHeader, size: Int)? {
        var copy = bytes
        return try unsafe withUnsafeBytes(of: &copy) { bytes throws(WebSocketViolation) in
            try unsafe FrameHeader.read(UnsafeRawBufferPointer(rebasing: bytes[..<count]), by: rules)
        }
    }
}

/// The rules for the next frame, which depend on what has come before it.
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
        // Compressed messages are limited by `IncomingMessage`, while it decompresses them.
        guard !opcode.isControl, !isCompressed, openMessage?.isCompressed != true else { return }
        let room = limits.messageBytes - (openMessage?.byteCount ?? 0)
        guard length <= UInt64(max(0, room)) else { throw .largeMessage(limits.messageBytes) }
    }
}
