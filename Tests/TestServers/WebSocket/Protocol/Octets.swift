/// A payload, so that the tables can write it as text, as octets or in hexadecimal digits.
struct Octets: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The UTF-8 of the text.
    init(stringLiteral text: String) { bytes = Array(text.utf8) }

    init(arrayLiteral bytes: UInt8...) { self.bytes = bytes }

    /// The octets that pairs of hexadecimal digits stand for; spaces between pairs are ignored.
    init(hex digits: String) {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        bytes = stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// `pattern` again and again until there are `count` octets. An empty pattern gives none.
    init(repeating pattern: Octets, count: Int) {
        bytes = []
        guard !pattern.bytes.isEmpty else { return }
        bytes.reserveCapacity(count + pattern.bytes.count)
        while bytes.count < count { bytes += pattern.bytes }
        bytes.removeLast(bytes.count - count)
    }

    var count: Int { bytes.count }

    /// The first octets.
    func prefix(_ count: Int) -> Octets { Octets(Array(bytes.prefix(count))) }

    /// Everything but the first octets.
    func dropFirst(_ count: Int) -> Octets { Octets(Array(bytes.dropFirst(count))) }

    static func + (left: Octets, right: Octets) -> Octets { Octets(left.bytes + right.bytes) }
}

extension Octets: CustomStringConvertible {
    /// Short payloads as text if they are UTF-8, otherwise in hexadecimal digits; long ones by their length.
    var description: String {
        guard count <= 64 else { return "\(count) octets" }
        if let text = String(validating: bytes, as: UTF8.self) { return "“\(text)”" }
        return "0x"
            + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
