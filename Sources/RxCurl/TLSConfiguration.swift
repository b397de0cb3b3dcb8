/// The authorities that a transport trusts, and its own certificate.
public struct TLSConfiguration: Sendable {
    /// A version of TLS.
    public enum Version: Sendable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// Whether the server's certificate and host name are checked (`CURLOPT_SSL_VERIFYPEER`,
    /// `CURLOPT_SSL_VERIFYHOST`). Default true; false is for experiments.
    public var verifiesServer = true
    /// The oldest version that is accepted (`CURLOPT_SSLVERSION`). Default TLS 1.2; older ones are not offered
    /// (RFC 8996).
    public var minimumVersion = Version.tls12
    /// A file of accepted certificate authorities in PEM format, instead of the system's
    /// (`CURLOPT_CAINFO`).
    public var caBundlePath: String?
    /// Public keys of which the server must have one, in addition to a trusted certificate: `sha256//` and base64 of
    /// the key's SHA-256 (RFC 7469 §2.4), several separated by `;`, or a file (`CURLOPT_PINNEDPUBLICKEY`). Default
    /// none.
    public var pinnedPublicKey: String?
    /// A file with the client's certificate in PEM format, and those between it and its authority
    /// (`CURLOPT_SSLCERT`).
    public var clientCertificatePath: String?
    /// A file with the private key for it (`CURLOPT_SSLKEY`), if it is not in the same file.
    public var clientKeyPath: String?
    /// The password of the private key (`CURLOPT_KEYPASSWD`).
    public var clientKeyPassword: String?

    /// The defaults: the system's authorities, TLS 1.2 or newer.
    public init() {}
}

extension TLSConfiguration: CustomReflectable {
    /// All but the password.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "verifiesServer": verifiesServer, "minimumVersion": minimumVersion,
                "caBundlePath": caBundlePath as Any, "pinnedPublicKey": pinnedPublicKey as Any,
                "clientCertificatePath": clientCertificatePath as Any,
                "clientKeyPath": clientKeyPath as Any,
            ])
    }
}
