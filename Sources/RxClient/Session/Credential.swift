public import FoundationEssentials

/// What proves who is asking: a token, and when it stops being good.
public struct Credential: Sendable, Hashable, Codable {
    /// The token that requests carry.
    public var token: String
    /// The token that a new one is asked for with, if the server gives such.
    public var refreshToken: String?
    /// When the token expires, if that is known. It is renewed ahead of that time.
    public var expires: Date?
    /// A name of the account that is the same whenever it logs in, and no other's. With it what a cache keeps of the
    /// account is found again by the next process.
    public var account: String?

    /// Creates a credential.
    public init(token: String, refreshToken: String? = nil, expires: Date? = nil, account: String? = nil) {
        self.token = token
        self.refreshToken = refreshToken
        self.expires = expires
        self.account = account
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the tokens.
    public var description: String { "Credential(hidden)" }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
