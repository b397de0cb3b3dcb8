import HTTPTypes

extension Part {
    /// The header fields of the part and the empty line after them.
    ///
    /// - Throws: `invalidParameters` for text that a header field cannot carry.
    func head() throws(NetworkError) -> String {
        var head = "Content-Disposition: form-data; name=\"\(try Self.quotable(name, "name", of: self))\""
        if let fileName { head += "; filename=\"\(try Self.quotable(fileName, "file name", of: self))\"" }
        if let contentType {
            guard HTTPField.isValidValue(contentType), !contentType.isEmpty,
                contentType.utf8.allSatisfy({ $0 < 0x80 })
            else { throw flaw("\(contentType.debugDescription) is not a valid content type") }
            head += "\r\nContent-Type: \(contentType)"
        }
        for field in headers.fields {
            guard let name = HTTPField.Name(field.name), field.value?.isFieldValue != false else {
                throw flaw("\(field.name.debugDescription) is not a valid header field")
            }
            guard name.canonicalName != "content-disposition", name != .contentType else {
                throw flaw("\(name) is set by the part's other properties and cannot be added")
            }
            if let value = field.value { head += "\r\n\(name.rawName): \(value)" }
        }
        return head + "\r\n\r\n"
    }

    private static func quotable(
        _ text: String, _ kind: String, of part: Part
    ) throws(NetworkError) -> String {
        guard text.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else {
            throw part.flaw("its \(kind) contains CR, LF or NUL")
        }
        return text.utf8.contains(0x22)
            ? text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "%22") : text
    }

    private func flaw(_ message: String) -> NetworkError {
        NetworkError(.invalidParameters, "form part \(name.debugDescription): \(message)")
    }

    /// Whether the part is in memory and contains the text.
    func holds(_ text: String) -> Bool {
        guard case .bytes(let bytes) = body else { return false }
        return bytes.firstOffset(of: Array(text.utf8)) != nil
    }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// Whether it is a `tchar` of RFC 9110 §5.6.2.
    var isTokenByte: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension [UInt8] {
    /// The offset of the first occurrence of `pattern` from `start` on, by Horspool's algorithm, which
    /// inspects about every n-th byte where a pattern of n bytes rarely occurs.
    package func firstOffset(of pattern: [UInt8], from start: Int = 0) -> Int? {
        guard let last = pattern.last else { return start }
        var steps = [Int](repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { steps[Int(byte)] = pattern.count - 1 - index }
        var end = start + pattern.count
        while end <= count {
            let byte = self[end - 1]
            if byte == last, self[(end - pattern.count)..<end].elementsEqual(pattern) {
                return end - pattern.count
            }
            end += steps[Int(byte)]
        }
        return nil
    }
}
