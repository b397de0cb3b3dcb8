/// A Digest challenge of a server (RFC 7616 §3.3).
struct DigestChallenge: Equatable {
    enum Algorithm: String {
        case md5 = "MD5"
        case sha256 = "SHA-256"
        case sha512Half = "SHA-512-256"

        func hash(_ text: String) -> String {
            switch self {
            case .md5: HexDigest.md5(text.utf8)
            case .sha256: HexDigest.sha256(text.utf8)
            case .sha512Half: HexDigest.sha512Half(text.utf8)
            }
        }
    }

    let realm: String
    var nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the algorithm is a session variant (`-sess`).
    let isSession: Bool
    /// The algorithm as the server wrote it; `nil` if it named none.
    let algorithmName: String?
    /// Whether requests are counted (`qop=auth`), as all servers require since RFC 2617.
    let isCounted: Bool
    /// Whether the user name is sent as a hash (`userhash`).
    let hidesUser: Bool
    /// Whether the digest was correct and only its nonce was stale.
    let isStale: Bool

    /// The longest parameter to send back, in bytes.
    private static let sizeLimit = 4096

    /// The first challenge in a `WWW-Authenticate` field that this client supports (RFC 7616 §3.7).
    static func first(in field: String) -> DigestChallenge? {
        ChallengeReader.challenges(in: field).lazy.filter { $0.scheme == "digest" }
            .compactMap { DigestChallenge($0.parameters) }.first
    }

    private init?(_ parameters: [String: String]) {
        guard let realm = parameters["realm"], let nonce = parameters["nonce"] else { return nil }
        let name = parameters["algorithm"]
        let upper = (name ?? "MD5").uppercased()
        let isSession = upper.hasSuffix("-SESS")
        guard let algorithm = Algorithm(rawValue: isSession ? String(upper.dropLast(5)) : upper) else {
            return nil
        }
        let qualities = parameters["qop"].map { text in
            text.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        }
        guard qualities?.contains("auth") ?? true, qualities != nil || !isSession else { return nil }
        let opaque = parameters["opaque"]
        guard [realm, nonce, opaque ?? ""].allSatisfy({ $0.utf8.count <= Self.sizeLimit }) else { return nil }
        self.realm = realm
        self.nonce = nonce
        self.opaque = opaque
        self.algorithm = algorithm
        self.isSession = isSession
        algorithmName = name
        isCounted = qualities != nil
        hidesUser = parameters["userhash"]?.lowercased() == "true"
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// The next nonce that an `Authentication-Info` field names (RFC 7616 §3.5), if any.
    static func nextNonce(in field: String) -> String? {
        ChallengeReader.parameters(in: field)["nextnonce"].flatMap {
            $0.isEmpty || $0.utf8.count > sizeLimit ? nil : $0
        }
    }
}
