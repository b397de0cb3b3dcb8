/// Quoted strings of header fields (RFC 9110 §5.6.4).
package enum QuotedString {
    /// The content of the quoted string that begins at `index`, with its escapes resolved. Moves `index` past
    /// the string; a string without a closing quote extends to the end of the field.
    package static func read(from bytes: [UInt8], at index: inout Int) -> String {
        var content: [UInt8] = []
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
            content.append(bytes[index])
            index += 1
        }
        index = min(index + 1, bytes.count)
        return String(decoding: content, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Without spaces and tabs at either end.
    @inlinable
    package func trimmingBlanks() -> SubSequence {
        func isKept(_ scalar: Unicode.Scalar) -> Bool { scalar != " " && scalar != "\t" }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: isKept), let last = scalars.lastIndex(where: isKept)
        else { return self[startIndex..<startIndex] }
        return self[first..<scalars.index(after: last)]
    }

    /// The token in lower case. Bytes that are not ASCII, which no token has (RFC 9110 §5.6.2), become `?`: the
    /// time to compare or hash a text grows with the square of the number of combining marks in a row.
    @inlinable
    package func lowercasedToken() -> String {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return lowercased() }
        return String(decoding: utf8.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self).lowercased()
    }

    /// The parts between separators, which are ASCII, found by bytes as the peer finds them: a separator is one
    /// `Character` with a combining mark after it, or with a mark such as U+0600 before it.
    @inlinable
    package func parts(at separator: Unicode.Scalar, omittingEmpty: Bool = true) -> [SubSequence] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: omittingEmpty)
            .map { self[$0.startIndex..<$0.endIndex] }
    }

    /// The texts before and after the first separator, which is found as in ``parts(at:omittingEmpty:)``.
    @inlinable
    package func cut(at separator: Unicode.Scalar) -> (before: SubSequence, after: SubSequence?) {
        guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return (self[...], nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }
}

extension String {
    /// Whether all bytes of the UTF-8 text fulfil a condition. Takes a fraction of the time of a loop over
    /// `utf8`.
    @inlinable
    package func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
        unsafe utf8.withContiguousStorageIfAvailable { bytes in unsafe bytes.allSatisfy(condition) }
            ?? utf8.allSatisfy(condition)
    }
}

extension UInt8 {
    /// The value of the byte as a hexadecimal digit in ASCII; `nil` if it is no digit.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
