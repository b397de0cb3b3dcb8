import CLibcurl

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The authorities that a transport trusts, and the certificate of the client.
public struct TLSConfiguration: Sendable {
    /// Whether the server's certificate and host name are verified (`CURLOPT_SSL_VERIFYPEER`,
    /// `CURLOPT_SSL_VERIFYHOST`). Default true; use false only for experiments.
    public var verifiesServer = true
    /// Whether a server must speak TLS 1.3 (RFC 8446) or newer (`CURLOPT_SSLVERSION`). Default false: TLS 1.2 (RFC 5246) is
    /// accepted too; older versions are not supported (RFC 8996).
    public var requiresTLS13 = false
    /// A file of trusted certificate authorities in PEM format, instead of the system's (`CURLOPT_CAINFO`).
    /// Default `nil`: the authorities of the system, also if libcurl was built for a system that keeps them elsewhere.
    public var caBundlePath: String?
    /// Pinned public keys: the server must have one of them in addition to a trusted certificate: `sha256//` and the
    /// base64 of the key's SHA-256 (RFC 7469 §2.4), several separated by `;`, or a file (`CURLOPT_PINNEDPUBLICKEY`).
    /// Default `nil`: any key is accepted.
    public var pinnedPublicKey: String?
    /// A file with the certificate of the client and the intermediate certificates, in PEM format
    /// (`CURLOPT_SSLCERT`). Default `nil`: no certificate is sent.
    public var clientCertificatePath: String?
    /// A file with the private key of the client's certificate (`CURLOPT_SSLKEY`), if it is not in the same
    /// file.
    public var clientKeyPath: String?
    /// The password of the private key (`CURLOPT_KEYPASSWD`).
    public var clientKeyPassword: String?

    /// Creates a configuration with the defaults: the system's authorities, TLS 1.2 or newer.
    public init() {}
}

/// The system's file of trusted authorities.
enum SystemAuthorities {
    /// The usual paths: of Debian, of Fedora, of openSUSE, and of Alpine and the BSDs.
    static let usualPaths = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The file to use in place of the running libcurl's; `nil` to use libcurl's.
    static let file: String? = {
        // The members that name them belong to the seventh version of the structure, of libcurl 7.70.
        guard let info = unsafe curl_version_info(CURLVERSION_SEVENTH)?.pointee else { return nil }
        let (file, folder) = unsafe (
            info.cainfo.map { unsafe String(cString: $0) }, info.capath.map { unsafe String(cString: $0) }
        )
        return Self.file(insteadOf: file, folder) { unsafe access($0, R_OK) == 0 }
    }()

    /// The first of ``usualPaths``, if libcurl was built for a system that keeps its authorities elsewhere.
    ///
    /// - Parameters:
    ///   - file: the file that libcurl was built with (`cainfo`), if any.
    ///   - folder: the folder that libcurl was built with (`capath`), if any.
    static func file(insteadOf file: String?, _ folder: String?, exists: (String) -> Bool) -> String? {
        guard let first = file ?? folder, !exists(first) else { return nil }
        return usualPaths.first(where: exists)
    }
}

extension TLSConfiguration: CustomReflectable {
    /// All settings except the password.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "verifiesServer": verifiesServer, "requiresTLS13": requiresTLS13,
                "caBundlePath": caBundlePath as Any, "pinnedPublicKey": pinnedPublicKey as Any,
                "clientCertificatePath": clientCertificatePath as Any,
                "clientKeyPath": clientKeyPath as Any,
            ])
    }
}
