extension UInt8 {
    /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}

extension StringProtocol {
    var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }

    /// Without spaces and tabs at either end.
    var trimmed: SubSequence {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
