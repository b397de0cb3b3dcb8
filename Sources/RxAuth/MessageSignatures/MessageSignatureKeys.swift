#if Auth
import Crypto
import CryptoExtras
import FoundationEssentials
public import RxHTTP

/// An algorithm of message signatures (RFC 9421 §3.3). By default ``MessageVerifier/Policy`` accepts all but
/// RSASSA-PKCS1-v1_5, and so any new one.
public enum MessageSignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// Ed25519 (RFC 8032).
    case ed25519
    /// ECDSA on the curve P-256 with SHA-256.
    case ecdsaP256SHA256 = "ecdsa-p256-sha256"
    /// ECDSA on the curve P-384 with SHA-384.
    case ecdsaP384SHA384 = "ecdsa-p384-sha384"
    /// HMAC with SHA-256, by a secret that both sides know.
    case hmacSHA256 = "hmac-sha256"
    /// RSASSA-PSS with SHA-512.
    case rsaPSSSHA512 = "rsa-pss-sha512"
    /// RSASSA-PKCS1-v1_5 with SHA-256, for peers that know no other.
    case rsaV15SHA256 = "rsa-v1_5-sha256"
}

/// A key that makes message signatures.
public struct MessageSigningKey: Sendable {
    private enum Key: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case hmac(SymmetricKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    /// The algorithm of the signatures.
    public let algorithm: MessageSignatureAlgorithm
    private let key: Key

    /// A key of Ed25519.
    ///
    /// - Parameter seed: the 32 bytes of the private key.
    /// - Throws: `invalidConfiguration` for another number of bytes.
    public static func ed25519(_ seed: [UInt8]) throws(NetworkError) -> MessageSigningKey {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
            throw .unusableKey("a private key of Ed25519 has 32 bytes")
        }
        return MessageSigningKey(algorithm: .ed25519, key: .ed25519(key))
    }

    /// A new key of Ed25519.
    public static func generated() -> MessageSigningKey {
        MessageSigningKey(algorithm: .ed25519, key: .ed25519(Curve25519.Signing.PrivateKey()))
    }

    /// A new key of P-256.
    public static func generatedP256() -> MessageSigningKey {
        MessageSigningKey(algorithm: .ecdsaP256SHA256, key: .p256(P256.Signing.PrivateKey()))
    }

    /// A secret that both sides know.
    ///
    /// - Throws: `invalidConfiguration` for fewer than 16 bytes.
    public static func hmacSHA256(_ secret: [UInt8]) throws(NetworkError) -> MessageSigningKey {
        guard secret.count >= 16 else { throw .unusableKey("a secret of HMAC has 16 bytes or more") }
        return MessageSigningKey(algorithm: .hmacSHA256, key: .hmac(SymmetricKey(data: secret)))
    }

