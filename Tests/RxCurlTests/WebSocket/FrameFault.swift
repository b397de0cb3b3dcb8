import Testing

/// Bytes that a server must not send on a WebSocket with limits of 1,000 bytes a frame, 1,500 a message
/// and twenty times what was received.
struct FrameFault: Sendable, CustomTestStringConvertible {
    let name: String
    /// The close code that the RFC names.
    let code: Int
    let bytes: [UInt8]
    /// Whether compression has been agreed.
    var isCompressed = false

    var testDescription: String { name }

    static let all: [FrameFault] = [
        FrameFault(name: "a masked frame", code: 1002, bytes: [0x81, 0x81, 1, 2, 3, 4, 0x60]),
        FrameFault(name: "RSV1 without compression", code: 1002, bytes: [0xC1, 0x01, 0x61]),
        FrameFault(name: "RSV2", code: 1002, bytes: [0xA1, 0x01, 0x61]),
        FrameFault(name: "RSV3", code: 1002, bytes: [0x91, 0x01, 0x61]),
        FrameFault(name: "RSV1 on a ping", code: 1002, bytes: [0xC9, 0x00], isCompressed: true),
        FrameFault(
            name: "RSV1 on a continuation", code: 1002, bytes: [0x01, 0x01, 0x61, 0xC0, 0x01, 0x61],
            isCompressed: true),
        FrameFault(name: "opcode 3", code: 1002, bytes: [0x83, 0x00]),
        FrameFault(name: "opcode 11", code: 1002, bytes: [0x8B, 0x00]),
        FrameFault(name: "a ping of 126 bytes", code: 1002, bytes: [0x89, 0x7E, 0, 126] + zeros(126)),
        FrameFault(name: "a close of 126 bytes", code: 1002, bytes: [0x88, 0x7E, 0, 126] + zeros(126)),
        FrameFault(name: "a ping in fragments", code: 1002, bytes: [0x09, 0x01, 0x61, 0x80, 0x01, 0x61]),
        FrameFault(name: "a close in fragments", code: 1002, bytes: [0x08, 0x02, 0x03, 0xE8]),
        FrameFault(name: "a continuation of nothing", code: 1002, bytes: [0x80, 0x01, 0x61]),
        FrameFault(
            name: "a message within a message", code: 1002, bytes: [0x01, 0x01, 0x61, 0x81, 0x01, 0x61]),
        FrameFault(name: "a length that is not the shortest", code: 1002, bytes: [0x81, 0x7E, 0, 1, 0x61]),
        FrameFault(
            name: "a length of 2⁶³", code: 1002, bytes: [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        FrameFault(name: "a close code of one byte", code: 1002, bytes: [0x88, 0x01, 0x03]),
        FrameFault(name: "close code 1005", code: 1002, bytes: [0x88, 0x02, 0x03, 0xED]),
        FrameFault(name: "close code 999", code: 1002, bytes: [0x88, 0x02, 0x03, 0xE7]),
        FrameFault(name: "a reason that is no text", code: 1007, bytes: [0x88, 0x03, 0x03, 0xE8, 0xFF]),
        FrameFault(name: "a text that is none", code: 1007, bytes: [0x81, 0x02, 0xC3, 0x28]),
        FrameFault(name: "a text that ends early", code: 1007, bytes: [0x81, 0x01, 0xC3]),
        FrameFault(
            name: "a text that is none, over frames", code: 1007,
            bytes: [0x01, 0x01, 0xED, 0x80, 0x01, 0xA0]),
        FrameFault(name: "a surrogate", code: 1007, bytes: [0x81, 0x03, 0xED, 0xA0, 0x80]),
        FrameFault(name: "a frame of 1,001 bytes", code: 1009, bytes: [0x82, 0x7E, 0x03, 0xE9]),
        FrameFault(
            name: "a frame of 2⁶²", code: 1009, bytes: [0x82, 0x7F, 0x40, 0, 0, 0, 0, 0, 0, 0]),
        FrameFault(
            name: "a message of 2,000 bytes", code: 1009,
            bytes: [0x02, 0x7E, 0x03, 0xE8] + zeros(1000) + [0x80, 0x7E, 0x03, 0xE8]),
        FrameFault(
            name: "no DEFLATE", code: 1007, bytes: [0xC1, 0x04, 0xFF, 0xFF, 0xFF, 0xFF], isCompressed: true),
        FrameFault(name: "a bomb", code: 1009, bytes: [0xC2, UInt8(bomb.count)] + bomb, isCompressed: true),
        FrameFault(
            name: "an expansion above the ratio", code: 1009,
            bytes: [0xC2, UInt8(expansion.count)] + expansion, isCompressed: true),
    ]

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    private static let bomb = Gzip.deflatedZeros(count: 10_000)
    private static let expansion = Gzip.deflatedZeros(count: 1400)
}
