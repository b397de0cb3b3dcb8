import RxHTTP

/// Percent-encoding of paths and queries, as requests use it.
///
/// Every byte is escaped as `%XX`, in upper case, except the unreserved characters of RFC 3986 §2.3: letters, digits,
/// `-`, `.`, `_` and `~`. A `+` becomes `%2B`, which object stores and their signatures require.
public enum PercentEncoding {
    /// The text, with all other bytes escaped, slashes included: one segment of a path, or a name or value of a query.
    public static func segment(_ text: String) -> String { text.percentEncoded }

    /// The path, with each segment escaped and the slashes between them kept. Empty segments and dot segments stay as
    /// they are.
    ///
    /// A request's path template does the same for a placeholder such as `{key...}`, and refuses dot segments.
    public static func path(_ path: String) -> String {
        path.encoded(keeping: { $0.isUnreserved || $0 == UInt8(ascii: "/") }, spaceAs: nil)
    }
}

extension String {
    /// Escapes every byte except RFC 3986's unreserved ones as `%XX`.
    package var percentEncoded: String { encoded(keeping: { $0.isUnreserved }, spaceAs: nil) }

    /// Escapes the text for `application/x-www-form-urlencoded` (WHATWG URL §5.2): a space becomes `+`.
    package var formEncoded: String { encoded(keeping: { $0.isPlainInForms }, spaceAs: UInt8(ascii: "+")) }

    /// Replaces every `%XX` by its byte. Invalid escapes stay; bytes that are not UTF-8 become U+FFFD.
    package var percentDecoded: String {
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

    /// The bytes with every `%XX` decoded repeatedly, until no escape is left. Takes linear time.
    package var fullyUnescaped: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(utf8.count)
        for byte in utf8 {
            output.append(byte)
            // A decoded byte may complete another escape.
            while output.count >= 3, output[output.count - 3] == UInt8(ascii: "%"),
                let high = output[output.count - 2].hexDigitValue,
                let low = output[output.count - 1].hexDigitValue
            {
                output.removeLast(3)
                output.append(high << 4 | low)
            }
        }
        return output
    }

    fileprivate func encoded(keeping isKept: (UInt8) -> Bool, spaceAs space: UInt8?) -> String {
        guard !allBytes(isKept) else { return self }
        var output: [UInt8] = []
        output.reserveCapacity(utf8.count * 3)
        for byte in utf8 {
            if isKept(byte) {
                output.append(byte)
            } else if let space, byte == UInt8(ascii: " ") {
                output.append(space)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 15))
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte is unreserved (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isAlphanumeric
        }
    }

    fileprivate var isPlainInForms: Bool {
        switch self {
        case UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: isAlphanumeric
        }
    }
}
