public import FoundationEssentials
public import RxHTTP

/// One cookie, as set by a server and stored in a ``CookieJar`` (RFC 6265).
///
/// The value is a secret: printing a cookie shows everything else.
public struct Cookie: Sendable, Hashable, Codable {
    // Saved in this form (`CookieFile`): a new member must be optional, otherwise older files are given up.

    /// The name; empty for a cookie that consists of a value only.
    public let name: String
    /// The value as in `Set-Cookie`, including quotes.
    public let value: String
    /// The host of the cookie, in lower case and ASCII, without a leading dot.
    public let domain: String
    /// Whether the cookie is not sent to subdomains of ``domain``.
    public let isHostOnly: Bool
    /// The path below which the cookie is sent.
    public let path: String
    /// The expiry; `nil` for a session cookie.
    public let expires: Date?
    /// Whether the cookie is sent over https only.
    public let isSecure: Bool
    /// Whether the cookie is intended to be hidden from scripts.
    public let isHTTPOnly: Bool
    /// The server's rule for requests from other sites. Stored but not applied: requests of an app come from
    /// no site.
    public let sameSite: SameSite?
    /// The time when the cookie was first set; a new value of the same cookie keeps it. For a cookie that was
    /// in no jar yet, the time of its creation.
    public internal(set) var created: Date
    /// The time when the cookie was last set or sent.
    public internal(set) var lastUsed: Date

    /// The values of the `SameSite` attribute.
    public enum SameSite: String, Sendable, Codable {
        // In lower case, as `SetCookie` reads them. Files contain them.

        /// Sent with requests from the same site only.
        case strict
        /// Sent with requests from the same site, and when a user follows a link.
        case lax
        /// Sent with all requests: the value `None` of the attribute.
        case unrestricted = "none"
    }

    /// Creates a cookie for ``CookieJar/set(_:)``.
    ///
    /// - Parameters:
    ///   - name: the name; empty for a cookie that consists of a value only.
    ///   - value: the value.
    ///   - domain: the host of the cookie, with or without a leading dot.
    ///   - isHostOnly: whether the cookie is not sent to subdomains of the domain. Default `nil`: true unless
    ///     the domain has a leading dot.
    ///   - path: the path below which the cookie is sent. Default `/`.
    ///   - expires: the expiry. Default `nil`: the cookie ends with the session.
    ///   - isSecure: whether the cookie is sent over https only. Default false.
    ///   - isHTTPOnly: whether the cookie is intended to be hidden from scripts. Default false.
    ///   - sameSite: the `SameSite` attribute. Default `nil`: no attribute.
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool? = nil, path: String = "/",
        expires: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil
    ) {
        self.init(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, created: Date())
    }

    init(
        name: String, value: String, domain: String, isHostOnly: Bool?, path: String, expires: Date?,
        isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite?, created: Date, lastUsed: Date? = nil
    ) {
        let isDotted = domain.hasPrefix(".")
        self.name = name
        self.value = value
        self.domain = CookieOrigin.canonical(isDotted ? String(domain.dropFirst()) : domain)
        self.isHostOnly = isHostOnly ?? !isDotted
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.created = created
        self.lastUsed = lastUsed ?? created
    }

    /// Whether the cookie ends with the session because it has no expiry.
    public var isSession: Bool { expires == nil }

    /// Whether the cookie has expired at `date`.
    public func isExpired(at date: Date) -> Bool { expires.map { $0 <= date } ?? false }

    /// The cookie as in a `Cookie` field.
    var pair: String { name.isEmpty ? value : name + "=" + value }

    /// Whether setting `other` replaces this cookie: both have the same ``id``.
    func isSame(as other: Cookie) -> Bool {
        name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
    }
}

extension Cookie: RedactedDescription {
    /// One line without the value.
    public var description: String {
        var parts = ["\(name)=…", (isHostOnly ? "" : "*.") + domain + path]
        if isSecure { parts.append("Secure") }
        if isHTTPOnly { parts.append("HttpOnly") }
        if let sameSite { parts.append("SameSite=\(sameSite)") }
        return parts.joined(separator: "; ")
    }
}

/// The reason why a ``CookieJar`` refused a cookie.
public enum CookieRefusal: String, Error, Sendable {
    /// The cookie contains a control character, or bytes that are not UTF-8.
    case invalidCharacter
    /// The cookie has neither a name nor a value.
    case empty
    /// Name and value together are larger than 4,096 bytes.
    case tooLarge
    /// The URL of the cookie is not an http or https URL.
    case invalidURL
    /// The domain of the cookie is neither the host that set it nor one of its parent domains.
    case foreignDomain
    /// The domain of the cookie is a public suffix, under which anyone can register names, such as `co.uk`.
    case publicSuffix
    /// The cookie is marked `Secure`, but was not received over https.
    case insecureOrigin
    /// The cookie was not received over https and would replace one that is marked `Secure`.
    case overwritesSecure
    /// The name of the cookie begins with `__Secure-` or `__Host-`, but the cookie does not meet the
    /// conditions of the prefix.
    case brokenPrefix
    /// No server could have set the cookie: its path or its domain is invalid, or it is for the subdomains of
    /// a public suffix or of an address.
    case unsound
}
