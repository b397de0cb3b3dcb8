/// The reason of a TLS failure. Open-ended, like ``NetworkError/Code``.
public struct TLSFailure: RawRepresentable, Hashable, Sendable {
    /// The name, as printed.
    public var rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A certificate has expired.
    public static let expired = TLSFailure(rawValue: "expired")
    /// A certificate is not valid yet.
    public static let notYetValid = TLSFailure(rawValue: "notYetValid")
    /// The certificate is for other host names.
    public static let hostMismatch = TLSFailure(rawValue: "hostMismatch")
    /// The issuer of the certificate is not trusted.
    public static let unknownAuthority = TLSFailure(rawValue: "unknownAuthority")
    /// The certificate is self-signed and not trusted.
    public static let selfSigned = TLSFailure(rawValue: "selfSigned")
    /// A certificate has been revoked.
    public static let revoked = TLSFailure(rawValue: "revoked")
    /// The server's key does not match any pinned key.
    public static let pinMismatch = TLSFailure(rawValue: "pinMismatch")
    /// Client and server have no TLS version in common.
    public static let protocolVersion = TLSFailure(rawValue: "protocolVersion")
    /// The client's certificate is missing, unreadable, or refused by the server.
    public static let clientCertificate = TLSFailure(rawValue: "clientCertificate")
    /// The file of trusted authorities cannot be read.
    public static let caBundle = TLSFailure(rawValue: "caBundle")
}
