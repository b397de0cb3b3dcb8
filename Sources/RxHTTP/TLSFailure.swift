/// The reason of a TLS failure. Open-ended, as ``NetworkError/Code`` is.
public struct TLSFailure: RawRepresentable, Hashable, Sendable {
    /// The name, as it is printed.
    public var rawValue: String

    /// Creates a kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A certificate has expired.
    public static let expired = TLSFailure(rawValue: "expired")
    /// A certificate is for later.
    public static let notYetValid = TLSFailure(rawValue: "notYetValid")
    /// The certificate is for other hosts.
    public static let hostMismatch = TLSFailure(rawValue: "hostMismatch")
    /// The certificate's issuer is not among the trusted ones.
    public static let unknownAuthority = TLSFailure(rawValue: "unknownAuthority")
    /// The certificate is its own issuer, and is not trusted as such.
    public static let selfSigned = TLSFailure(rawValue: "selfSigned")
    /// A certificate has been revoked.
    public static let revoked = TLSFailure(rawValue: "revoked")
    /// The server's key matches no pinned key.
    public static let pinMismatch = TLSFailure(rawValue: "pinMismatch")
    /// No version of TLS that both sides accept.
    public static let protocolVersion = TLSFailure(rawValue: "protocolVersion")
    /// The client's certificate is missing, cannot be read or was refused by the server.
    public static let clientCertificate = TLSFailure(rawValue: "clientCertificate")
    /// The file of trusted authorities cannot be read.
    public static let caBundle = TLSFailure(rawValue: "caBundle")
}
