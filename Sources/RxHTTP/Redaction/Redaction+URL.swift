extension Redaction {
    /// A URL, or a text that contains URLs, with the user info and the values of secret parameters replaced.
    public func shown(url text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            output.append(byte)
            index += 1
            switch byte {
            case UInt8(ascii: "/") where index >= 2 && bytes[index - 2] == UInt8(ascii: "/"):
                guard let at = Self.userInfo(in: bytes[index...]) else {
                    index = appendSecretSegment(of: bytes, at: index, to: &output)
                    break
                }
                output += Array(Self.mark.utf8)
                index = at
            case UInt8(ascii: "/"): index = appendSecretSegment(of: bytes, at: index, to: &output)
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
                index = appendPair(of: bytes, at: index, to: &output)
            default: break
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The pairs of a query or an `application/x-www-form-urlencoded` body, with secret values replaced.
    public func shown(form text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "="), hides(pair[..<equals].decodedAsForm) else {
                return String(pair)
            }
            return pair[...equals] + Self.mark
        }.joined(separator: "&")
    }

    /// The index of the `@` after the user info, in a text that begins with an authority (RFC 3986 §3.2).
    private static func userInfo(in bytes: ArraySlice<UInt8>) -> Int? {
        let authority = bytes.prefix { ($0 == UInt8(ascii: "&") || !isEnd($0)) && $0 != UInt8(ascii: "/") }
        return authority.lastIndex(of: UInt8(ascii: "@"))
    }

    /// Appends the mark if the path segment at `start` is a secret itself; returns the index after the
    /// consumed bytes.
    private func appendSecretSegment(of bytes: [UInt8], at start: Int, to output: inout [UInt8]) -> Int {
        guard !texts.isEmpty else { return start }
        let segment = bytes[start...].prefix { !Self.isEnd($0) && $0 != UInt8(ascii: "/") }
        guard texts.contains(String(decoding: segment, as: UTF8.self)) else { return start }
        output += Array(Self.mark.utf8)
        return segment.endIndex
    }

    /// Appends `name=` and the mark if the parameter is secret; returns the index after the consumed bytes.
    private func appendPair(of bytes: [UInt8], at start: Int, to output: inout [UInt8]) -> Int {
        let name = bytes[start...].prefix { !Self.isEnd($0) && $0 != UInt8(ascii: "=") }
        if !texts.isEmpty, texts.contains(String(decoding: name, as: UTF8.self).decodedAsForm) {
            output += Array(Self.mark.utf8)
            return name.endIndex
        }
        guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: "="),
            hides(String(decoding: name, as: UTF8.self).decodedAsForm)
        else { return start }
        output += bytes[start...name.endIndex] + Array(Self.mark.utf8)
        return bytes[name.endIndex...].firstIndex(where: Self.isEnd) ?? bytes.count
    }

    /// Whether a URL, or a part of its query, ends at this byte.
    private static func isEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ">"), UInt8(ascii: "\""):
            true
        default: byte <= 0x20
        }
    }
}

extension StringProtocol {
    /// The text with form escapes decoded (WHATWG URL §5.1); invalid escapes stay.
    package var decodedAsForm: String {
        var output: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                output.append(0x20)
            } else if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigitValue,
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
}
