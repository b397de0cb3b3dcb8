import RxHTTP

/// Texts to be replaced wherever they occur. Each byte of a text is looked up once, by the eight bytes that it ends.
struct KnownTexts {
    /// The shortest text that is looked for, in bytes.
    static let shortest = 8

    private var patterns: [UInt64: [(text: [UInt8], replacement: String)]] = [:]

    /// Creates the table. Texts shorter than ``shortest`` are ignored.
    init(_ replacements: [String: String]) {
        for (text, replacement) in replacements where text.utf8.count >= Self.shortest {
            let bytes = Array(text.utf8)
            let key = bytes.prefix(Self.shortest).reduce(0) { $0 << 8 | UInt64($1) }
            patterns[key, default: []].append((bytes, replacement))
        }
        // The longest first, so that a text that begins with another is found.
        for key in patterns.keys {
            patterns[key]?.sort { ($1.text.count, $0.replacement) < ($0.text.count, $1.replacement) }
        }
    }

    func edits(in bytes: [UInt8]) -> TextEdits {
        var edits = TextEdits()
        guard !patterns.isEmpty else { return edits }
        var (window, index, start) = (UInt64(0), 0, 0)
        while index < bytes.count {
            window = window << 8 | UInt64(bytes[index])
            index += 1
            let first = index - Self.shortest
            guard first >= start, let candidates = patterns[window] else { continue }
            let rest = bytes[first...]
            guard let found = candidates.first(where: { rest.starts(with: $0.text) }) else { continue }
            edits.replace(first..<first + found.text.count, by: found.replacement)
            (index, start) = (first + found.text.count, first + found.text.count)
        }
        return edits
    }

    func replaced(in text: String) -> String {
        patterns.isEmpty
            ? text
            : String(decoding: edits(in: Array(text.utf8)).applied(to: Array(text.utf8)), as: UTF8.self)
    }
}
