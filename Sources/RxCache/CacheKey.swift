import RxHTTP

/// The key that a response is stored under. Responses of one key are variants of each other: the server chose
/// between them by other fields of the request (RFC 9111 §4.1).
public struct CacheKey: Hashable, Sendable, Codable {
    /// The rules that store the response. Responses stored by one are never used by another.
    public enum Rules: String, Sendable, Codable {
        /// RFC 9111.
        case http
        /// For a time that the app sets.
        case time
    }

    /// Which rules keep it.
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

    /// The URL up to the query.
    public var place: Substring { url.prefix { $0 != "?" } }
}

extension CacheKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL without user info and query.
    public var description: String { "\(method) \(url.withoutSecrets) (\(rules))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
