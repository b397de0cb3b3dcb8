import FoundationEssentials
import HTTPTypes
package import RxLite
import Synchronization

extension Transport {
    /// Sends `request`. If it has Digest credentials, answers the server's challenge: with a remembered
    /// session, otherwise with the challenge of the 401 response, which is not delivered.
    package func authenticated(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        // Without the credentials: for a request that has them, `CurlTransport.send` calls this method.
        let bare = request.withoutDigest
        guard let digest = request.digest, let origin = Origin(request.url) else { return send(bare) }
        let scheduler = send(bare).scheduler
        return Observable(scheduler: scheduler) { observer in
            let proving = DigestProving(bare, digest, at: origin)
            let chain = ExchangeChain(from: bare, into: observer) { head, _, _ in
                proving.next(after: head).map { .init(request: $0, exchange: self.send($0)) }
            }
            chain.start(self.send(proving.first))
        }
    }
}

/// Takes one request through a server's Digest challenges.
private final class DigestProving {
    // Belongs to one subscription; accessed only inside its lane.
    private let request: Request
    private let digest: Authentication.Digest
    private let origin: Origin
    private let target: String
    private var proof: DigestMemory.Proof?
    /// Whether the proof answers a challenge to this request.
    private var isFresh = false
    /// Whether the request has been sent without its content, which follows after a challenge or a success.
    private var isWithheld = false
    private var proofs = 0

    /// The most proofs for one request. A nonce may become stale before its proof arrives, but a server may
    /// also report `stale` every time.
    private static let proofLimit = 3

    init(_ request: Request, _ digest: Authentication.Digest, at origin: Origin) {
        self.request = request
        self.digest = digest
        self.origin = origin
        target = request.target
    }

    /// The request with a proof if the origin has a session. Without a proof, content is withheld until the
    /// server has challenged; so is content that could not be sent again after a stale nonce.
    var first: Request {
        if request.body.isEmpty || request.body.isReplayable, let proven = prove() { return proven }
        guard !request.body.isEmpty else { return request }
        isWithheld = true
        var empty = request
        empty.body = .empty
        empty.compressesContent = false
        return empty
    }

    /// The request to send instead of delivering the response; `nil` to deliver it.
    func next(after head: ResponseHead) -> Request? {
        if head.status == .unauthorized { return answer(head) }
        if isWithheld, head.status.code < 300 {
            isWithheld = false
            return request
        }
        if let nonce = head[.authenticationInfo].flatMap(DigestChallenge.nextNonce) {
            digest.memory.renew(nonce, at: origin)
        }
        return nil
    }

    private func answer(_ head: ResponseHead) -> Request? {
        let challenge = head[.wwwAuthenticate].flatMap(DigestChallenge.first)
        if let proof {
            digest.memory.end(proof.nonce, at: origin)
            guard let challenge, challenge.isStale || !isFresh, proofs < Self.proofLimit else { return nil }
        }
        guard let challenge else { return nil }
        let session = DigestSession(
            challenge, user: digest.user, password: digest.password,
            clientNonce: RandomSource.number().hexadecimal + RandomSource.number().hexadecimal)
        digest.memory.begin(session, at: origin)
        let isSpent = !isWithheld && !request.body.isEmpty && !request.body.isReplayable
        isFresh = true
        isWithheld = false
        return isSpent ? nil : prove()
    }

    private func prove() -> Request? {
        guard let proof = digest.memory.proof(for: origin, method: request.method.rawValue, target: target),
            HTTPField.isValidValue(proof.authorization)
        else { return nil }
        self.proof = proof
        proofs += 1
        var proven = request
        proven.headerFields[.authorization] = proof.authorization
        return proven
    }
}

extension Request {
    fileprivate var withoutDigest: Request {
        guard digest != nil else { return self }
        var request = self
        request.digest = nil
        return request
    }

    /// Path and query, as sent (RFC 9112 §3.2.1).
    fileprivate var target: String {
        let text = urlText.prefix { $0 != "#" }
        guard let scheme = text.firstRange(of: "://") else { return "/" }
        let rest = text[scheme.upperBound...]
        let target = rest.drop { $0 != "/" && $0 != "?" }
        return target.first == "/" ? String(target) : "/" + target
    }
}

extension HTTPField.Name {
    /// `Authentication-Info` (RFC 7615).
    fileprivate static let authenticationInfo = HTTPField.Name("Authentication-Info")!
}

/// The Digest sessions of one user name and password, one for each origin, so that only the first request to
/// an origin needs a challenge (RFC 7616 §3.6).
///
/// Thread-safe: each request gets a separate nonce count.
final class DigestMemory: Sendable {
    private let sessions = Mutex<[Origin: DigestSession]>([:])

    /// The most origins to remember. A new origin beyond these clears all others.
    private static let capacity = 256

    /// The `Authorization` value of a request, and the nonce that it was made with.
    struct Proof {
        let authorization: String
        let nonce: String
    }

    /// The proof for the next request to an origin; `nil` if there is no session.
    func proof(for origin: Origin, method: String, target: String) -> Proof? {
        sessions.withLock { sessions in
            guard let nonce = sessions[origin]?.challenge.nonce,
                let authorization = sessions[origin]?.authorization(method: method, target: target)
            else { return nil }
            return Proof(authorization: authorization, nonce: nonce)
        }
    }

    /// Begins a session, unless one with this nonce and realm exists; that session and its count continue.
    func begin(_ session: DigestSession, at origin: Origin) {
        sessions.withLock { sessions in
            if let current = sessions[origin]?.challenge, current.nonce == session.challenge.nonce,
                current.realm == session.challenge.realm
            {
                return
            }
            if sessions.count >= Self.capacity, sessions[origin] == nil { sessions = [:] }
            sessions[origin] = session
        }
    }

    /// Continues the session with the nonce that the server wants next.
    func renew(_ nonce: String, at origin: Origin) {
        sessions.withLock { sessions in
            guard sessions[origin]?.challenge.nonce != nonce else { return }
            sessions[origin]?.renew(nonce)
        }
    }

    /// Ends the session, unless it uses another nonce by now.
    func end(_ nonce: String, at origin: Origin) {
        sessions.withLock { sessions in
            if sessions[origin]?.challenge.nonce == nonce { sessions[origin] = nil }
        }
    }
}

/// A challenge that is answered in several requests (RFC 7616 §3.4).
struct DigestSession {
    private(set) var challenge: DigestChallenge
    private let user: String
    /// The client's nonce, the same for all requests.
    private let clientNonce: String
    /// The hash of user name, realm and password, `A1`; the same for all nonces of the session.
    private let secret: String
    /// The number of requests sent with the nonce. 32 bits, because `nc` has exactly eight digits (§3.4).
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
