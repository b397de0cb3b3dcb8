import HTTPTypes

/// Chooses the texts that replace secrets.
package protocol SecretReplacement {
    /// Whether the strings and numbers of a secret value are replaced one by one, so that a document still decodes;
    /// otherwise the value is replaced as a whole.
    var keepsShape: Bool { get }

    /// The text in place of a secret, without quotes and backslashes. With ``keepsShape`` it ends in digits, which
    /// alone replace a number.
    mutating func placeholder(for secret: String) -> String
}

/// Finds the secrets of a text: by the names of members, pairs and parts, and tokens by their shape.
///
/// The texts are untrusted. Each function takes a time in proportion to the length of the text, and none recurses over
/// more levels than ``depth``.
package struct SecretFinder {
    let bytes: [UInt8]
    let redaction: Redaction
    /// The number of levels of texts within texts that are looked into. A value that contains more is hidden.
    let depth: Int

    /// - Parameter depth: the number of levels of texts within texts, such as JSON in a JSON string in a form.
    package init(_ bytes: [UInt8], _ redaction: Redaction, depth: Int = 4) {
        self.bytes = bytes
        self.redaction = redaction
        self.depth = depth
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The secrets of content.
    ///
    /// - Parameter type: the `Content-Type`. Texts are searched whatever it is, and content without a type is taken
    ///   for text.
    package func content(type: String?, _ placeholders: inout some SecretReplacement) -> TextEdits {
        let media = MediaType(type)
        if media.isForm { return form(&placeholders) }
        if let form = MultipartText(bytes, type: type) { return multipart(form, &placeholders) }
        if media.name == "text/event-stream" { return eventStream(&placeholders) }
        guard media.isText || media.name.isEmpty || isUnicode else { return TextEdits() }
        return text(&placeholders)
    }

    /// The secrets of a text: of JSON, complete, truncated or in lines, of URLs, and tokens.
    ///
    /// - Parameter isInText: whether a URL ends before what does not belong to it in documents.
    package func text(_ placeholders: inout some SecretReplacement, isInText: Bool = true) -> TextEdits {
        json(&placeholders).merging(url(&placeholders, isInText: isInText)).merging(tokens(&placeholders))
    }

    /// Whether the content is UTF-8, perhaps cut off within a character.
    private var isUnicode: Bool {
        let start = bytes.suffix(3).lastIndex { $0 >= 0xC0 } ?? bytes.endIndex
        return String(validating: bytes, as: UTF8.self) != nil
            || String(validating: bytes[..<start], as: UTF8.self) != nil
    }

    // MARK: - Tokens

    /// The JSON Web Tokens (RFC 7519 §3), signed or encrypted: base64url texts separated by points; the first is a JSON
    /// object. The end of the text may cut off a token after the first point.
    package func tokens(_ placeholders: inout some SecretReplacement) -> TextEdits {
        var edits = TextEdits()
        var (position, headEnd) = (0, 0)
        var tokenEnd: (position: Int, isWhole: Bool)?
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "e")) {
            position = start + 1
            // Base64url of `{"`.
            guard bytes[start...].starts(with: "eyJ".utf8) else { continue }
            if start >= headEnd {
                headEnd = endOfBase64URL(from: start)
                tokenEnd = endOfToken(headEnd)
            }
            let isWord = start == 0 || !Self.isBase64URL(bytes[start - 1])
            guard let end = tokenEnd, isWord && end.isWhole || isObject(start..<headEnd) else { continue }
            edits.replace(start..<end.position, by: placeholders.placeholder(for: text(start..<end.position)))
            position = end.position
            headEnd = position
        }
        return edits
    }

    private func endOfBase64URL(from start: Int) -> Int {
        bytes[start...].firstIndex { !Self.isBase64URL($0) } ?? bytes.count
    }

    /// The end of the parts after the first: two, or the four of an encrypted token, whose key may be empty
    /// (RFC 7516 §4.5). A signature may be empty (RFC 7519 §6).
    private func endOfToken(_ headEnd: Int) -> (position: Int, isWhole: Bool)? {
        var ends = [headEnd]
        while ends.count < 5, let end = ends.last, end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            ends.append(endOfBase64URL(from: end + 1))
        }
        func isEmpty(_ part: Int) -> Bool { ends[part] == ends[part - 1] + 1 }
        switch ends.count {
        case 5 where !isEmpty(2) && !isEmpty(3) && !isEmpty(4): return (ends[4], true)
        case 3... where !isEmpty(1): return (ends[2], true)
        case 2 where ends[1] == bytes.count && !isEmpty(1): return (ends[1], false)
        default: return nil
        }
    }

    /// Whether base64url that begins with an object's brace also ends with one.
    private func isObject(_ range: Range<Int>) -> Bool {
        let last = range.count % 4 == 0 ? 4 : range.count % 4
        guard range.count > 4, last > 1 else { return false }
        let bits = bytes[range].suffix(last).reduce(UInt32(0)) { $0 << 6 | Self.value($1) }
        let unused = [2: 4, 3: 2, 4: 0][last] ?? 0
        return UInt8(truncatingIfNeeded: bits >> UInt32(unused)) == UInt8(ascii: "}")
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        byte.isDigit || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func value(_ byte: UInt8) -> UInt32 {
        switch byte {
        case 0x41...0x5A: UInt32(byte - 0x41)
        case 0x61...0x7A: UInt32(byte - 0x61 + 26)
        case 0x30...0x39: UInt32(byte - 0x30 + 52)
        case UInt8(ascii: "-"): 62
        default: 63
        }
    }

    // MARK: - Parts

    private func multipart(_ form: MultipartText, _ placeholders: inout some SecretReplacement) -> TextEdits {
        var edits = TextEdits()
        for part in form.parts {
            head(part.head, &edits, &placeholders)
            let content = bytes[part.content]
            if depth == 0 || part.name.map({ redaction.hides(content, of: $0) }) == true {
                edits.replace(part.content, by: placeholders.placeholder(for: text(part.content)))
            } else {
                let finder = SecretFinder(Array(content), redaction, depth: depth - 1)
                edits.add(finder.content(type: part.type, &placeholders), at: part.content.lowerBound)
            }
        }
        return edits.merging(tokens(&placeholders))
    }

    /// Replaces the secrets of the header fields of a part.
    private func head(
        _ range: Range<Int>, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) {
        for line in bytes[range].split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let start = line[(colon + 1)...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? line.endIndex
            let value = start..<line.endIndex
            if let name = HTTPField.Name(text(line.startIndex..<colon)), redaction.hides(name) {
                edits.replace(value, by: placeholders.placeholder(for: text(value)))
            } else {
                let finder = SecretFinder(Array(bytes[value]), redaction, depth: depth)
                edits.add(finder.text(&placeholders, isInText: false), at: start)
            }
        }
    }

    // MARK: - Event streams

    /// The secrets in the data of events, which is JSON in most cases, and in the other lines. The lines of one event's
    /// data are one text.
    private func eventStream(_ placeholders: inout some SecretReplacement) -> TextEdits {
        var edits = TextEdits()
        var data = UnescapedText()
        var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while position < bytes.count {
            let end = bytes[position...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            if bytes[position..<end].starts(with: "data:".utf8) {
                data.append(line: bytes[position + 5..<end])
            }
            position = bytes[end...].starts(with: [0x0D, 0x0A]) ? end + 2 : end + 1
            let endsEvent = position < bytes.count && (bytes[position] == 0x0A || bytes[position] == 0x0D)
            guard endsEvent || position >= bytes.count else { continue }
            let event = SecretFinder(data.bytes, redaction, depth: depth)
            edits.add(event.text(&placeholders), in: data)
            data = UnescapedText()
        }
        return edits.merging(url(&placeholders, isInText: true)).merging(tokens(&placeholders))
    }
}

/// Replacements within a text, in the order of their positions.
package struct TextEdits {
    package init() {}

    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// Adds a replacement behind all others.
    package mutating func replace(_ range: Range<Int>, by text: String) {
        edits.append((range, Array(text.utf8)))
    }

    /// Adds the replacements of a part of the text.
    ///
    /// - Parameter offset: where the part begins.
    package mutating func add(_ others: TextEdits, at offset: Int) {
        for edit in others.edits {
            edits.append((edit.range.lowerBound + offset..<edit.range.upperBound + offset, edit.text))
        }
    }

    /// Adds the replacements of a part of the text from which escapes were removed.
    mutating func add(_ others: TextEdits, in part: UnescapedText) {
        for edit in others.edits { edits += part.replacements(of: edit.range, by: edit.text) }
    }

    /// Both replacements. Where some overlap, the one that begins first, or else the longest, replaces all they cover.
    package func merging(_ others: TextEdits) -> TextEdits {
        guard !others.edits.isEmpty, !edits.isEmpty else { return edits.isEmpty ? others : self }
        var merged = TextEdits()
        var (own, other) = (edits[...], others.edits[...])
        while let first = own.first ?? other.first {
            let isOwn = other.first.map { own.first != nil && Self.isBefore(first.range, $0.range) } ?? true
            let edit = (isOwn ? own.popFirst() : other.popFirst()) ?? first
            guard let last = merged.edits.last, edit.range.lowerBound < last.range.upperBound else {
                merged.edits.append(edit)
                continue
            }
            let end = max(last.range.upperBound, edit.range.upperBound)
            merged.edits[merged.edits.count - 1].range = last.range.lowerBound..<end
        }
        return merged
    }

    private static func isBefore(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.lowerBound == other.lowerBound
            ? one.upperBound >= other.upperBound : one.lowerBound < other.lowerBound
    }

    package func applied(to bytes: [UInt8]) -> [UInt8] {
        guard !edits.isEmpty else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        for edit in edits {
            output += bytes[position..<edit.range.lowerBound]
            output += edit.text
            position = edit.range.upperBound
        }
        return output + bytes[position...]
    }

    /// The chunks of the text after the replacements. A replacement that spans several chunks belongs to the first of
    /// them.
    package func applied(to chunks: [[UInt8]]) -> [[UInt8]] {
        guard !edits.isEmpty else { return chunks }
        let bytes = applied(to: Array(chunks.joined()))
        var result: [[UInt8]] = []
        var (start, position, shift, next) = (0, 0, 0, 0)
        for chunk in chunks {
            position += chunk.count
            while next < edits.count, edits[next].range.lowerBound < position {
                shift += edits[next].text.count - edits[next].range.count
                next += 1
            }
            // Where the last replacement ends, if the chunk ends within it.
            let within = next > 0 ? max(0, edits[next - 1].range.upperBound - position) : 0
            let end = max(start, min(bytes.count, position + within + shift))
            result.append(Array(bytes[start..<end]))
            start = end
        }
        return result
    }
}
