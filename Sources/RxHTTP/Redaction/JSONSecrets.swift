extension SecretFinder {
    /// The values of secret members and the secrets within strings, in JSON that may be cut off, in lines of JSON, or in
    /// a text around JSON.
    func json(_ placeholders: inout some SecretReplacement) -> TextEdits {
        var edits = TextEdits()
        var codes: Set<Int>?
        var position = 0
        while let start = bytes[position...].firstIndex(of: Self.quote) {
            let end = endOfString(from: start, inLine: true)
            let colon = skippingBlanks(from: end)
            // In a text around JSON, the quote that ends a string may be the one that begins the next.
            position = end - 1 > start && bytes[end - 1] == Self.quote ? end - 1 : end
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else {
                if look(into: start..<end, &edits, &placeholders) { position = end }
                continue
            }
            let valueStart = skippingBlanks(from: colon + 1)
            switch secrecy(of: start..<end) {
            case .none: continue
            case .all: break
            case .text:
                guard isText(at: valueStart, atLeast: 1) else { continue }
            case .code:
                guard isText(at: valueStart, atLeast: Redaction.shortestCode) else { continue }
                let found = codes ?? codesOfResponses()
                codes = found
                guard !found.contains(start) else { continue }
            }
            position =
                if placeholders.keepsShape {
                    values(from: valueStart, &edits, &placeholders)
                } else {
                    endOfValue(from: valueStart)
                }
            let value = valueStart..<position
            if !placeholders.keepsShape, !value.isEmpty, !Self.isLiteral(bytes[value]) {
                edits.replace(value, by: "\"\(placeholders.placeholder(for: text(value)))\"")
            }
            // A name without a value, whose brace or bracket has no part in it.
            position = max(position, colon + 1)
        }
        return edits
    }

    private static let quote = UInt8(ascii: "\"")

    /// Whether a value is `true`, `false` or `null`, which stays.
    static func isLiteral(_ value: some Collection<UInt8>) -> Bool {
        value.elementsEqual("true".utf8) || value.elementsEqual("false".utf8)
            || value.elementsEqual("null".utf8)
    }

    private func isText(at start: Int, atLeast count: Int) -> Bool {
        start < bytes.count && bytes[start] == Self.quote && endOfString(from: start) - start - 2 >= count
    }

    /// Replaces the secrets of a string that is a text itself, such as JSON; returns whether it was replaced as a whole.
    /// Without escapes it contains no JSON, and the secrets of its URLs and its tokens are those of the whole text.
    private func look(
        into quoted: Range<Int>, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) -> Bool {
        guard bytes[quoted].contains(UInt8(ascii: "\\")) else { return false }
        guard depth > 0 else {
            edits.replace(quoted, by: "\"\(placeholders.placeholder(for: string(quoted)))\"")
            return true
        }
        let plain = UnescapedText(json: bytes[inside(quoted)])
        let finder = SecretFinder(plain.bytes, redaction, depth: depth - 1)
        edits.add(finder.text(&placeholders), in: plain)
        return false
    }

    private func skippingBlanks(from start: Int) -> Int {
        bytes[start...].firstIndex { !Self.isBlank($0) } ?? bytes.count
    }

    /// - Parameter inLine: whether it ends with its line at the latest. A string has no raw line break (RFC 8259 §7), so a
    ///   single quote in a text says nothing about the next line; a value is hidden to its quote even so.
    private func endOfString(from start: Int, inLine: Bool = false) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != Self.quote {
            if inLine, bytes[position] == 0x0A || bytes[position] == 0x0D { return position }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    private func secrecy(of quoted: Range<Int>) -> Redaction.Secrecy { redaction.secrecy(of: string(quoted)) }

    /// The range between the quotes; the second quote may be cut off.
    private func inside(_ quoted: Range<Int>) -> Range<Int> {
        let isWhole = quoted.count > 1 && bytes[quoted.upperBound - 1] == Self.quote
        return quoted.lowerBound + 1..<(isWhole ? quoted.upperBound - 1 : quoted.upperBound)
    }

    /// The text of a string with its quotes.
    private func string(_ quoted: Range<Int>) -> String {
        let inner = inside(quoted)
        guard bytes[inner].contains(UInt8(ascii: "\\")) else { return text(inner) }
        return String(decoding: UnescapedText(json: bytes[inner]).bytes, as: UTF8.self)
    }

    // MARK: - Values

    /// The end of a value: of a string, an object or array with all its content, or a word.
    private func endOfValue(from start: Int) -> Int {
        var (position, depth) = (start, 0)
        while position < bytes.count {
            switch bytes[position] {
            case Self.quote: position = endOfString(from: position)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return position }
                depth -= 1
                position += 1
            default: position = depth == 0 ? endOfWord(from: position) : position + 1
            }
            if depth == 0 { return position }
        }
        return position
    }

    /// Replaces the strings and numbers of a value; returns its end. `null`, `true` and `false` stay.
    private func values(
        from start: Int, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) -> Int {
        var (position, depth) = (start, 0)
        while position < bytes.count {
            switch bytes[position] {
            case Self.quote:
                let end = endOfString(from: position)
                let next = skippingBlanks(from: end)
                let isName = depth > 0 && next < bytes.count && bytes[next] == UInt8(ascii: ":")
                if !isName {
                    edits.replace(
                        position..<end, by: "\"\(placeholders.placeholder(for: string(position..<end)))\"")
                }
                position = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return position }
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
                guard depth > 0 else { return position }
                position += 1
            default:
                let end = endOfWord(from: position)
                word(position..<end, &edits, &placeholders)
                position = end
            }
            if depth == 0 { return position }
        }
        return position
    }

    private static let endsOfWords = Set(",:{}[]\"".utf8)

    /// The end of a number, a literal, or a malformed word, which has one byte at least.
    private func endOfWord(from start: Int) -> Int {
        bytes[start...].dropFirst().firstIndex {
            Self.isBlank($0) || Self.endsOfWords.contains($0)
        } ?? bytes.count
    }

    private func word(
        _ range: Range<Int>, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) {
        guard !Self.isLiteral(bytes[range]) else { return }
        let placeholder = placeholders.placeholder(for: text(range))
        // A number in place of a number, so that the document still decodes: the digits of the placeholder, in front of
        // which `Pseudonyms` of RxSimulation has none.
        let isNumber = bytes[range].allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
        edits.replace(
            range, by: isNumber ? String(placeholder.drop { !$0.isNumber }) : "\"\(placeholder)\"")
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    // MARK: - Codes of errors

    /// Members of an object that describes an error or a response.
    private static let membersOfResponses: Set<String> = [
        "message", "msg", "error", "errors", "errmsg", "error_message", "errorMessage", "error_description",
        "detail", "details", "title", "success", "data", "result", "reason",
    ]
    /// Names of objects, or of lists of them, that describe an error or a response.
    private static let namesOfResponses: Set<String> = ["error", "errors", "extensions", "status", "cause"]

    /// An object or array that has begun and not ended.
    private struct OpenContainer {
        /// Whether it describes an error or a response, or is a list of such objects.
        var isResponse: Bool
        /// Whether the value that comes next does.
        var isNextResponse: Bool
        var codes: [Int] = []
    }

    /// Where the names of those members `code` begin that are the code of an error or an envelope.
    private func codesOfResponses() -> Set<Int> {
        var codes: Set<Int> = []
        var containers: [OpenContainer] = []
        func close(_ container: OpenContainer) {
            if container.isResponse { codes.formUnion(container.codes) }
        }
        var position = 0
        while position < bytes.count {
            switch bytes[position] {
            case Self.quote:
                let end = endOfString(from: position, inLine: true)
                let next = skippingBlanks(from: end)
                if next < bytes.count, bytes[next] == UInt8(ascii: ":"), !containers.isEmpty {
                    let last = containers.count - 1
                    let isLong = end - position > Redaction.longestName
                    let name = isLong ? "" : string(position..<end)
                    containers[last].isNextResponse = Self.namesOfResponses.contains(name)
                    if Self.membersOfResponses.contains(name) { containers[last].isResponse = true }
                    if redaction.secrecy(of: name) == .code { containers[last].codes.append(position) }
                }
                position = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isResponse = containers.last?.isNextResponse ?? false
                let isArray = bytes[position] == UInt8(ascii: "[")
                containers.append(
                    OpenContainer(isResponse: isResponse, isNextResponse: isArray && isResponse))
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let container = containers.popLast() { close(container) }
                position += 1
            default: position += 1
            }
        }
        containers.forEach(close)
        return codes
    }
}
