import FoundationEssentials
public import HTTPTypes

/// The rules for hiding secrets in logs and exports: which header fields and parameters contain secrets.
///
/// Each request has its rules, ``Request/redaction``. This library applies them to everything it prints of a
/// request or its response; apply them to what you print of a ``TrafficEvent`` yourself.
///
/// A parameter is identified by its name, wherever it occurs: in a query, a fragment, a form, a part of a
/// multipart form, or at any depth of JSON, also of JSON in a string. Case, `-`, `_` and spaces are ignored:
/// `access_token` matches `accessToken` and `ACCESS-TOKEN`. `user[password]`, `user.password`, `password[0]` and
/// `userPassword` match `password`.
///
/// Of `access`, `refresh` and `code`, only texts are hidden: numbers and flags of these names are settings and the codes
/// of envelopes. A text named `code` stays if it is shorter than four characters, and in an object that describes an
/// error or a response, for example beside `message` or below `errors`.
///
/// A JSON Web Token (RFC 7519) is hidden wherever it occurs.
public struct Redaction: Sendable, Equatable {
    /// The text that replaces a secret.
    public static let mark = "…"

    /// Header fields whose values are hidden.
    public var fields: Set<HTTPField.Name>
    /// Path segments, and query names without a value, that are secrets themselves.
    package var texts: Set<String> = []

    /// Names in the form of ``spelling(_:)``.
    private let parameters: Set<String>

