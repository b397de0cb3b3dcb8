/// What a `Strict-Transport-Security` field says (RFC 6797 §6.1).
struct HSTSPolicy: Equatable {
    /// For how many seconds the host is to be reached over TLS only; 0 to forget it.
    let maxAge: Int
    /// Whether the same holds for all hosts below it.
    let includesSubdomains: Bool

    /// 68 years: whatever is more counts as this.
    static let longestAge = Int(Int32.max)

    /// `nil` for what is no such field value: without `max-age`, with a directive that stands there twice, or otherwise
    /// not of the grammar. Directives that nobody knows are passed over.
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

    /// A whole number, or ``longestAge`` where it is larger; `nil` for what is none.
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

/// Reads tokens and quoted strings (RFC 9110 §5.6), each byte once.
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

    /// Empty where there is none.
    mutating func token() -> String {
        let token = rest.prefix(while: Self.isTokenByte)
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// A token or a quoted string; `nil` where there is neither.
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
