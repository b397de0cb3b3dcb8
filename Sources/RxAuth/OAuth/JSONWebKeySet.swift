#if Auth
import Crypto
import CryptoExtras
import FoundationEssentials
import RxHTTP
import RxParameters

/// An algorithm of tokens that a public key verifies (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2).
enum JSONWebAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"

    /// The digest by the hash function of the algorithm. That of Ed25519 is SHA-512 (RFC 8032 §5.1).
    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .rs256, .ps256, .es256: Array(SHA256.hash(data: bytes))
        case .rs384, .ps384, .es384: Array(SHA384.hash(data: bytes))
        case .rs512, .ps512, .es512, .edDSA, .ed25519: Array(SHA512.hash(data: bytes))
        }
    }
}

/// The public keys of an authorization server (RFC 7517 §5). Keys for other uses, and of other kinds, are left out.
struct JSONWebKeySet: Sendable {
    /// A key that verifies tokens.
    struct Key: Sendable {
        fileprivate enum Material: Sendable {
            case rsa(_RSA.Signing.PublicKey)
            case p256(P256.Signing.PublicKey)
            case p384(P384.Signing.PublicKey)
            case p521(P521.Signing.PublicKey)
            case ed25519(Curve25519.Signing.PublicKey)
        }

        let id: String?
        /// The algorithms of the tokens that the key verifies.
        let algorithms: Set<JSONWebAlgorithm>
        private let material: Material
    }

    let keys: [Key]

    /// The most keys that are read.
    private static let limit = 100

    /// Reads a document; `nil` for one that is no set of keys.
    init?(_ document: [UInt8]) {
        guard let json = JSONValue(parsing: document), case .array(let members)? = json["keys"] else {
            return nil
        }
        keys = members.prefix(Self.limit).compactMap { Key($0) }
    }

    /// The thumbprint of a key with these required members and no others (RFC 7638 §3).
    static func thumbprint(of members: [String: String]) -> String {
        // Sorted by name, without blanks; the values need no escapes.
        let text = members.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }
        return SHA256.hash(data: Array("{\(text.joined(separator: ","))}".utf8)).base64URLText
    }

    /// The token, if one of the keys that its header allows has signed it.
    func verified(_ token: JSONWebToken) -> VerifiedToken? {
        let id = token.header["kid"]?.text
        let isSigned = keys.contains { key in
            (id == nil || key.id == nil || key.id == id) && key.verifies(token)
        }
        return isSigned ? VerifiedToken(token: token) : nil
    }
}

/// A token whose signature is that of a key of the server. Only a set of keys makes one.
struct VerifiedToken {
    let token: JSONWebToken

    fileprivate init(token: JSONWebToken) { self.token = token }
}

extension JSONWebKeySet.Key {
    /// A key of RSA, P-256, P-384, P-521 or Ed25519 that signs; `nil` for any other.
    init?(_ json: JSONValue) {
        guard json["use"].map({ $0.text == "sig" }) ?? true,
            json["key_ops"]?.texts?.contains("verify") ?? true, let material = Material(json)
        else { return nil }
        let named = json["alg"].map { name in material.algorithms.filter { $0.rawValue == name.text } }
        let algorithms = named ?? material.algorithms
        guard !algorithms.isEmpty else { return nil }
        self.init(id: json["kid"]?.text, algorithms: Set(algorithms), material: material)
    }

    /// Whether the signature of a token is by this key.
    func verifies(_ token: JSONWebToken) -> Bool {
        guard let algorithm = token.algorithm, algorithms.contains(algorithm) else { return false }
        let (bytes, signature) = (token.signedBytes, token.signature)
        switch material {
        case .rsa(let key): return key.verifies(signature, of: bytes, algorithm)
        case .p256(let key):
            let numbers = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            return numbers.map { key.isValidSignature($0, for: bytes) } ?? false
        case .p384(let key):
            let numbers = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            return numbers.map { key.isValidSignature($0, for: bytes) } ?? false
        case .p521(let key):
            let numbers = try? P521.Signing.ECDSASignature(rawRepresentation: signature)
            return numbers.map { key.isValidSignature($0, for: bytes) } ?? false
        case .ed25519(let key): return key.isValidSignature(signature, for: bytes)
        }
    }
}

extension JSONWebKeySet.Key.Material {
    fileprivate init?(_ json: JSONValue) {
        let bytes = { (name: String) in
            json[name]?.text.flatMap { $0.utf8.count <= 2048 ? [UInt8](base64URL: $0) : nil }
        }
        switch (json["kty"]?.text, json["crv"]?.text) {
        case ("RSA", _):
            // More bits would make a verification take long.
            guard let n = bytes("n"), let e = bytes("e"), (256...1024).contains(n.count),
                (1...8).contains(e.count), let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            self = .rsa(key)
        case ("EC", "P-256"):
            guard let point = Self.point(bytes("x"), bytes("y"), 32),
                let key = try? P256.Signing.PublicKey(rawRepresentation: point)
            else { return nil }
            self = .p256(key)
        case ("EC", "P-384"):
            guard let point = Self.point(bytes("x"), bytes("y"), 48),
                let key = try? P384.Signing.PublicKey(rawRepresentation: point)
            else { return nil }
            self = .p384(key)
        case ("EC", "P-521"):
            guard let point = Self.point(bytes("x"), bytes("y"), 66),
                let key = try? P521.Signing.PublicKey(rawRepresentation: point)
            else { return nil }
            self = .p521(key)
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else {
                return nil
            }
            self = .ed25519(key)
        default: return nil
        }
    }

    /// Both coordinates of a point, with all their bytes. RFC 7518 §6.2.1.2 requires these, but some servers leave out zeros
    /// at the beginning, such as glewlwyd, and others write one more.
    private static func point(_ x: [UInt8]?, _ y: [UInt8]?, _ count: Int) -> [UInt8]? {
        var point: [UInt8] = []
        for coordinate in [x, y] {
            guard let coordinate, !coordinate.isEmpty, coordinate.count <= count + 1 else { return nil }
            let digits = coordinate.drop { $0 == 0 }
            guard digits.count <= count else { return nil }
            point += [UInt8](repeating: 0, count: count - digits.count) + digits
        }
        return point
    }

    /// The algorithms that a key of this kind verifies. For all but RSA nothing else checks the token's `alg`.
    fileprivate var algorithms: [JSONWebAlgorithm] {
        switch self {
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .p256: [.es256]
        case .p384: [.es384]
        case .p521: [.es512]
        case .ed25519: [.edDSA, .ed25519]
        }
    }
}

extension _RSA.Signing.PublicKey {
    fileprivate func verifies(
        _ signature: [UInt8], of bytes: [UInt8], _ algorithm: JSONWebAlgorithm
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return switch algorithm {
        case .rs256:
            isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
        case .rs384:
            isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .insecurePKCS1v1_5)
        case .rs512:
            isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .insecurePKCS1v1_5)
        case .ps256: isValidSignature(signature, for: SHA256.hash(data: bytes), padding: .PSS)
        case .ps384: isValidSignature(signature, for: SHA384.hash(data: bytes), padding: .PSS)
        case .ps512: isValidSignature(signature, for: SHA512.hash(data: bytes), padding: .PSS)
        default: false
        }
    }
}
#endif
