import Synchronization

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
