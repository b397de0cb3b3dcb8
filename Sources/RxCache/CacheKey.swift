public import RxHTTP

/// The key that a response is stored under. Responses with the same key are variants of each other: the
/// server selected them by other fields of the request (RFC 9111 §4.1).
public struct CacheKey: Hashable, Sendable, Codable {
    /// The rules by which a response is stored. Responses stored by one set of rules are never used by
    /// another.
    public enum Rules: String, Sendable, Codable {
        /// RFC 9111.
        case http
        /// A lifetime that the app sets.
        case time
    }

    /// The rules by which the response is stored.
    public var rules: Rules
    /// The method of the request.
    public var method: String
    /// The absolute URL, with query and without fragment.
    public var url: String
    /// The identity of the requester: a name or a number of the account, or a digest of its credential; never the
    /// credential itself. Empty without an account.
    public var identity: String
    /// A digest of the request's content; empty without content.
    public var content: String

    /// Creates a key.
    public init(
        rules: Rules, method: String = "GET", url: String, identity: String = "", content: String = ""
    ) {
        self.rules = rules
        self.method = method
        self.url = url
        self.identity = identity
        self.content = content
    }

    /// Whether the response represents the resource at the URL, and is not the result of a POST.
    package var isResource: Bool { method == "GET" }

    /// The URL before the query.
    public var place: Substring { url.prefix { $0 != "?" } }
}

extension CacheKey: RedactedDescription {
    /// Method and URL without user info and query.
    public var description: String { "\(method) \(url.withoutSecrets) (\(rules))" }
}
