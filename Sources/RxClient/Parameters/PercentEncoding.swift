extension String {
    /// Every byte but RFC 3986's unreserved ones as `%XX`.
    var percentEncoded: String { encoded(keeping: "-._~", spaceAs: nil) }

    /// As `application/x-www-form-urlencoded` has it (WHATWG URL §5.2): space as `+`.
    var formEncoded: String { encoded(keeping: "*-._", spaceAs: "+") }

    /// With every `%XX` as its byte; what is no such escape stays, bytes that are no UTF-8 become U+FFFD.
    var percentDecoded: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        var output: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigitValue,
                let low = rest.dropFirst().first?.hexDigitValue
            {
                output.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func encoded(keeping punctuation: StaticString, spaceAs space: Unicode.Scalar?) -> String {
        let kept = Array(punctuation.description.utf8)
        guard utf8.contains(where: { !$0.isAlphanumeric && !kept.contains($0) }) else { return self }
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        output.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case _ where byte.isAlphanumeric || kept.contains(byte): output.append(byte)
            case UInt8(ascii: " ") where space != nil: output.append(UInt8(ascii: "+"))
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension UInt8 {
    /// ASCII only.
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    fileprivate var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
