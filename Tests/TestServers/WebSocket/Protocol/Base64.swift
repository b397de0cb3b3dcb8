/// Base64 (RFC 4648 §4), which the opening handshake needs.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = (Array(part) + [0, 0]).prefix(3).reduce(0) { $0 << 8 | Int($1) }
            let digits = (0..<4).map { alphabet[bits >> (18 - $0 * 6) & 63] }
            output += digits.prefix(part.count + 1)
            output += [UInt8](repeating: UInt8(ascii: "="), count: 3 - part.count)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Whether the text is the encoding of `count` octets.
    static func isEncoding(_ text: String, ofOctets count: Int) -> Bool {
        let padding = (3 - count % 3) % 3
        let digits = text.utf8.dropLast(padding)
        return text.utf8.count == (count + 2) / 3 * 4 && digits.allSatisfy(alphabet.contains)
            && text.hasSuffix(String(repeating: "=", count: padding))
    }
}
