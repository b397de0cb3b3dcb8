/// The value of a `Strict-Transport-Security` field (RFC 6797 §6.1).
struct HSTSPolicy: Equatable {
    /// The number of seconds to reach the host over TLS only; 0 forgets the host.
    let maxAge: Int
    /// Whether the policy applies to all subdomains.
    let includesSubdomains: Bool

    /// 68 years; a larger `max-age` counts as this.
    static let longestAge = Int(Int32.max)

    /// Parses a field value; `nil` without `max-age`, with a repeated directive, or with any other violation
    /// of the grammar. Unknown directives are skipped.
    init?(_ value: String) {
        var reader = DirectiveReader(value)
        var names: Set<String> = []
        var age: Int?
        var includesSubdomains = false
        repeat {
            reader.skipBlanks()
            let name = reader.token().lowercased()
            guard !name.isEmpty else { continue }
            guard names.insert(name).inserted else { return nil }
            reader.skipBlanks()
            var argument: String?
            if reader.skip(UInt8(ascii: "=")) {
                reader.skipBlanks()
                argument = reader.word()
                guard argument != nil else { return nil }
            }
            switch name {
            case "max-age":
                age = argument.flatMap(Self.seconds)
                guard age != nil else { return nil }
            case "includesubdomains":
                guard argument == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        } while reader.skipSemicolon()
        guard reader.isAtEnd, let age else { return nil }
        self.maxAge = age
        self.includesSubdomains = includesSubdomains
    }

    /// A whole number, at most ``longestAge``; `nil` for any other text.
    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty else { return nil }
        var seconds = 0
        for byte in text.utf8 {
            guard case 0...9 = byte &- UInt8(ascii: "0") else { return nil }
            seconds = min(seconds * 10 + Int(byte - UInt8(ascii: "0")), longestAge)
        }
        return seconds
    }
}

/// Reads tokens and quoted strings (RFC 9110 §5.6) in one pass.
private struct DirectiveReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() {
        while rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "\t") { rest.removeFirst() }
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    mutating func skipSemicolon() -> Bool {
        skipBlanks()
        return skip(UInt8(ascii: ";"))
    }

    /// The next token; empty if there is none.
    mutating func token() -> String {
        let token = rest.prefix(while: Self.isTokenByte)
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// The next token or quoted string; `nil` if there is neither.
    mutating func word() -> String? {
        guard skip(UInt8(ascii: "\"")) else {
            let token = token()
            return token.isEmpty ? nil : token
        }
        var text: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            text.append(byte)
        }
        return nil
    }

    /// A `tchar` of RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "0123456789!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
