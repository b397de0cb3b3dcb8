import Synchronization

/// The digest sessions of one name and password: one for each origin, so that only the first request to it has to be
/// challenged (RFC 7616 §3.6).
///
/// Safe from any thread: each request gets a count of its own.
final class DigestMemory: Sendable {
    private let sessions = Mutex<[Origin: DigestSession]>([:])

    /// More than these are not remembered.
    private static let capacity = 256

    /// What a request was sent with.
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

    /// Begins a session, unless there is one with that nonce already, whose count goes on.
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

    /// Goes on with the nonce that the server wants next.
    func renew(_ nonce: String, at origin: Origin) {
        sessions.withLock { sessions in
            guard sessions[origin]?.challenge.nonce != nonce else { return }
            sessions[origin]?.renew(nonce)
        }
    }

    /// Ends the session, unless it has another nonce by now.
    func end(_ nonce: String, at origin: Origin) {
        sessions.withLock { sessions in
            if sessions[origin]?.challenge.nonce == nonce { sessions[origin] = nil }
        }
    }
}