    private static let usual = Set(Request.usualSecretParameters.map { spelling($0) })
    // A hidden field is also withheld from other origins (``Request/dropSecretFields()``). The documentation of `init`,
    // ``Request/secretFields`` and ``RedirectPolicy`` lists these.
    private static let usualFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .setCookie, .proxyAuthorization,
        // Browsers cannot set fields of a WebSocket's handshake, so servers take tokens as subprotocols.
        .secWebSocketProtocol,
    ]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - fields: the fields to hide in addition to `Authorization`, `Cookie`, `Set-Cookie`,
    ///     `Proxy-Authorization`, `Sec-WebSocket-Protocol`, and fields with the name of a secret parameter,
    ///     with or without a prefix `X-`.
    ///   - parameters: the names of parameters to hide in addition to ``Request/usualSecretParameters``.
    public init(fields: Set<HTTPField.Name> = [], parameters: Set<String> = []) {
        self.fields = fields.union(Self.usualFields)
        self.parameters = Set(parameters.map { Self.spelling($0) })
    }

    /// Whether the value of the parameter is hidden. Of some names, only texts are: `access`, `refresh` and `code` are
    /// names of numbers and flags, too.
    public func hides(_ parameter: some StringProtocol) -> Bool { secrecy(of: parameter) != .none }

    /// Whether the value of the header field is hidden.
    public func hides(_ field: HTTPField.Name) -> Bool {
        if fields.contains(field) { return true }
        let name = field.canonicalName
        return secrecy(of: name) == .all || name.hasPrefix("x-") && secrecy(of: name.dropFirst(2)) == .all
    }

    /// Whether this value of a pair, or part of a form, is hidden.
    func hides(_ text: some Collection<UInt8>, of parameter: some StringProtocol) -> Bool {
        switch secrecy(of: parameter) {
        case .none: false
        case .all: true
        // Forms have no other type, so that numbers and flags are texts.
        case .text: !text.allSatisfy(\.isDigit) && !SecretFinder.isLiteral(text)
        case .code: text.count >= Self.shortestCode
        }
    }

    /// A shorter text named `code` is a country, a currency or a status. The documentation of ``Redaction`` says so.
    static let shortestCode = 4

    /// The parts of a value that are hidden.
    enum Secrecy {
        case none
        /// A text, but no number or flag.
        case text
        /// A text, but no number, and no code of an error.
        case code
        case all
    }

    /// The secrecy of a parameter. Of `user[code]` and `user.code`, the last part counts, and any that is secret in
    /// each value.
    func secrecy(of parameter: some StringProtocol) -> Secrecy {
        let whole = secrecy(ofName: parameter)
        guard whole == .none, parameter.utf8.contains(where: Self.isBetweenNames) else { return whole }
        let parts = parameter.utf8.split(whereSeparator: Self.isBetweenNames)
            .map { secrecy(ofName: String(decoding: $0, as: UTF8.self)) }
        return parts.contains(.all) ? .all : parts.last ?? .none
    }

    /// The longest name that is looked up, in bytes. The time to hash a text, or to compare its characters, grows with the
    /// square of the number of combining marks in a row.
    static let longestName = 1024

    private func secrecy(ofName name: some StringProtocol) -> Secrecy {
        guard name.utf8.count <= Self.longestName else { return Self.endsInSecretWords(name) ? .all : .none }
        let spelling = Self.spelling(name)
        if Self.usual.contains(spelling) || parameters.contains(spelling) { return .all }
        // The documentation of ``Redaction`` and ``hides(_:)`` names these.
        switch spelling {
        case "access", "refresh": return .text
        case "code": return .code
        default: return Self.endsInSecretWords(name) ? .all : .none
        }
    }

    /// Whether the last words are a name that is secret whatever stands before it: `github_access_token`,
    /// `walletPin`.
    private static func endsInSecretWords(_ name: some StringProtocol) -> Bool {
        var words: [Substring.UTF8View] = []
        let text = String(decoding: name.utf8.suffix(64), as: UTF8.self)
        var rest = text.utf8[...]
        while let last = rest.last, words.count < 4 {
            guard !isSeparator(last) else {
                rest = rest.dropLast()
                continue
            }
            let start = startOfLastWord(rest)
            words.insert(rest[start...], at: 0)
            rest = rest[..<start]
            let joined = words.map { String($0) ?? "" }.joined().lowercased()
            if words.count == 1 ? lastWords.contains(joined) : usual.contains(joined) { return true }
        }
        return false
    }

    /// Words begin after separators, at a capital letter after a small one or a digit, and at the last of several
    /// capital letters in front of a small one: `user`, `API`, `Key` in `userAPIKey`.
    private static func startOfLastWord(_ text: Substring.UTF8View) -> Substring.UTF8View.Index {
        var start = text.index(before: text.endIndex)
        while start > text.startIndex {
            let before = text[text.index(before: start)]
            if isSeparator(before) || text[start].isCapital && !before.isCapital { return start }
            let after = text.index(after: start)
            if text[start].isCapital, before.isCapital, after < text.endIndex, !text[after].isCapital,
                !text[after].isDigit
            {
                return start
            }
            start = text.index(before: start)
        }
        return start
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    /// Single words that are secret at the end of a name as well.
    private static let lastWords: Set<String> = [
        "password", "passwd", "pwd", "passphrase", "passcode", "secret", "jwt", "otp", "totp", "pin",
    ]

    private static func isBetweenNames(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    /// A name in lower case, without the characters that differ between naming conventions.
    private static func spelling(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }
}

extension UInt8 {
    fileprivate var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension Redaction: RedactedDescription {
    /// Without the texts that it hides, which are secrets.
    public var description: String { "Redaction(hidden)" }
}

extension Request {
    /// Names that usually stand for secrets: of OAuth (RFC 6749, RFC 6750 §2.3, RFC 8628, RFC 8693), of logins, and of
    /// signed URLs. They match in any spelling; see ``Redaction``.
    public static let usualSecretParameters: Set<String> = [
        "access_token", "refresh_token", "id_token", "auth_token", "session_token", "csrf_token",
        "xsrf_token", "token", "jwt",
        "client_secret", "client_assertion", "code_verifier", "assertion",
        "password", "passwd", "pwd", "passphrase", "new_password", "old_password", "current_password",
        "confirm_password", "password_confirmation",
        "secret", "secret_key", "private_key", "api_key", "api_secret", "api_token", "signature", "sig",
        "authorization",
        "otp", "totp", "pin", "sid", "session_id", "passcode", "one_time_password",
        "device_code", "user_code", "auth_code", "authorization_code", "verification_code", "otp_code",
        "mfa_code", "sms_code", "security_code", "recovery_code", "backup_code",
        "subject_token", "actor_token", "id_token_hint", "authenticity_token", "csrfmiddlewaretoken",
        "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature",
        "x-goog-credential",
    ]

    /// The rules for this request and its response: ``secretFields``, ``secretParameters``, and the additions
    /// of credential and signature.
    public var redaction: Redaction {
        var redaction = Redaction(fields: secretFields, parameters: secretParameters)
        if let additions = secretAdditionsIfAny { redaction.texts = additions.texts }
        return redaction
    }

    /// The URL with the user info and the values of secret parameters replaced.
    public var shownURL: String { redaction.shown(url: urlText) }

    /// The URL as text, without user info, query and fragment, and without a credential in the path.
    package var shownURLWithoutQuery: String {
        var text = urlText
        let (url, mayHaveSecret) = text.withUTF8 { bytes in
            // It runs for each traced request, hence the plain loop. It looks for what ``Redaction/shown(url:)``
            // replaces before a query; change both.
            var (end, mayHaveSecret) = (0, false)
            while end < bytes.count {
                let byte = unsafe bytes[end]
                if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
                // User info, a pair in the path, or the beginning of a token.
                let isToken =
                    unsafe byte == UInt8(ascii: "J") && end > 0 && bytes[end - 1] == UInt8(ascii: "y")
                mayHaveSecret =
                    mayHaveSecret || isToken || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "&")
                end += 1
            }
            return (unsafe String(decoding: bytes[..<end], as: UTF8.self), mayHaveSecret)
        }
        guard mayHaveSecret || secretAdditionsIfAny?.texts.isEmpty == false else { return url }
        return redaction.shown(url: url)
    }

    /// The URL without user info, query and fragment, and without a credential in the path.
    var redactedURL: URL? {
        guard let redacted = url.redacted else { return nil }
        let text = redacted.absoluteString
        let shown = redaction.shown(url: text)
        return shown == text ? redacted : URL(string: shown)
    }
}

extension Redaction {
    /// Content with secret values replaced: forms, multipart content, event streams, and every other text, in which
    /// JSON, URLs and tokens are looked for. It may be malformed, or truncated anywhere. Binary content is returned
    /// unchanged.
    ///
    /// - Parameter type: the `Content-Type`, which may be missing or wrong.
    public func shown(_ content: [UInt8], type: String?) -> [UInt8] {
        shown(content) { finder, mark in finder.content(type: type, &mark) }
    }

    /// A JSON text with the values of secret members, secrets in URLs, and tokens replaced. It may be malformed or
    /// truncated.
    public func shown(json: [UInt8]) -> [UInt8] { shown(json) { finder, mark in finder.text(&mark) } }

    /// A URL, or a text that contains URLs, with the user info, the values of secret parameters, and tokens replaced.
    public func shown(url text: String) -> String {
        shown(text) { finder, mark in finder.url(&mark).merging(finder.tokens(&mark)) }
    }

    /// The pairs of a query or an `application/x-www-form-urlencoded` body, with secret values and tokens replaced.
    public func shown(form text: String) -> String {
        shown(text) { finder, mark in finder.form(&mark) }
    }

    /// The fields in order, with secret values replaced. In the values of other fields, the secrets of URLs and JSON
    /// and tokens are replaced.
    public func shown(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { field in (field.name.rawName, shown(field)) }
    }

    private func shown(_ field: HTTPField) -> String {
        guard !hides(field.name) else { return Self.mark }
        return shown(field.value) { finder, mark in finder.text(&mark, isInText: false) }
    }

    private func shown(_ text: String, _ find: (SecretFinder, inout Mark) -> TextEdits) -> String {
        String(decoding: shown(Array(text.utf8), find), as: UTF8.self)
    }

    private func shown(_ content: [UInt8], _ find: (SecretFinder, inout Mark) -> TextEdits) -> [UInt8] {
        var mark = Mark()
        return find(SecretFinder(content, self), &mark).applied(to: content)
    }
}

/// Replaces each secret by ``Redaction/mark``.
private struct Mark: SecretReplacement {
    var keepsShape: Bool { false }

    func placeholder(for secret: String) -> String { Redaction.mark }
}

extension StringProtocol {
    /// The text with form escapes decoded (WHATWG URL §5.1); invalid escapes stay.
    package var decodedAsForm: String {
        String(decoding: UnescapedText(form: Array(utf8)[...]).bytes, as: UTF8.self)
    }
}

/// A value whose description is all that logs, `dump` and debuggers show of it, because its properties may hold
/// secrets.
///
/// A conforming type states its `description`.
public protocol RedactedDescription:
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{}

extension RedactedDescription {
    /// The redacted `description`, so that debugging output shows no secrets either.
    public var debugDescription: String { description }

    /// Empty, so that `dump` and debuggers show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    /// A text that may be a URL, quoted for an error message: without query and fragment, and only from its last `@`
    /// on, because user info may stand before it. ``Redaction/mark`` if the user info may contain a raw `?` or `#`.
    package var withoutSecrets: String {
        let (slash, at) = (UInt8(ascii: "/"), UInt8(ascii: "@"))
        let shown = utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if utf8[shown.endIndex...].contains(at) {
            // The `@` belongs to the query only after a path, behind a host without anything but a port after its `:`.
            let parts = shown.split(separator: slash, maxSplits: 3, omittingEmptySubsequences: false)
            let hasAuthority = parts.count > 2 && parts[1].isEmpty
            let authority = hasAuthority ? parts[2] : parts[0]
            let colon = authority.lastIndex(of: UInt8(ascii: ":"))
            let port = colon.map { authority[$0...].dropFirst() }
            let hasPort = hasAuthority && port?.isEmpty == false && port?.allSatisfy(\.isDigit) == true
            guard colon == nil || hasPort, !hasAuthority || parts.count == 4 && !authority.isEmpty else {
                return Redaction.mark.debugDescription
            }
        }
        let start = shown.lastIndex(of: at) ?? shown.startIndex
        return String(self[start..<shown.endIndex]).debugDescription
    }
}
