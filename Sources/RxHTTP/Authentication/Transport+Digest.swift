import HTTPTypes
package import RxLite

extension Transport {
    /// Sends `request`. If it has Digest credentials, answers the server's challenge: with a remembered
    /// session, otherwise with the challenge of the 401 response, which is not delivered.
    package func authenticated(_ request: Request) -> Observable<TransferEvent, NetworkError> {
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
        empty.compression = .identity
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
            clientNonce: Chance.number().hexadecimal + Chance.number().hexadecimal)
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
