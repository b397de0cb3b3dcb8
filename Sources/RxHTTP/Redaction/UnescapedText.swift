/// A text without its escapes, with the offset of each byte in the escaped text, so that a part of it can be replaced
/// there.
struct UnescapedText {
    private(set) var bytes: [UInt8] = []
    /// Where the spelling of each byte begins in the escaped text.
    private var offsets: [Int] = []
    /// Where the text ends in the escaped text.
    private var end: Int
    private let escapes: Escapes

    private enum Escapes { case json, form, lines }

    /// The content of a JSON string (RFC 8259 §7). Invalid escapes stay.
    ///
    /// - Parameter text: the string without its quotes.
    init(json text: ArraySlice<UInt8>) {
        (escapes, end) = (.json, text.endIndex)
        bytes.reserveCapacity(text.count)
        offsets.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            let offset = rest.startIndex - 1
            guard byte == UInt8(ascii: "\\"), let scalar = Self.scalar(escaped: &rest) else {
                append([byte], at: offset)
                continue
            }
            append(Array(String(scalar).utf8), at: offset)
        }
    }

    /// A value of a form (WHATWG URL §5.1). Invalid escapes stay.
    init(form text: ArraySlice<UInt8>) {
        (escapes, end) = (.form, text.endIndex)
        bytes.reserveCapacity(text.count)
        offsets.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            let offset = rest.startIndex - 1
            if byte == UInt8(ascii: "+") {
                append([0x20], at: offset)
            } else if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigitValue,
                let low = rest.dropFirst().first?.hexDigitValue
            {
                append([high << 4 | low], at: offset)
                rest = rest.dropFirst(2)
            } else {
                append([byte], at: offset)
            }
        }
    }

    /// The data of an event of an event stream, to which lines are added.
    init() { (escapes, end) = (.lines, 0) }

    /// Adds a line of data.
    mutating func append(line: ArraySlice<UInt8>) {
        if !bytes.isEmpty { append([0x0A], at: end) }
        for (offset, byte) in zip(line.indices, line) { append([byte], at: offset) }
        end = line.endIndex
    }

    private mutating func append(_ decoded: [UInt8], at offset: Int) {
        bytes += decoded
        offsets += repeatElement(offset, count: decoded.count)
    }

    /// The replacements in the escaped text that replace `range` of this text: one, except in several lines.
    func replacements(of range: Range<Int>, by text: [UInt8]) -> [(Range<Int>, [UInt8])] {
        let spelled = spelling(of: text)
        guard escapes == .lines else {
            return [(offset(of: range.lowerBound)..<offset(of: range.upperBound), spelled)]
        }
        var replacements: [(Range<Int>, [UInt8])] = []
        var start = range.lowerBound
        while start <= range.upperBound {
            let end = bytes[start..<range.upperBound].firstIndex(of: 0x0A) ?? range.upperBound
            replacements.append((offset(of: start)..<offset(of: end), replacements.isEmpty ? spelled : []))
            start = end + 1
        }
        return replacements
    }

    /// Where the spelling of a byte begins in the escaped text.
    private func offset(of index: Int) -> Int { index < offsets.count ? offsets[index] : end }

    /// A replacement as the escaped text spells it. Of the special characters, it may contain quotes, and backslashes
    /// before those of a JSON text within this one.
    private func spelling(of text: [UInt8]) -> [UInt8] {
        let (quote, backslash): (String, String)
        switch escapes {
        case .json: (quote, backslash) = (#"\""#, #"\\"#)
        case .form: (quote, backslash) = ("%22", "%5C")
        case .lines: return text
        }
        return text.flatMap { byte in
            switch byte {
            case UInt8(ascii: "\""): Array(quote.utf8)
            case UInt8(ascii: "\\"): Array(backslash.utf8)
            default: [byte]
            }
        }
    }

    /// The scalar of an escape after its backslash; `nil`, and nothing taken, if it is none.
    private static func scalar(escaped rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let byte = rest.first else { return nil }
        let scalar: Unicode.Scalar
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = Unicode.Scalar(byte)
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return hexadecimal(&rest)
        default: return nil
        }
        rest = rest.dropFirst()
        return scalar
    }

    /// The scalar of one or, for a surrogate pair, two escapes of four digits.
    private static func hexadecimal(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = unit(rest) else { return nil }
        if let scalar = Unicode.Scalar(first) {
            rest = rest.dropFirst(5)
            return scalar
        }
        let second = rest.dropFirst(5)
        guard first < 0xDC00, second.first == UInt8(ascii: "\\"), let low = unit(second.dropFirst()),
            0xDC00...0xDFFF ~= low
        else { return nil }
        rest = second.dropFirst(6)
        return Unicode.Scalar(0x10000 + UInt32(first - 0xD800) << 10 + UInt32(low - 0xDC00))
    }

    private static func unit(_ escape: ArraySlice<UInt8>) -> UInt16? {
        let digits = escape.dropFirst().prefix(4)
        guard escape.first == UInt8(ascii: "u"), digits.count == 4 else { return nil }
        var unit: UInt16 = 0
        for digit in digits {
            guard let value = digit.hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(value)
        }
        return unit
    }
}
