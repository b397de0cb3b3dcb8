extension SecretFinder {
    /// The secrets of a URL, or of all URLs in a text: user info, secret parameters, and secret texts of the path.
    ///
    /// - Parameter isInText: whether a URL ends before what does not belong to it in documents: quotes and tags of HTML
    ///   and escapes of JSON.
    package func url(_ placeholders: inout some SecretReplacement, isInText: Bool = false) -> TextEdits {
        var edits = TextEdits()
        var inner = TextEdits()
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "/") where position >= 2 && bytes[position - 2] == UInt8(ascii: "/"):
                if let at = userInfo(from: position, isInText) {
                    edits.replace(position..<at, by: shown(userInfo: position..<at, &placeholders))
                    position = at
                } else {
                    position = segment(from: position, isInText, &edits, &placeholders)
                }
            case UInt8(ascii: "/"): position = segment(from: position, isInText, &edits, &placeholders)
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
                if isInText, bytes[position...].starts(with: "amp;".utf8) { position += 4 }
                position = pair(from: position, isInText, &edits, &inner, &placeholders)
            case UInt8(ascii: "\\") where isInText && bytes[position...].starts(with: "u0026".utf8):
                position = pair(from: position + 5, isInText, &edits, &inner, &placeholders)
            default: break
            }
        }
        return edits.merging(inner)
    }

    /// The secrets of `application/x-www-form-urlencoded` content.
    package func form(_ placeholders: inout some SecretReplacement) -> TextEdits {
        var edits = TextEdits()
        var position = 0
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            if let equals = bytes[position..<end].firstIndex(of: UInt8(ascii: "=")) {
                let name = text(position..<equals).decodedAsForm
                if hides(equals + 1..<end, of: name) {
                    replace(equals + 1..<end, &edits, &placeholders)
                } else {
                    look(into: equals + 1..<end, &edits, &placeholders)
                }
            } else {
                let name = text(position..<end).decodedAsForm
                if redaction.texts.contains(name) { replace(position..<end, &edits, &placeholders) }
            }
            position = end + 1
        }
        return edits.merging(tokens(&placeholders))
    }

    private func hides(_ value: Range<Int>, of name: String) -> Bool {
        redaction.hides(text(value).decodedAsForm.utf8, of: name)
    }

    private func replace(
        _ value: Range<Int>, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) {
        edits.replace(value, by: placeholders.placeholder(for: text(value).decodedAsForm))
    }

    /// The index of the `@` after the user info, in a text that begins with an authority (RFC 3986 §3.2).
    private func userInfo(from start: Int, _ isInText: Bool) -> Int? {
        let authority = bytes[start...].prefix {
            $0 != UInt8(ascii: "/") && ($0 == UInt8(ascii: "&") || !Self.isEnd($0, isInText))
        }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { return at }
        // A port has digits, and only those: otherwise, a `?` or `#` after it belongs to a password that is not escaped.
        guard authority.first != UInt8(ascii: "["), let colon = authority.lastIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let port = authority[(colon + 1)...]
        guard port.isEmpty || !port.allSatisfy(\.isDigit) else { return nil }
        return bytes[start...].prefix {
            switch $0 {
            case UInt8(ascii: "/"): false
            case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "&"): true
            default: !Self.isEnd($0, isInText)
            }
        }.lastIndex(of: UInt8(ascii: "@"))
    }

    private func shown(userInfo range: Range<Int>, _ placeholders: inout some SecretReplacement) -> String {
        guard placeholders.keepsShape else { return placeholders.placeholder(for: text(range)) }
        let (user, password) = text(range).cut(at: ":")
        return [user, password].compactMap { $0 }.filter { !$0.isEmpty }
            .map { placeholders.placeholder(for: $0.decodedAsForm) }.joined(separator: ":")
    }

    /// Replaces the path segment at `start` if it is a secret itself; returns where to continue.
    private func segment(
        from start: Int, _ isInText: Bool, _ edits: inout TextEdits,
        _ placeholders: inout some SecretReplacement
    ) -> Int {
        guard !redaction.texts.isEmpty else { return start }
        let segment = bytes[start...].prefix { $0 != UInt8(ascii: "/") && !Self.isEnd($0, isInText) }.indices
        guard redaction.texts.contains(text(segment)) else { return start }
        edits.replace(segment, by: placeholders.placeholder(for: text(segment)))
        return segment.upperBound
    }

    /// Replaces the value of a pair of a query if it is secret; returns where to continue.
    ///
    /// - Parameter inner: receives the secrets within a value that is not secret itself.
    private func pair(
        from start: Int, _ isInText: Bool, _ edits: inout TextEdits, _ inner: inout TextEdits,
        _ placeholders: inout some SecretReplacement
    ) -> Int {
        let pair = bytes[start...].prefix { !Self.isEnd($0, isInText) }
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
            guard !redaction.texts.isEmpty, redaction.texts.contains(text(pair.indices).decodedAsForm)
            else { return start }
            replace(pair.indices, &edits, &placeholders)
            return pair.endIndex
        }
        let value = equals + 1..<pair.endIndex
        let name = text(start..<equals).decodedAsForm
        if redaction.texts.contains(name) {
            edits.replace(start..<equals, by: placeholders.placeholder(for: name))
        }
        guard hides(value, of: name) else {
            if bytes[value].contains(UInt8(ascii: "%")) { look(into: value, &inner, &placeholders) }
            return equals + 1
        }
        replace(value, &edits, &placeholders)
        return value.upperBound
    }

    /// One of these is in each escape, URL and JSON text with a secret.
    private static let marksOfTexts = Set("%{?\"/".utf8)

    /// Replaces the secrets of a value that is a text itself, such as a URL or JSON.
    private func look(
        into value: Range<Int>, _ edits: inout TextEdits, _ placeholders: inout some SecretReplacement
    ) {
        guard bytes[value].contains(where: Self.marksOfTexts.contains) else { return }
        guard depth > 0 else { return replace(value, &edits, &placeholders) }
        let plain = UnescapedText(form: bytes[value])
        let finder = SecretFinder(plain.bytes, redaction, depth: depth - 1)
        edits.add(finder.text(&placeholders), in: plain)
    }

    /// Whether a URL, or a part of its query, ends at this byte.
    private static func isEnd(_ byte: UInt8, _ isInText: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ">"), UInt8(ascii: "\""):
            true
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: "`"): isInText
        default: byte <= 0x20
        }
    }
}
