extension String {
    /// Every byte but RFC 3986's unreserved ones as `%XX`.
    var percentEncoded: String { encoded(keeping: "-._~", spaceAs: nil) }

    /// As `application/x-www-form-urlencoded` has it (WHATWG URL §5.2): space as `+`.
    var formEncoded: String { encoded(keeping: "*-._", spaceAs: "+") }

    private func encoded(keeping punctuation: StaticString, spaceAs space: Unicode.Scalar?) -> String {
        let kept = Set(Array(punctuation.description.utf8))
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        output.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                output.append(byte)
            case UInt8(ascii: " ") where space != nil: output.append(UInt8(ascii: "+"))
            case _ where kept.contains(byte): output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
