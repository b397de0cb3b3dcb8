#if Auth
import HTTPTypes
import RxHTTP

/// A challenge of a protected resource for a token (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3, RFC 9728 §5.1).
struct OAuthChallenge: Equatable {
    /// The error code, such as `insufficient_scope`.
    var error: String?
    /// The scopes that the request needs.
    var scopes: [String]
    /// The classes of authentication that the request needs.
    var authenticationClasses: [String]
    /// The longest time since the user authenticated.
    var maximumAge: Duration?
    /// The URL of the resource's metadata.
    var resourceMetadata: String?

    private static let sizeLimit = 16 << 10
    private static let scopeLimit = 100

    /// The challenges of the schemes `Bearer` and `DPoP`, in order. Malformed parts are skipped.
    static func all(in head: ResponseHead) -> [OAuthChallenge] {
        let field = head.headerFields[values: .wwwAuthenticate].joined(separator: ", ")
        guard field.utf8.count <= sizeLimit else { return [] }
        return ChallengeReader.challenges(in: field).filter { ["bearer", "dpop"].contains($0.scheme) }
            .map { OAuthChallenge($0.parameters) }
    }

    /// Whether challenges refuse the proof of DPoP (RFC 9449 §7.1, §9), and not the token.
    static func refuseProof(_ challenges: [OAuthChallenge]) -> Bool {
        let errors = challenges.compactMap(\.error)
        return !errors.contains("invalid_token")
            && errors.contains { ["use_dpop_nonce", "invalid_dpop_proof"].contains($0) }
    }

    private init(_ parameters: [String: String]) {
        let list = { (name: String) in
            (parameters[name] ?? "").split(separator: " ").prefix(Self.scopeLimit).map(String.init)
        }
        error = parameters["error"]
        scopes = list("scope").filter(OAuthScopes.isToken)
        authenticationClasses = list("acr_values")
        maximumAge = parameters["max_age"].flatMap { Int64($0) }.flatMap {
            (0...1_000_000_000).contains($0) ? .seconds($0) : nil
        }
        resourceMetadata = parameters["resource_metadata"]
    }
}

/// Scopes (RFC 6749 §3.3).
enum OAuthScopes {
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
    }

    /// The scopes in a text, in order.
    static func all(in text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The first scopes, followed by those of the others that are not among them.
    static func union(_ first: [String], _ others: [String]) -> [String] {
        var seen = Set(first)
        return first + others.filter { seen.insert($0).inserted }
    }
}
#endif