    /// A private key as PEM text: of Ed25519 (RFC 8410), P-256, P-384, or RSA with 2048 bits or more.
    ///
    /// - Parameters:
    ///   - pem: the text, with its first and last line.
    ///   - algorithm: the algorithm of a key of RSA. Default RSASSA-PSS.
    /// - Throws: `invalidConfiguration` for text that is no such key. The error does not contain the text.
    public static func pem(
        _ pem: String, rsa algorithm: MessageSignatureAlgorithm = .rsaPSSSHA512
    ) throws(NetworkError) -> MessageSigningKey {
        if let seed = PEMText(pem)?.content(after: PEMText.ed25519PrivateKey, count: 32) {
            return try ed25519(seed)
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            return MessageSigningKey(algorithm: .ecdsaP256SHA256, key: .p256(key))
        }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            return MessageSigningKey(algorithm: .ecdsaP384SHA384, key: .p384(key))
        }
        if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) {
            guard algorithm == .rsaPSSSHA512 || algorithm == .rsaV15SHA256 else {
                throw .unusableKey("a key of RSA makes no signature of \(algorithm.rawValue)")
            }
            return MessageSigningKey(algorithm: algorithm, key: .rsa(key))
        }
        throw .unusableKey("the text is no private key of Ed25519, P-256, P-384 or RSA with 2048 bits")
    }

    /// The signature of bytes, in the form of RFC 9421 and of tokens (RFC 7518 §3.4): both numbers for ECDSA, not DER.
    func signature(of bytes: [UInt8]) throws(NetworkError) -> [UInt8] {
        do {
            switch key {
            case .ed25519(let key): return Array(try key.signature(for: bytes))
            case .p256(let key): return Array(try key.signature(for: bytes).rawRepresentation)
            case .p384(let key): return Array(try key.signature(for: bytes).rawRepresentation)
            case .hmac(let key): return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
            case .rsa(let key):
                if algorithm == .rsaV15SHA256 {
                    return Array(
                        try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
                            .rawRepresentation)
                }
                return Array(
                    try key.signature(for: SHA512.hash(data: bytes), padding: .PSS).rawRepresentation)
            }
        } catch {
            throw NetworkError(.invalidConfiguration, "the message cannot be signed by \(algorithm.rawValue)")
        }
    }

    /// The key that verifies the signatures of this one.
    public var verifyingKey: MessageVerifyingKey {
        switch key {
        case .ed25519(let key): MessageVerifyingKey(algorithm: algorithm, key: .ed25519(key.publicKey))
        case .p256(let key): MessageVerifyingKey(algorithm: algorithm, key: .p256(key.publicKey))
        case .p384(let key): MessageVerifyingKey(algorithm: algorithm, key: .p384(key.publicKey))
        case .hmac(let key): MessageVerifyingKey(algorithm: algorithm, key: .hmac(key))
        case .rsa(let key): MessageVerifyingKey(algorithm: algorithm, key: .rsa(key.publicKey))
        }
    }
}

/// A key that verifies message signatures.
public struct MessageVerifyingKey: Sendable {
    enum Key: Sendable {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
        case hmac(SymmetricKey)
        case rsa(_RSA.Signing.PublicKey)
    }

    /// The algorithm of the signatures. A signature of any other algorithm is refused, whatever it says.
    public let algorithm: MessageSignatureAlgorithm
    private let key: Key

    init(algorithm: MessageSignatureAlgorithm, key: Key) {
        self.algorithm = algorithm
        self.key = key
    }

