/// A frame (RFC 6455 §5.2), which need not be valid.
struct Frame: Sendable {
    var opcode: Opcode
    var payload: Octets = []
    var isFinal = true
    /// The three reserved bits: 4 is RSV1, 2 is RSV2, 1 is RSV3.
    var reserved: UInt8 = 0

    /// Appends the frame without a mask, as servers send it, with the shortest form of the length.
    func encode(into output: inout [UInt8]) {
        Self.encodeHeader(
            opcode, length: payload.count, isFinal: isFinal, reserved: reserved, into: &output)
        output += payload.bytes
    }

    static func encodeHeader(
        _ opcode: Opcode, length: Int, isFinal: Bool, reserved: UInt8, into output: inout [UInt8]
    ) {
        output.append((isFinal ? 0x80 : 0) | (reserved & 7) << 4 | opcode.rawValue & 0x0F)
        switch length {
        case ...125: output.append(UInt8(length))
        case ...0xFFFF: output += [126, UInt8(length >> 8), UInt8(length & 0xFF)]
        default:
            output.append(127)
            output += (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
        }
    }

    /// The frames of a message whose payload is `payload`, with at most `fragmentSize` octets each.
    ///
    /// Like the suite's sender, it ends a payload that is a multiple of the fragment size with an empty
    /// frame.
    static func fragments(
        _ opcode: Opcode, _ payload: Octets, size fragmentSize: Int?, reserved: UInt8 = 0
    ) -> [Frame] {
        guard let fragmentSize, payload.count > fragmentSize else {
            return [Frame(opcode: opcode, payload: payload, reserved: reserved)]
        }
        var frames: [Frame] = []
        for start in stride(from: 0, through: payload.count, by: fragmentSize) {
            let end = min(start + fragmentSize, payload.count)
            frames.append(
                Frame(
                    opcode: start == 0 ? opcode : .continuation,
                    payload: Octets(Array(payload.bytes[start..<end])),
                    isFinal: start + fragmentSize > payload.count, reserved: start == 0 ? reserved : 0))
        }
        return frames
    }
}
