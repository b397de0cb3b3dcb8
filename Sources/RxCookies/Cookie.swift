public import FoundationEssentials

/// One cookie, as a server set it and a ``CookieJar`` keeps it (RFC 6265).
///
/// Its value is a secret: printing a cookie shows everything else.
public struct Cookie: Sendable, Hashable, Codable {
    /// The name; empty for a cookie that is a bare value.
    public let name: String
    /// The value, as it stood in `Set-Cookie`, quotes included.
    public let value: String
    /// The host it belongs to, in lower case and ASCII, without a leading dot.
    public let domain: String
    /// Whether hosts below ``domain`` do not get it.
    public let isHostOnly: Bool
    /// The path it is sent to, and below.
    public let path: String
    /// When it ends; `nil` for a session cookie.
    public let expires: Date?
    /// Whether it goes out over https only.
    public let isSecure: Bool
    /// Whether it is meant to be hidden from scripts.
    public let isHTTPOnly: Bool
    /// The server's rule for requests from other sites. Kept and not acted upon: requests of an app come from no site.
    public let sameSite: SameSite?
    /// When it was first set; a new value of the same cookie keeps the time. Of a cookie that was in no jar yet, when
    /// it was made.
    public internal(set) var created: Date
    /// When it was last set or sent.
    public internal(set) var lastUsed: Date

    /// The values of the `SameSite` attribute.
    public enum SameSite: String, Sendable, Codable {
        /// Requests from the same site only.
        case strict
        /// Those, and following a link.
        case lax
        /// All requests: the attribute's `None`.
        case unrestricted = "none"
    }

    /// Creates a cookie, to be given to ``CookieJar/set(_:)``.
    ///
    /// - Parameters:
    ///   - name: the name; empty for a bare value.
    ///   - value: the value.
    ///   - domain: the host it belongs to, with or without a leading dot.
    ///   - isHostOnly: whether hosts below the domain do not get it. Default `nil`: unless the domain has a leading
    ///     dot.
    ///   - path: the path it is sent to, and below. Default `/`.
    ///   - expires: when it ends. Default `nil`: with the session.
    ///   - isSecure: whether it goes out over https only. Default false.
    ///   - isHTTPOnly: whether it is meant to be hidden from scripts. Default false.
    ///   - sameSite: the `SameSite` attribute. Default `nil`: it has none.
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

    /// Whether it ends with the session: nothing says how long it lives.
    public var isSession: Bool { expires == nil }

    /// Whether it is over at `date`.
    public func isExpired(at date: Date) -> Bool { expires.map { $0 <= date } ?? false }

    /// How it stands in a `Cookie` field.
    var pair: String { name.isEmpty ? value : name + "=" + value }

    /// Whether setting `other` replaces this one.
    func isSame(as other: Cookie) -> Bool {
        name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line without the value.
    public var description: String {
        var parts = ["\(name)=…", (isHostOnly ? "" : "*.") + domain + path]
        if isSecure { parts.append("Secure") }
        if isHTTPOnly { parts.append("HttpOnly") }
        if let sameSite { parts.append("SameSite=\(sameSite)") }
        return parts.joined(separator: "; ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
