#if Inspector
extension JSON {
    /// The text of the value (RFC 8259), as UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        // JSON has no other numbers.
        case .number(let value): bytes += (value.isFinite ? "\(value)" : "0").utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (name, value)) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .text(let text): bytes += text
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        guard text.utf8.contains(where: needsEscape) else { return bytes += text.utf8 }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The number of bytes of a value that is kept as text; 0 for others.
    var textCount: Int { if case .text(let text) = self { text.count } else { 0 } }

    /// The object with more members; members without a value are left out.
    func adding(_ more: (String, JSON?)...) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members + more.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The object with another value of a member.
    func setting(_ name: String, _ value: JSON) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.0 != name } + [(name, value)])
    }
}
#endif
