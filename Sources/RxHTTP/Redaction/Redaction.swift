import FoundationEssentials
public import HTTPTypes

/// The rules for hiding secrets in logs and exports: which header fields and parameters contain secrets.
///
/// Each request has its rules, ``Request/redaction``. This library applies them to everything it prints of a
/// request or its response; apply them to what you print of a ``TrafficEvent`` yourself.
///
/// A parameter is identified by its name, wherever it occurs: in a query, a fragment, a form, a part of a
/// multipart form, or at any depth of a JSON document. Case, `-`, `_` and spaces are ignored: `access_token`
/// matches `accessToken` and `ACCESS-TOKEN`. `user[password]`, `user.password` and `password[0]` match
/// `password`.
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

    /// Whether the value of the parameter is hidden.
    public func hides(_ parameter: some StringProtocol) -> Bool {
        if isSecret(Self.spelling(parameter)) { return true }
        guard parameter.utf8.contains(where: Self.isBetweenNames) else { return false }
        return parameter.utf8.split(whereSeparator: Self.isBetweenNames).contains {
            isSecret(Self.spelling(String(decoding: $0, as: UTF8.self)))
        }
    }

    /// Whether the value of the header field is hidden.
    public func hides(_ field: HTTPField.Name) -> Bool {
        if fields.contains(field) { return true }
        let name = field.canonicalName
        return hides(name) || name.hasPrefix("x-") && hides(name.dropFirst(2))
    }

    private func isSecret(_ name: String) -> Bool { Self.usual.contains(name) || parameters.contains(name) }

    private static func isBetweenNames(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    /// A name in lower case, without the characters that differ between naming conventions.
    private static func spelling(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// The fields in order, with secret values replaced. In fields that contain URLs, the secrets in these
    /// are replaced.
    public func shown(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { field in (field.name.rawName, shown(field)) }
    }

    private func shown(_ field: HTTPField) -> String {
        guard !hides(field.name) else { return Self.mark }
        return Self.fieldsWithURLs.contains(field.name) ? shown(url: field.value) : field.value
    }

    private static let fieldsWithURLs: Set<HTTPField.Name> = [
        .location, .contentLocation, .referer, HTTPField.Name("Link")!, HTTPField.Name("Refresh")!,
    ]
}

extension Redaction: CustomReflectable {
    /// Empty, because ``texts`` are secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Request {
    /// Names that usually stand for secrets: of OAuth (RFC 6749, RFC 6750 §2.3), of logins, and of signed
    /// URLs. They match in any spelling; see ``Redaction``.
    public static let usualSecretParameters: Set<String> = [
        "access_token", "refresh_token", "id_token", "auth_token", "session_token", "csrf_token",
        "xsrf_token", "token", "jwt",
        "client_secret", "client_assertion", "code_verifier", "assertion",
        "password", "passwd", "pwd", "passphrase", "new_password", "old_password", "current_password",
        "confirm_password", "password_confirmation",
        "secret", "secret_key", "private_key", "api_key", "api_secret", "api_token", "signature", "sig",
        "authorization",
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
    package var shownPlace: String {
        var text = urlText
        let (place, hasUserInfo) = text.withUTF8 { bytes in
            // It runs for each traced request, hence the plain loop.
            var (end, hasUserInfo) = (0, false)
            while end < bytes.count {
                let byte = unsafe bytes[end]
                if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
                hasUserInfo = hasUserInfo || byte == UInt8(ascii: "@")
                end += 1
            }
            return (unsafe String(decoding: bytes[..<end], as: UTF8.self), hasUserInfo)
        }
        guard hasUserInfo || secretAdditionsIfAny?.texts.isEmpty == false else { return place }
        return redaction.shown(url: place)
    }

    /// The URL without user info, query and fragment, and without a credential in the path.
    var redactedURL: URL? {
        guard let redacted = url.redacted, secretAdditionsIfAny?.texts.isEmpty == false else {
            return url.redacted
        }
        return URL(string: redaction.shown(url: redacted.absoluteString))
    }
}
