/// The parts of multipart content in memory (RFC 2046 §5.1), complete or truncated anywhere.
package struct MultipartText {
    package struct Part {
        /// The name of the form field, if any.
        package var name: String?
        /// The `Content-Type`, if any.
        package var type: String?
        /// The header fields with the line ends between them.
        package let head: Range<Int>
        package let content: Range<Int>
    }

    /// In order. Of bytes in no part, only tokens are redacted.
    package private(set) var parts: [Part] = []

    /// Finds the parts; `nil` if `type` is not multipart or names no boundary.
    package init?(_ bytes: [UInt8], type: String?) {
        guard let type, MediaType(type).isMultipart, let boundary = Self.boundary(in: type) else {
            return nil
        }
        let delimiter = Array("--\(boundary)".utf8)
        var delimiterLine = Self.delimiter(delimiter, in: bytes, from: 0)
        while let found = delimiterLine {
            let next = Self.delimiter(delimiter, in: bytes, from: found.upperBound)
            if let part = Self.part(in: bytes, from: found.upperBound, to: next?.lowerBound ?? bytes.count) {
                parts.append(part)
            }
            delimiterLine = next
        }
    }

    /// The next line that begins with the boundary, from the line end before it to its own line end.
    private static func delimiter(
        _ delimiter: [UInt8], in bytes: [UInt8], from start: Int
    ) -> Range<Int>? {
        var position = start
        while let found = bytes.firstOffset(of: delimiter, from: position) {
            let isAtLine = found == 0 || found >= 2 && bytes[found - 2] == 0x0D && bytes[found - 1] == 0x0A
            let rest = bytes[(found + delimiter.count)...]
            let isWhole =
                rest.isEmpty || rest.first == 0x0D || rest.first == 0x20 || rest.first == 0x09
                || rest.starts(with: "--".utf8)
            guard isAtLine, isWhole else {
                position = found + 1
                continue
            }
            let end = bytes.firstOffset(of: [0x0D, 0x0A], from: found + delimiter.count)
            // If two boundary lines follow each other, the end of the first is also the line end before the
            // second.
            return max(start, found - 2)..<(end.map { $0 + 2 } ?? bytes.count)
        }
        return nil
    }

    private static func part(in bytes: [UInt8], from start: Int, to end: Int) -> Part? {
        guard start < end else { return nil }
        let hasHead = !bytes[start..<end].starts(with: [0x0D, 0x0A])
        let blank = hasHead ? bytes.firstOffset(of: [0x0D, 0x0A, 0x0D, 0x0A], from: start, to: end) : nil
        let headEnd = hasHead ? blank ?? end : start
        let contentStart = hasHead ? blank.map { $0 + 4 } ?? end : start + 2
        var part = Part(head: start..<headEnd, content: contentStart..<max(contentStart, end))
        for line in bytes[part.head].split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let (name, value) = String(decoding: line, as: UTF8.self).cut(at: ":")
            guard let value else { continue }
            switch name.lowercasedToken() {
            case "content-disposition": part.name = parameter("name", in: value)
            case "content-type": part.type = String(value)
            default: break
            }
        }
        return part
    }

    package static func boundary(in type: String) -> String? {
        parameter("boundary", in: type[...]).flatMap { (1...70).contains($0.utf8.count) ? $0 : nil }
    }

    /// The value of a parameter after the first semicolon, without quotes. All marks are found by bytes.
    private static func parameter(_ name: String, in field: Substring) -> String? {
        let (semicolon, quote) = (UInt8(ascii: ";"), UInt8(ascii: "\""))
        var rest = field.utf8.drop { $0 != semicolon }
        while !rest.isEmpty {
            rest = rest.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
            let found = rest.prefix { $0 != UInt8(ascii: "=") && $0 != semicolon }
            rest = rest[found.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            let value: Substring.UTF8View
            if rest.first == quote {
                value = rest.dropFirst().prefix { $0 != quote }
            } else {
                value = rest.prefix { $0 != semicolon && $0 != 0x20 }
            }
            rest = rest[value.endIndex...].drop { $0 != semicolon }
            if Substring(found).lowercasedToken() == name { return unescaped(Substring(value)) }
        }
        return nil
    }

    /// The text with the quotes that form data escapes (WHATWG HTML §4.10.22.8).
    private static func unescaped(_ value: Substring) -> String {
        let parts = value.parts(at: "%", omittingEmpty: false)
        let rest = parts.dropFirst().map { part in
            part.utf8.starts(with: "22".utf8) ? "\"\(Substring(part.utf8.dropFirst(2)))" : "%\(part)"
        }
        return String(parts[0]) + rest.joined()
    }
}
