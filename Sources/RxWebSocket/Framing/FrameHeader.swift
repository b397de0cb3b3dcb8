/// The header of a received frame (RFC 6455 §5.2).
struct FrameHeader: Equatable {
    let opcode: Opcode
    let isFinal: Bool
    /// Whether the frame begins a compressed message.
    let isCompressed: Bool
    /// The length of the payload.
    let length: Int
    /// The masking key; `nil` if the payload is not masked.
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
