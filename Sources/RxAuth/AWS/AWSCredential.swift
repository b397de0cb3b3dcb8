#if Auth
public import FoundationEssentials
public import RxHTTP

/// Keys of an AWS account or role, by which requests are signed.
public struct AWSCredential: Sendable, Hashable {
    /// The id of the access key, which each signature names.
    public var accessKeyID: String
    /// The secret of the access key. It is never sent.
    public var secretAccessKey: String
    /// The session token of temporary keys, which is sent with each request; `nil` for permanent keys.
    public var sessionToken: String?
    /// When the keys expire; `nil` if they do not, or if that is unknown.
    public var expires: Date?

    /// Creates a credential.
    public init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expires: Date? = nil
    ) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expires = expires
    }
}

extension AWSCredential: RedactedDescription {
    /// Whether the keys are temporary; never a key.
    public var description: String { sessionToken == nil ? "permanent AWS keys" : "temporary AWS keys" }
}
#endif
