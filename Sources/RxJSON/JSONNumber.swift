/// The parts of a number (RFC 8259 §6): `-12.5e3` is negative, with the significand 125 and the exponent 2.
struct JSONNumber {
    private(set) var isNegative = false
    /// The digits before the exponent, cut off after the 19th.
    private(set) var significand: UInt64 = 0
    private(set) var exponent = 0
    private(set) var hasExponent = false
    /// Whether these parts represent the number exactly.
    private(set) var isExact = true

    /// Reads the number at `node`; `nil` if it does not have the standard's form.
    init?(_ document: JSONDocument, at node: Int) {
        let word = document[node]
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

extension JSONDocument {
    /// The integer at `node`, also if it is written as `1.0` or `1e3`; `nil` if there is none, it is out of
    /// range, or only `JSONDecoder` can tell.
    @inline(__always)
    func integer<T: FixedWidthInteger>(_: T.Type, at node: Int) -> T? {
        guard kind(at: node) == .integer, let (magnitude, isNegative) = digits(at: node) else {
            return roundInteger(at: node)
        }
        if !isNegative { return T(exactly: magnitude) }
        guard magnitude <= 1 << 63 else { return nil }
        return T(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
    }

    /// Below 2^53 every integer is a distinct Double, so a correctly rounded Double identifies the integer.
    private func roundInteger<T: FixedWidthInteger>(at node: Int) -> T? {
        guard let double = double(at: node), double.magnitude < 0x1p53 else { return nil }
        return T(exactly: double)
    }

    /// The value of plain digits, which the scanner has checked; `nil` on overflow.
    private func digits(at node: Int) -> (magnitude: UInt64, isNegative: Bool)? {
        let word = self[node]
        var digit = unsafe bytes + word.offset
        let end = unsafe digit + word.length
        let isNegative = unsafe digit.pointee == UInt8(ascii: "-")
        if isNegative { unsafe digit += 1 }
        var magnitude: UInt64 = 0
        while unsafe digit < end {
            let value = unsafe UInt64(digit.pointee &- UInt8(ascii: "0"))
            let (tenfold, isOver) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isSumOver) = tenfold.addingReportingOverflow(value)
            guard !isOver, !isSumOver else { return nil }
            magnitude = sum
            unsafe digit += 1
        }
        return (magnitude, isNegative)
    }

    /// The number at `node`; `nil` if there is none, it does not have the form of RFC 8259 §6, or it exceeds
    /// the range of Double.
    func double(at node: Int) -> Double? {
        guard let number = number(at: node) else { return nil }
        if number.isExact, number.significand <= 1 << 53, number.exponent.magnitude <= 22 {
            let magnitude = Double(number.significand).scaled(by: number.exponent)
            return number.isNegative ? -magnitude : magnitude
        }
        return parsed(at: node, number)
    }

    /// The number at `node` as a Float, rounded once.
    func float(at node: Int) -> Float? {
        guard let number = number(at: node) else { return nil }
        if number.isExact, number.exponent == 0, number.significand <= 1 << 24 {
            let magnitude = Float(number.significand)
            return number.isNegative ? -magnitude : magnitude
        }
        return parsed(at: node, number)
    }

    private func number(at node: Int) -> JSONNumber? {
        // `JSONDecoder` rejects some zeros with an exponent as too small, but not all of them.
        guard let number = JSONNumber(self, at: node), number.significand != 0 || !number.hasExponent else {
            return nil
        }
        return number
    }

    private func parsed<T: BinaryFloatingPoint & LosslessStringConvertible>(
        at node: Int, _ number: JSONNumber
    ) -> T? {
        guard let value = T(literal(at: node)), value.isFinite else { return nil }
        // `JSONDecoder` rejects a number that becomes zero only by rounding.
        return value == 0 && number.significand != 0 ? nil : value
    }
}

extension Double {
    /// Exact powers of ten, so that one multiplication or division by them rounds once.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The value times ten to the power of `exponent`, which is between -22 and 22.
    fileprivate func scaled(by exponent: Int) -> Double {
        exponent < 0 ? self / Self.powers[-exponent] : self * Self.powers[exponent]
    }
}