    /// A key of Ed25519.
    ///
    /// - Parameter bytes: the 32 bytes of the public key.
    /// - Throws: `invalidConfiguration` for another number of bytes.
    public static func ed25519(_ bytes: [UInt8]) throws(NetworkError) -> MessageVerifyingKey {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
            throw .unusableKey("a public key of Ed25519 has 32 bytes")
        }
        return MessageVerifyingKey(algorithm: .ed25519, key: .ed25519(key))
    }

    /// A secret that both sides know.
    ///
    /// - Throws: `invalidConfiguration` for fewer than 16 bytes.
    public static func hmacSHA256(_ secret: [UInt8]) throws(NetworkError) -> MessageVerifyingKey {
        try MessageSigningKey.hmacSHA256(secret).verifyingKey
    }

    /// A public key as PEM text: of Ed25519 (RFC 8410), P-256, P-384, or RSA with 2048 bits or more.
    ///
    /// - Parameters:
    ///   - pem: the text, with its first and last line.
    ///   - algorithm: the algorithm of a key of RSA. Default RSASSA-PSS.
    /// - Throws: `invalidConfiguration` for text that is no such key.
    public static func pem(
        _ pem: String, rsa algorithm: MessageSignatureAlgorithm = .rsaPSSSHA512
    ) throws(NetworkError) -> MessageVerifyingKey {
        if let bytes = PEMText(pem)?.content(after: PEMText.ed25519PublicKey, count: 32) {
            return try ed25519(bytes)
        }
        if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) {
            return MessageVerifyingKey(algorithm: .ecdsaP256SHA256, key: .p256(key))
        }
        if let key = try? P384.Signing.PublicKey(pemRepresentation: pem) {
            return MessageVerifyingKey(algorithm: .ecdsaP384SHA384, key: .p384(key))
        }
        if let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) {
            guard algorithm == .rsaPSSSHA512 || algorithm == .rsaV15SHA256 else {
                throw .unusableKey("a key of RSA verifies no signature of \(algorithm.rawValue)")
            }
            return MessageVerifyingKey(algorithm: algorithm, key: .rsa(key))
        }
        throw .unusableKey("the text is no public key of Ed25519, P-256, P-384 or RSA with 2048 bits")
    }

    /// Whether a signature is that of the bytes. Secrets are compared in constant time.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch key {
        case .ed25519(let key): return key.isValidSignature(signature, for: bytes)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                return false
            }
            return key.isValidSignature(signature, for: bytes)
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else {
                return false
            }
            return key.isValidSignature(signature, for: bytes)
        case .hmac(let key):
            return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: bytes, using: key)
        case .rsa(let key):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            if algorithm == .rsaV15SHA256 {
                return key.isValidSignature(
                    signature, for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            }
            return key.isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .PSS)
        }
    }

    /// The thumbprint of a key of Ed25519 (RFC 7638, RFC 8037 Appendix A.3); `nil` for other keys.
    public var thumbprint: String? {
        guard case .ed25519 = key, let members = publicMembers else { return nil }
        return JSONWebKeySet.thumbprint(of: members)
    }

    /// The required members of the public key as a JSON Web Key (RFC 7638 §3.2); `nil` for a secret. Any other member
    /// would change the thumbprint, to which tokens are bound (``DPoP/Key/thumbprint``).
    var publicMembers: [String: String]? {
        switch key {
        case .ed25519(let key): ["crv": "Ed25519", "kty": "OKP", "x": key.rawRepresentation.base64URLText]
        case .p256(let key): Self.members(of: Array(key.rawRepresentation), on: "P-256")
        case .p384(let key): Self.members(of: Array(key.rawRepresentation), on: "P-384")
        case .rsa(let key):
            (try? key.getKeyPrimitives()).map { numbers in
                [
                    "kty": "RSA", "n": numbers.modulus.base64URLText,
                    "e": numbers.publicExponent.base64URLText,
                ]
            }
        case .hmac: nil
        }
    }

    private static func members(of point: [UInt8], on curve: String) -> [String: String] {
        let half = point.count / 2
        return [
            "crv": curve, "kty": "EC", "x": point[..<half].base64URLText, "y": point[half...].base64URLText,
        ]
    }
}

extension MessageSigningKey: RedactedDescription {
    /// The algorithm; never the key.
    public var description: String { "\(algorithm.rawValue) key" }
}

extension MessageVerifyingKey: RedactedDescription {
    /// The algorithm; never the key, which may be a secret.
    public var description: String { "\(algorithm.rawValue) key" }
}

/// The bytes of PEM text (RFC 7468).
private struct PEMText {
    let bytes: [UInt8]

    /// The DER of a private key of Ed25519 up to the key (RFC 8410 §7).
    static let ed25519PrivateKey: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    /// The DER of a public key of Ed25519 up to the key (RFC 8410 §4).
    static let ed25519PublicKey: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    init?(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { String($0).trimmedLine }
        guard lines.count > 2, lines[0].hasPrefix("-----BEGIN "),
            lines[lines.count - 1].hasPrefix("-----END "),
            let data = Data(base64Encoded: lines[1..<(lines.count - 1)].joined())
        else { return nil }
        bytes = Array(data)
    }

    /// The rest after a prefix, if it has so many bytes.
    func content(after prefix: [UInt8], count: Int) -> [UInt8]? {
        bytes.count == prefix.count + count && bytes.starts(with: prefix)
            ? Array(bytes[prefix.count...]) : nil
    }
}

extension NetworkError {
    fileprivate static func unusableKey(_ message: String) -> NetworkError {
        NetworkError(.invalidConfiguration, message)
    }
}
#endif
