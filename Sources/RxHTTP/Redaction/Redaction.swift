import FoundationEssentials
public import HTTPTypes

/// What must not be seen in logs and exports: which header fields and which parameters hold secrets.
///
/// Each request has its own, ``Request/redaction``. Everything this library prints of a request or its answer
/// goes through it; so should what you print of a ``RxClient/TrafficEvent`` yourself.
///
/// A parameter is known by its name, in any case of ASCII letters, wherever it stands: in a query, a fragment, a
/// form, at any depth of a JSON document. `user[password]` and `user.password` are `password`.
public struct Redaction: Sendable, Equatable {
    /// What stands in the place of a secret.
    public static let mark = "…"

    /// Fields whose values are never shown.
    public var fields: Set<HTTPField.Name>

    /// In lower case.
    private let parameters: Set<String>

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - fields: hidden besides `Authorization`, `Cookie`, `Set-Cookie` and `Proxy-Authorization`.
    ///   - parameters: the names of parameters that are hidden besides ``Request/usualSecretParameters``.
    public init(fields: Set<HTTPField.Name> = [], parameters: Set<String> = []) {
        self.fields = fields.union([.authorization, .cookie, .setCookie, .proxyAuthorization])
        self.parameters = Request.usualSecretParameters.union(parameters.map { $0.lowercased() })
    }

    /// Whether the value of the parameter must not be seen.
    public func hides(_ parameter: some StringProtocol) -> Bool {
        let name = parameter.lowercased()
        if parameters.contains(name) { return true }
        guard let last = name.split(whereSeparator: { "[].".contains($0) }).last else { return false }
        return last.utf8.count < name.utf8.count && parameters.contains(String(last))
    }

    /// The fields in their order, secret values replaced; of those that hold URLs, the secrets in these.
    public func shown(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { field in (field.name.rawName, shown(field)) }
    }

    private func shown(_ field: HTTPField) -> String {
        guard !fields.contains(field.name) else { return Self.mark }
        return Self.fieldsWithURLs.contains(field.name) ? shown(url: field.value) : field.value
    }

    private static let fieldsWithURLs: Set<HTTPField.Name> = [
        .location, .contentLocation, .referer, HTTPField.Name("Link")!, HTTPField.Name("Refresh")!,
    ]
}

extension Request {
    /// Names that hold secrets more often than not: of OAuth (RFC 6749, RFC 6750 §2.3), of logins, and of signed
    /// URLs. In lower case.
    public static let usualSecretParameters: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "client_secret", "client_assertion",
        "code_verifier",
        "assertion", "password", "passwd", "pwd", "secret", "api_key", "apikey", "signature", "sig",
        "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature",
        "x-goog-credential",
    ]

    /// What must not be seen of this request and its answer: ``secretFields`` and ``secretParameters``.
    public var redaction: Redaction { Redaction(fields: secretFields, parameters: secretParameters) }

    /// The URL as it may be shown: secret parameters replaced, and user info.
    public var shownURL: String { redaction.shown(url: url.absoluteString) }
}
