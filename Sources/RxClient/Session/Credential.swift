public import FoundationEssentials
public import RxHTTP

/// The proof of identity in requests: a token, and its expiry.
public struct Credential: Sendable, Hashable, Codable {
    /// The token that requests carry.
    public var token: String
    /// The token for requesting a new one, if the server provides one.
    public var refreshToken: String?
    /// The expiry of the token, if known. The session renews it ahead of that time.
    public var expires: Date?
    /// A name of the account that is the same after each login, and unique. With it, the next process finds
    /// the account's stored responses again.
    public var account: String?

    /// Creates a credential.
    public init(token: String, refreshToken: String? = nil, expires: Date? = nil, account: String? = nil) {
        self.token = token
        self.refreshToken = refreshToken
        self.expires = expires
        self.account = account
    }

    /// This credential, with the account's name of a former one if it has none itself: a login or a renewal rarely
    /// repeats the name, but the next process needs it.
    func keepingAccount(of former: Credential?) -> Credential {
        var credential = self
        credential.account = account ?? former?.account
        return credential
    }
}

extension Credential: RedactedDescription {
    /// A text without the tokens.
    public var description: String { "Credential(hidden)" }
}
