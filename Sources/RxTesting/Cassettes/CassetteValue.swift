/// A JSON value to be written.
enum CassetteValue {
    case string(String)
    /// Digits, or `true`, `false` and `null`.
    case literal(String)
    case array([CassetteValue])
    case object([(name: String, value: CassetteValue)])

    static func number(_ number: some BinaryInteger) -> CassetteValue { .literal("\(number)") }

    /// A time in milliseconds, to the nanosecond. A time before the request counts as that of the request.
    static func milliseconds(_ time: Duration) -> CassetteValue {
        let nanoseconds = Int64(clamping: max(0, time.attoseconds / 1_000_000_000))
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest != 0 else { return .literal("\(whole)") }
        let digits = String(rest)
        var fraction = String(repeating: "0", count: 6 - digits.count) + digits
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return .literal("\(whole).\(fraction)")
    }

    /// The text, with a line for each value. Short arrays and objects of scalars take one line.
    func write(to text: inout [UInt8], indentation: Int = 0) {
        switch self {
        case .string(let string): Self.write(string, to: &text)
        case .literal(let literal): text += literal.utf8
        case .array(let values):
            write(values.map { (nil, $0) }, between: "[", "]", to: &text, indentation)
        case .object(let members):
            write(members.map { ($0.name, $0.value) }, between: "{", "}", to: &text, indentation)
        }
    }

    private func write(
        _ parts: [(name: String?, value: CassetteValue)], between open: String, _ close: String,
        to text: inout [UInt8], _ indentation: Int
    ) {
        let isShort = parts.count <= 4 && parts.allSatisfy { $0.value.isScalar }
        text += open.utf8
        for (index, part) in parts.enumerated() {
            if index > 0 { text += isShort ? ", ".utf8 : ",".utf8 }
            if !isShort { Self.breakLine(indentation + 1, in: &text) }
            if let name = part.name {
                Self.write(name, to: &text)
                text += ": ".utf8
            }
            part.value.write(to: &text, indentation: indentation + 1)
        }
        if !isShort { Self.breakLine(indentation, in: &text) }
        text += close.utf8
    }

    private var isScalar: Bool {
        switch self {
        case .string, .literal: true
        case .array, .object: false
        }
    }

    private static func breakLine(_ indentation: Int, in text: inout [UInt8]) {
        text.append(UInt8(ascii: "\n"))
        for _ in 0..<indentation { text += "  ".utf8 }
    }

    private static func write(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): text += "\\\"".utf8
            case UInt8(ascii: "\\"): text += "\\\\".utf8
            case UInt8(ascii: "\n"): text += "\\n".utf8
            case UInt8(ascii: "\r"): text += "\\r".utf8
            case UInt8(ascii: "\t"): text += "\\t".utf8
            case 0..<0x20: text += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
