import FoundationEssentials
public import HTTPTypes

/// The rules by which secrets are hidden in logs and exports: which header fields and which parameters hold some.
///
/// Each request has its own, ``Request/redaction``. Everything this library prints of a request or its response
/// goes through it; so should what you print of a ``RxClient/TrafficEvent`` yourself.
///
/// A parameter is known by its name, wherever it stands: in a query, a fragment, a form, a part of a multipart form, at any
/// depth of a JSON document. Neither case nor `-`, `_` and spaces matter: `access_token` is `accessToken` and
/// `ACCESS-TOKEN`. `user[password]`, `user.password` and `password[0]` are `password`.
public struct Redaction: Sendable, Equatable {
    /// The text that stands in the place of a secret.
    public static let mark = "…"

    /// Fields whose values are never shown.
    public var fields: Set<HTTPField.Name>
    /// Path segments, and names without a value, that are secrets themselves.
    package var texts: Set<String> = []

    /// As ``spelling(_:)`` has them.
    private let parameters: Set<String>

    private static let usual = Set(Request.usualSecretParameters.map { spelling($0) })
    private static let usualFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .setCookie, .proxyAuthorization,
    ]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - fields: hidden besides `Authorization`, `Cookie`, `Set-Cookie`, `Proxy-Authorization`, and those with the
    ///     name of a secret parameter, with or without `X-` before it.
    ///   - parameters: the names of parameters that are hidden besides ``Request/usualSecretParameters``.
    public init(fields: Set<HTTPField.Name> = [], parameters: Set<String> = []) {
        self.fields = fields.union(Self.usualFields)
        self.parameters = Set(parameters.map { Self.spelling($0) })
    }

    /// Whether the value of the parameter must not be seen.
    public func hides(_ parameter: some StringProtocol) -> Bool {
        if isSecret(Self.spelling(parameter)) { return true }
        guard parameter.utf8.contains(where: Self.isBetweenNames) else { return false }
        return parameter.utf8.split(whereSeparator: Self.isBetweenNames).contains {
            isSecret(Self.spelling(String(decoding: $0, as: UTF8.self)))
        }
    }

    /// Whether the value of the header field must not be seen.
    public func hides(_ field: HTTPField.Name) -> Bool {
        if fields.contains(field) { return true }
        let name = field.canonicalName
        return hides(name) || name.hasPrefix("x-") && hides(name.dropFirst(2))
    }

    private func isSecret(_ name: String) -> Bool { Self.usual.contains(name) || parameters.contains(name) }

    private static func isBetweenNames(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    /// A name in lower case and without the signs that differ from one convention to another.
    private static func spelling(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// The fields in their order, secret values replaced; of those that hold URLs, the secrets in these.
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
    /// Nothing, since ``texts`` are secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Request {
    /// Names that hold secrets more often than not: of OAuth (RFC 6749, RFC 6750 §2.3), of logins, and of signed
    /// URLs. Any spelling of them counts; see ``Redaction``.
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

    /// The rules for this request and its response: ``secretFields``, ``secretParameters``, and whatever credential and
    /// signature have added.
    public var redaction: Redaction {
        var redaction = Redaction(fields: secretFields, parameters: secretParameters)
        if let additions = secretAdditionsIfAny { redaction.texts = additions.texts }
        return redaction
    }

    /// The URL as it may be shown: secret parameters replaced, and user info.
    public var shownURL: String { redaction.shown(url: urlText) }

    /// The URL without user info, query and fragment, nor a credential in the path.
    var redactedURL: URL? {
        guard let redacted = url.redacted, secretAdditionsIfAny?.texts.isEmpty == false else {
            return url.redacted
        }
        return URL(string: redaction.shown(url: redacted.absoluteString))
    }
}
