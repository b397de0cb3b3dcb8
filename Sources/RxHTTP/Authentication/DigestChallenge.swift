/// A Digest challenge of a server (RFC 7616 §3.3).
struct DigestChallenge: Equatable {
    /// The raw values are the names that servers send, in upper case and without `-SESS`.
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
        let upper = (name ?? "MD5").lowercasedToken().uppercased()
        let isSession = upper.hasSuffix("-SESS")
        guard let algorithm = Algorithm(rawValue: isSession ? String(upper.dropLast(5)) : upper) else {
            return nil
        }
        let qualities = parameters["qop"].map { text in
            text.lowercasedToken().split { $0 == "," || $0 == " " || $0 == "\t" }
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
        hidesUser = parameters["userhash"]?.lowercasedToken() == "true"
        isStale = parameters["stale"]?.lowercasedToken() == "true"
    }

    /// The next nonce that an `Authentication-Info` field names (RFC 7616 §3.5), if any.
    static func nextNonce(in field: String) -> String? {
        ChallengeReader.parameters(in: field)["nextnonce"].flatMap {
            $0.isEmpty || $0.utf8.count > sizeLimit ? nil : $0
        }
    }
}

/// Reads the challenges of a `WWW-Authenticate` field, and the parameters of an `Authentication-Info` field
/// (RFC 9110 §11.2, §11.6), in one pass. Malformed parts are skipped.
package struct ChallengeReader {
    package struct Challenge: Equatable {
        /// In lower case.
        package var scheme: String
        /// By lowercase name; the first of several with the same name counts.
        package var parameters: [String: String] = [:]
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ field: String) { bytes = Array(field.utf8) }

    /// All challenges, in order.
    package static func challenges(in field: String) -> [Challenge] {
        var reader = ChallengeReader(field)
        return reader.readAll().filter { !$0.scheme.isEmpty }
    }

    /// The parameters of a field that has no scheme.
    static func parameters(in field: String) -> [String: String] {
        var reader = ChallengeReader(field)
        return reader.readAll().first { $0.scheme.isEmpty }?.parameters ?? [:]
    }

    private mutating func readAll() -> [Challenge] {
        var found = [Challenge(scheme: "")]
        while index < bytes.count {
            let name = token()
            guard !name.isEmpty else {
                if current == UInt8(ascii: "\"") {
                    _ = QuotedString.read(from: bytes, at: &index)
                } else {
                    index += 1
                }
                continue
            }
            skipBlanks()
            guard current == UInt8(ascii: "=") else {
                found.append(Challenge(scheme: name.lowercased()))
                continue
            }
            index += 1
            skipBlanks()
            let value = current == UInt8(ascii: "\"") ? QuotedString.read(from: bytes, at: &index) : token()
            let key = name.lowercased()
            if found[found.count - 1].parameters[key] == nil {
                found[found.count - 1].parameters[key] = value
            }
        }
        return found
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x09 { index += 1 }
    }

    private mutating func token() -> String {
        let start = index
        while let byte = current, byte.isTokenCharacter { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }
}

extension UInt8 {
    /// `tchar` (RFC 9110 §5.6.2), or `/`, which occurs in `token68` only.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~/".utf8.contains(self)
        }
    }
}
