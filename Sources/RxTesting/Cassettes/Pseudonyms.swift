import HTTPTypes
import RxHTTP

/// The placeholders of secrets: the same secret has the same placeholder everywhere, so that a token that a login
/// returned is the token that the next request sends.
struct Pseudonyms: SecretReplacement {
    private static let prefix = "secret-"
    /// A placeholder, so that it masks numbers, too.
    private static let mask = prefix + "0"

    private var placeholders: [String: String] = [:]
    private var count: Int
    /// The secrets found so far, if all have the same placeholder because texts are only to be compared.
    private(set) var masked: [String]?

    /// - Parameter count: the highest number of a placeholder that is in use.
    init(after count: Int = 0) { self.count = count }

    /// Placeholders that make texts equal which differ in their secrets only.
    static var masking: Pseudonyms {
        var names = Pseudonyms()
        names.masked = []
        return names
    }

    /// Whether the text is a placeholder.
    static func isPlaceholder(_ text: String) -> Bool {
        let number = text.utf8.dropFirst(prefix.utf8.count)
        return text.utf8.starts(with: prefix.utf8) && !number.isEmpty
            && number.allSatisfy(\.isDigit)
    }

    /// The text with the same mask for all placeholders in it, which are noted.
    mutating func masked(_ text: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        let prefix = Array(Self.prefix.utf8)
        while let found = text.firstOffset(of: prefix, from: start) {
            let end = text[(found + prefix.count)...].firstIndex { !$0.isDigit } ?? text.count
            output += text[start..<found]
            output += placeholder(for: String(decoding: text[found..<end], as: UTF8.self)).utf8
            start = end
        }
        return output + text[start...]
    }

    /// The parts of a masked text between its placeholders; one if it has none.
    static func pieces(of text: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while let found = text.firstOffset(of: Array(mask.utf8), from: start) {
            pieces.append(Array(text[start..<found]))
            start = found + mask.utf8.count
        }
        return pieces + [Array(text[start...])]
    }

    /// The highest number of a placeholder in the text; 0 if there is none.
    static func highestNumber(in text: [UInt8]) -> Int {
        var (highest, start) = (0, 0)
        while let found = text.firstOffset(of: Array(prefix.utf8), from: start) {
            start = found + prefix.utf8.count
            let digits = text[start...].prefix(while: \.isDigit)
            if digits.count < 10, let number = Int(String(decoding: digits, as: UTF8.self)) {
                highest = max(highest, number)
            }
        }
        return highest
    }

    var keepsShape: Bool { true }

    mutating func placeholder(for secret: String) -> String {
        if masked != nil {
            if secret != Self.mask { masked?.append(secret) }
            return Self.mask
        }
        guard !secret.isEmpty, secret != Redaction.mark, !Self.isPlaceholder(secret) else { return secret }
        if let known = placeholders[secret] { return known }
        count += 1
        let placeholder = Self.prefix + String(count)
        placeholders[secret] = placeholder
        return placeholder
    }

    /// The secrets that are long and irregular enough to be replaced wherever they occur, as written in texts, JSON
    /// and URLs.
    var scattered: [String: String] {
        var texts: [String: String] = [:]
        // In the order of the placeholders: a spelling of two secrets has the placeholder of the first.
        let numbered = placeholders.sorted { ($0.value.count, $0.value) < ($1.value.count, $1.value) }
        for (secret, placeholder) in numbered where Self.isIrregular(secret) {
            let escaped = [Self.escaped(secret, uppercase: true), Self.escaped(secret, uppercase: false)]
            let slashed = secret.replacing("/", with: "\\/")
            for spelling in [secret, secret.encodedAsForm, slashed] + escaped where texts[spelling] == nil {
                texts[spelling] = placeholder
            }
        }
        return texts
    }

    /// The text as writers of JSON spell it who escape what HTML or JavaScript would read otherwise.
    private static func escaped(_ text: String, uppercase: Bool) -> String {
        var output = ""
        for character in text.unicodeScalars {
            if "&<>'+=/".unicodeScalars.contains(character) {
                output += "\\u00" + String(character.value, radix: 16, uppercase: uppercase)
            } else {
                output.unicodeScalars.append(character)
            }
        }
        return output
    }

    /// Whether a text is certainly no word that documents contain anyway.
    private static func isIrregular(_ text: String) -> Bool {
        let bytes = text.utf8
        let hasDigit = bytes.contains(where: \.isDigit)
        let hasLetter = bytes.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        return bytes.count >= 20 || bytes.count >= KnownTexts.shortest && hasDigit && hasLetter
    }
}

extension Pseudonyms {
    /// Header fields with placeholders for secret values, and for the secrets in URLs.
    mutating func replaced(_ fields: HTTPFields, _ redaction: Redaction) -> HTTPFields {
        var replaced = HTTPFields()
        for field in fields {
            let value = self.replaced(field.value, redaction, in: field.name)
            replaced.append(HTTPField(name: field.name, value: value))
        }
        return replaced
    }

    private mutating func replaced(_ value: String, _ redaction: Redaction, in name: HTTPField.Name) -> String
    {
        guard redaction.hides(name) else {
            let bytes = Array(value.utf8)
            let edits = SecretFinder(bytes, redaction).text(&self, isInText: false)
            return String(decoding: edits.applied(to: bytes), as: UTF8.self)
        }
        switch name {
        case .cookie: return value.split(separator: ";").map { replaced(cookie: $0) }.joined(separator: ";")
        case .setCookie:
            let parts = value.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
            return ([replaced(cookie: parts[0])] + parts.dropFirst().map(String.init)).joined(separator: ";")
        case .secWebSocketProtocol:
            return value.split(separator: ",").map { placeholder(for: String($0.filter { $0 != " " })) }
                .joined(separator: ", ")
        case .authorization, .proxyAuthorization:
            // The scheme stays.
            let words = value.split(separator: " ", maxSplits: 1)
            guard words.count == 2, words[0].allSatisfy(\.isLetter) else { return placeholder(for: value) }
            return "\(words[0]) \(placeholder(for: String(words[1])))"
        default: return placeholder(for: value)
        }
    }

    private mutating func replaced(cookie pair: Substring) -> String {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            let blanks = pair.prefix { $0 == " " }
            return blanks + placeholder(for: String(pair.dropFirst(blanks.count)))
        }
        return "\(parts[0])=\(placeholder(for: String(parts[1])))"
    }

    /// A URL, or a text that contains URLs, with placeholders for secrets.
    mutating func replaced(url: String, _ redaction: Redaction) -> String {
        let bytes = Array(url.utf8)
        let finder = SecretFinder(bytes, redaction)
        return String(
            decoding: finder.url(&self).merging(finder.tokens(&self)).applied(to: bytes), as: UTF8.self)
    }

    /// The replacements in content of a type.
    mutating func edits(in content: [UInt8], type: String?, _ redaction: Redaction) -> TextEdits {
        SecretFinder(content, redaction).content(type: type, &self)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
