/// SHA-1 (FIPS 180-4 §6.1) of the short text of a handshake; it does not withstand an attacker and needs not to here.
/// RxHTTP has one for large content that arrives in pieces; this module imports no other Swift module of the package.
enum HandshakeHash {
    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var message = bytes
        message.append(0x80)
        message.append(contentsOf: repeatElement(0, count: (120 - message.count % 64) % 64))
        message.append(contentsOf: (UInt64(bytes.count) &* 8).bigEndianBytes)
        for start in stride(from: 0, to: message.count, by: 64) {
            mix(message[start..<(start + 64)], into: &state)
        }
        return state.flatMap(\.bigEndianBytes)
    }

    /// One block of 64 bytes.
    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = [UInt32](repeating: 0, count: 80)
        for (index, byte) in block.enumerated() {
            words[index / 4] |= UInt32(byte) << UInt32(24 - 8 * (index % 4))
        }
        for index in 16..<80 {
            let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words[index] = mixed.rotated(1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (choice, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: (b & c | ~b & d, 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let sum = a.rotated(5) &+ choice &+ e &+ constant &+ word
            (e, d, c, b, a) = (d, c, b.rotated(30), a, sum)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}

extension FixedWidthInteger {
    /// The bytes, the most significant first, as in HashBlocks.swift of RxHTTP.
    var bigEndianBytes: [UInt8] {
        (0..<(Self.bitWidth / 8)).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
    }
}

/// Base64 with padding (RFC 4648 §4), as much of it as the handshake needs.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= 8 * UInt32(3 - group.count)
            for digit in 0..<4 {
                let isPadding = digit > group.count
                let index = Int(bits >> UInt32(18 - 6 * digit)) & 63
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number of bytes that a text stands for; `nil` if it is not base64.
    static func byteCount(of text: String) -> Int? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard text.utf8.count % 4 == 0, padding.count <= 2, digits.allSatisfy(alphabet.contains),
            padding.allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        return text.utf8.count / 4 * 3 - padding.count
    }
}
