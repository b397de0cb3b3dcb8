#if Auth
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

    /// The algorithm that the header names; `nil` for one that no public key verifies, such as `none` and `HS256`.
    var algorithm: JSONWebAlgorithm? { header["alg"]?.text.flatMap { JSONWebAlgorithm(rawValue: $0) } }

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
#endif
