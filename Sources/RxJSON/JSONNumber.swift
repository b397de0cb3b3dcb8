/// The parts of a number (RFC 8259 §6): `-12.5e3` is negative, with the significand 125 and the exponent 2.
struct JSONNumber {
    private(set) var isNegative = false
    /// The digits before the exponent, of which those after the 19th are cut off.
    private(set) var significand: UInt64 = 0
    private(set) var exponent = 0
    private(set) var hasExponent = false
    /// Whether these parts represent the number exactly.
    private(set) var isExact = true

    /// Reads the number at `place`; `nil` if it does not have the standard's form.
    init?(_ document: JSONDocument, at place: Int) {
        let word = document[place]
        guard word.kind.isNumber else { return nil }
        let bytes = unsafe UnsafeBufferPointer(start: document.bytes + word.offset, count: word.length)
        var index = 0

        func next() -> UInt8? { index < bytes.count ? unsafe bytes[index] : nil }

        if next() == UInt8(ascii: "-") {
            isNegative = true
            index += 1
        }
        let start = index
        while let digit = next()?.digit {
            append(digit)
            index += 1
        }
        guard index > start else { return nil }
        if index > start + 1, unsafe bytes[start] == UInt8(ascii: "0") { return nil }
        if next() == UInt8(ascii: ".") {
            index += 1
            let fraction = index
            while let digit = next()?.digit {
                append(digit)
                index += 1
            }
            guard index > fraction else { return nil }
            exponent -= index - fraction
        }
        if let letter = next(), letter | 0x20 == UInt8(ascii: "e") {
            hasExponent = true
            index += 1
            let isSmaller = next() == UInt8(ascii: "-")
            if isSmaller || next() == UInt8(ascii: "+") { index += 1 }
            let start = index
            var power = 0
            while let digit = next()?.digit {
                power = min(power * 10 + Int(digit), 1 << 30)
                index += 1
            }
            guard index > start else { return nil }
            exponent += isSmaller ? -power : power
        }
        guard index == bytes.count else { return nil }
    }

    private mutating func append(_ digit: UInt8) {
        guard significand < 1_000_000_000_000_000_000 else { return isExact = false }
        significand = significand * 10 + UInt64(digit)
    }
}

extension UInt8 {
    fileprivate var digit: UInt8? {
        let digit = self &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }
}
