import HTTPTypes
import RxHTTP
import RxWebSocket

/// The placeholders of secrets: the same secret has the same placeholder everywhere, so that a token that a login
/// returned is the token that the next request sends.
struct Pseudonyms: SecretReplacement {
    /// The beginning of all placeholders. Those in existing cassettes are recognized by it. It has no digit:
    /// `SecretFinder` puts the rest of a placeholder in the place of a secret number.
    private static let prefix = "secret-"
    /// Ends with a digit, as all placeholders do, so that it masks secret numbers, too.
    private static let mask = prefix + "0"

    private var placeholders: [String: String] = [:]
    private var count: Int
    /// The secrets found so far, if all have the same placeholder because texts are only to be compared.
    private(set) var masked: [String]?

    /// - Parameter count: the highest number of a placeholder that is in use.
    init(after count: Int = 0) { self.count = count }

    /// Placeholders that make texts equal which differ in their secrets only.
    static var masking: Pseudonyms {
        var pseudonyms = Pseudonyms()
        pseudonyms.masked = []
        return pseudonyms
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
            let slashed = secret.parts(at: "/", omittingEmpty: false).joined(separator: "\\/")
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
        case .cookie: return value.parts(at: ";").map { replaced(cookie: $0) }.joined(separator: ";")
        case .setCookie:
            let (pair, attributes) = value.cut(at: ";")
            return replaced(cookie: pair) + (attributes.map { ";\($0)" } ?? "")
        case .secWebSocketProtocol:
            return value.parts(at: ",").map { placeholder(for: String($0.trimmingBlanks())) }
                .joined(separator: ", ")
        case .authorization, .proxyAuthorization:
            // The scheme stays.
            let (scheme, secret) = value.cut(at: " ")
            guard let secret, !secret.isEmpty, !scheme.isEmpty, scheme.allSatisfy(\.isLetter) else {
                return placeholder(for: value)
            }
            return "\(scheme) \(placeholder(for: String(secret)))"
        default: return placeholder(for: value)
        }
    }

    private mutating func replaced(cookie pair: Substring) -> String {
        let (name, value) = pair.cut(at: "=")
        guard let value else {
            let blanks = pair.utf8.prefix { $0 == UInt8(ascii: " ") }
            return "\(Substring(blanks))\(placeholder(for: String(pair[blanks.endIndex...])))"
        }
        return "\(name)=\(placeholder(for: String(value)))"
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

extension Cassette.Exchange {
    /// Replaces parts of the response's body, which is then divided into as many chunks as before.
    ///
    /// - Parameter edits: returns the replacements in the whole body of a type.
    mutating func replaceChunks(_ edits: ([UInt8], String?) -> TextEdits) {
        let chunkIndices = events.indices.filter { if case .chunk = events[$0].kind { true } else { false } }
        guard !chunkIndices.isEmpty else { return }
        let chunks = chunkIndices.map { index -> [UInt8] in
            if case .chunk(let bytes) = events[index].kind { bytes } else { [] }
        }
        let replaced = edits(Array(chunks.joined()), head?[.contentType]).applied(to: chunks)
        for (index, chunk) in zip(chunkIndices, replaced) { events[index].kind = .chunk(chunk) }
    }

    /// Replaces known texts in all parts of the exchange.
    mutating func replace(_ texts: KnownTexts) {
        url = texts.replaced(in: url)
        headerFields = texts.replaced(in: headerFields)
        body = texts.edits(in: body).applied(to: body)
        replaceChunks { bytes, _ in texts.edits(in: bytes) }
        for index in events.indices {
            if case .message(.binary(let bytes), let sender) = events[index].kind {
                events[index].kind = .message(.binary(texts.edits(in: bytes).applied(to: bytes)), sender)
            }
            events[index].kind.replace(
                fields: { texts.replaced(in: $0) }, text: { texts.replaced(in: $0) })
        }
    }
}

extension Cassette.Event.Kind {
    /// Replaces the header fields and the texts of an event that is no chunk.
    mutating func replace(fields: (HTTPFields) -> HTTPFields, text: (String) -> String) {
        switch self {
        case .interim(let head): self = .interim(head.replacing(fields))
        case .head(let head): self = .head(head.replacing(fields))
        case .trailers(let trailers): self = .trailers(fields(trailers))
        case .message(.text(let message), let sender): self = .message(.text(text(message)), sender)
        case .close(let code, let reason, let sender): self = .close(code, reason: text(reason), sender)
        case .failed(var failure):
            failure.message = text(failure.message)
            self = .failed(failure)
        case .uploaded, .chunk, .message(.binary, _), .finished, .cancelled: break
        }
    }
}

extension ResponseHead {
    fileprivate func replacing(_ fields: (HTTPFields) -> HTTPFields) -> ResponseHead {
        ResponseHead(status: status, headerFields: fields(headerFields), httpVersion: httpVersion)
    }
}

extension KnownTexts {
    fileprivate func replaced(in fields: HTTPFields) -> HTTPFields {
        var replaced = HTTPFields()
        for field in fields {
            replaced.append(HTTPField(name: field.name, value: self.replaced(in: field.value)))
        }
        return replaced
    }
}

/// Texts to be replaced wherever they occur. Each byte of a text is looked up once, by the eight bytes that it ends.
struct KnownTexts {
    /// The shortest text that is looked for, in bytes: as many as `edits(in:)` compares at once, in a number of 64
    /// bits. ``RecordingTransport/init(_:after:replacing:)`` names it.
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
