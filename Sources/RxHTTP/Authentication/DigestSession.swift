import FoundationEssentials

/// A challenge that is answered in several requests (RFC 7616 §3.4).
struct DigestSession {
    private(set) var challenge: DigestChallenge
    private let user: String
    /// The client's nonce, the same for all requests.
    private let clientNonce: String
    /// The hash of user name, realm and password, `A1`; the same for all nonces of the session.
    private let secret: String
    /// The number of requests sent with the nonce.
    private var count: UInt32 = 0

    /// - Parameter clientNonce: an unguessable number, as text.
    init(_ challenge: DigestChallenge, user: String, password: String, clientNonce: String) {
        self.challenge = challenge
        self.user = user
        self.clientNonce = clientNonce
        let secret = challenge.algorithm.hash("\(user):\(challenge.realm):\(password)")
        self.secret =
            challenge.isSession
            ? challenge.algorithm.hash("\(secret):\(challenge.nonce):\(clientNonce)") : secret
    }

    /// Continues with another nonce of the server.
    mutating func renew(_ nonce: String) {
        challenge.nonce = nonce
        count = 0
    }

    /// The value of `Authorization` for the next request.
    ///
    /// - Parameter target: path and query, as sent.
    mutating func authorization(method: String, target: String) -> String {
        count &+= 1
        let hash = challenge.algorithm.hash
        let number = count.hexadecimal
        let request = hash("\(method):\(target)")
        let response =
            challenge.isCounted
            ? hash("\(secret):\(challenge.nonce):\(number):\(clientNonce):auth:\(request)")
            : hash("\(secret):\(challenge.nonce):\(request)")
        var parts = [
            userPart, "realm=\(challenge.realm.quoted)", "nonce=\(challenge.nonce.quoted)",
            "uri=\(target.quoted)", "response=\"\(response)\"",
        ]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque { parts.append("opaque=\(opaque.quoted)") }
        if challenge.isCounted { parts += ["qop=auth", "nc=\(number)", "cnonce=\"\(clientNonce)\""] }
        if challenge.hidesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// The user name, or its hash; a non-ASCII name in the form of RFC 8187 (RFC 7616 §3.4.4).
    private var userPart: String {
        if challenge.hidesUser {
            return "username=\"\(challenge.algorithm.hash("\(user):\(challenge.realm)"))\""
        }
        guard !user.utf8.allSatisfy({ $0 < 0x80 }) else { return "username=\(user.quoted)" }
        let escaped = user.utf8.map { byte in
            (Unicode.Scalar(byte).isAlphanumeric
                ? String(Unicode.Scalar(byte)) : "%" + byte.hexadecimal.uppercased())
        }
        return "username*=UTF-8''" + escaped.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case "0"..."9", "A"..."Z", "a"..."z": true
        default: false
        }
    }
}

extension String {
    /// The text as a quoted string (RFC 9110 §5.6.4).
    fileprivate var quoted: String {
        let escaped = unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }
        return "\"" + escaped.joined() + "\""
    }
}
