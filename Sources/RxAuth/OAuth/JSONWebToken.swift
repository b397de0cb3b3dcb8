#if Auth
import Crypto
import CryptoExtras
import FoundationEssentials
import RxHTTP
import RxParameters

/// A signed token (RFC 7515, RFC 7519) in its compact form, taken apart. Nothing of it is trusted before its signature is
/// verified.
struct JSONWebToken {
    /// The protected header.
    let header: JSONValue
    /// The claims.
    let claims: JSONValue
    /// The bytes that are signed.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// The most bytes of a token.
    static let sizeLimit = 64 << 10

    /// Reads a token; `nil` for text that is none.
    init?(_ text: String) {
        guard text.utf8.count <= Self.sizeLimit else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = [UInt8](base64URL: Substring(parts[0])),
            let body = [UInt8](base64URL: Substring(parts[1])),
            let signature = [UInt8](base64URL: Substring(parts[2])),
            let header = JSONValue(parsing: head), case .object = header,
            let claims = JSONValue(parsing: body), case .object = claims
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
    }

    /// A token of claims.
    static func signed(
        _ claims: [String: JSONValue], by key: MessageSigningKey, keyID: String?
    ) throws(NetworkError) -> String {
        var header: [String: JSONValue] = ["typ": .string("JWT"), "alg": .string(key.algorithm.tokenName)]
        if let keyID { header["kid"] = .string(keyID) }
        let text = unsigned(header, claims)
        return text + "." + (try key.signature(of: Array(text.utf8))).base64URLText
    }

    /// Header and claims, without a signature.
    static func unsigned(_ header: [String: JSONValue], _ claims: [String: JSONValue]) -> String {
        JSONValue.object(header).document.base64URLText + "."
            + JSONValue.object(claims).document.base64URLText
    }
}

extension MessageSignatureAlgorithm {
    /// The name of the algorithm in tokens (RFC 7518 §3.1, RFC 8037 §3.1).
    var tokenName: String {
        switch self {
        case .ed25519: "EdDSA"
        case .ecdsaP256SHA256: "ES256"
        case .ecdsaP384SHA384: "ES384"
        case .hmacSHA256: "HS256"
        case .rsaPSSSHA512: "PS512"
        case .rsaV15SHA256: "RS256"
        }
    }
}

/// The public keys of an authorization server (RFC 7517 §5). Keys for other uses, and of other kinds, are left out.
struct JSONWebKeySet: Sendable {
    /// A key that verifies tokens of one algorithm.
    struct Key: Sendable {
        let id: String?
        let algorithm: MessageSignatureAlgorithm
        let key: MessageVerifyingKey
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

    /// The thumbprint of a key with these required members (RFC 7638 §3).
    static func thumbprint(of members: [String: String]) -> String {
        // Sorted by name, without blanks; the values need no escapes.
        let text = members.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }
        return SHA256.hash(data: Array("{\(text.joined(separator: ","))}".utf8)).base64URLText
    }

    /// The keys that may have signed a token with this header.
    func candidates(for header: JSONValue) -> [Key] {
        guard let name = header["alg"]?.text else { return [] }
        let id = header["kid"]?.text
        return keys.filter { key in
            key.algorithm.tokenName == name && (id == nil || key.id == nil || key.id == id)
        }
    }
}

extension JSONWebKeySet.Key {
    /// A key of RSA (RS256), P-256 or Ed25519 that signs; `nil` for any other.
    init?(_ json: JSONValue) {
        guard json["use"].map({ $0.text == "sig" }) ?? true,
            json["key_ops"]?.texts?.contains("verify") ?? true
        else { return nil }
        let bytes = { (name: String) in
            json[name]?.text.flatMap { $0.utf8.count <= 2048 ? [UInt8](base64URL: $0) : nil }
        }
        var found: MessageVerifyingKey?
        switch (json["kty"]?.text, json["crv"]?.text) {
        case ("RSA", _):
            // More bits would make a verification take long.
            guard let n = bytes("n"), let e = bytes("e"), (256...1024).contains(n.count),
                (1...8).contains(e.count),
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return nil }
            found = MessageVerifyingKey(algorithm: .rsaV15SHA256, key: .rsa(key))
        case ("EC", "P-256"):
            guard let point = Self.point(bytes("x"), bytes("y"), 32),
                let key = try? P256.Signing.PublicKey(rawRepresentation: point)
            else { return nil }
            found = MessageVerifyingKey(algorithm: .ecdsaP256SHA256, key: .p256(key))
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else {
                return nil
            }
            found = MessageVerifyingKey(algorithm: .ed25519, key: .ed25519(key))
        default: return nil
        }
        guard let found, json["alg"]?.text.map({ $0 == found.algorithm.tokenName }) ?? true else {
            return nil
        }
        self.init(id: json["kid"]?.text, algorithm: found.algorithm, key: found)
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
}
#endif
