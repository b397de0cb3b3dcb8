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
            for place in 0..<4 {
                let isPadding = place > group.count
                let index = Int(bits >> UInt32(18 - 6 * place)) & 63
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
