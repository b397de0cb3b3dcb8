import FoundationEssentials
import HTTPTypes

/// The credentials of a request: Basic, Bearer or Digest.
///
/// ```swift
/// try request.authenticate(by: .digest(user: "anna", password: password))
/// ```
public struct Authentication: Sendable {
    /// The credentials that answer Digest challenges.
    package struct Digest: Hashable, Sendable {
        package let user: String
        package let password: String
        /// The Digest sessions of the origins so far; copies share them.
        let memory = DigestMemory()

        /// Compares without ``memory``, so that requests with the same credentials have the same ``Request/Shape``.
        package static func == (one: Digest, other: Digest) -> Bool {
            one.user == other.user && one.password == other.password
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(password)
        }
    }

    private enum Kind {
        case basic(user: String, password: String)
        case bearer(String)
        case digest(Digest)
    }

    private let kind: Kind

    /// Basic authentication (RFC 7617): user name and password in clear text, in UTF-8. Use it over https
    /// only. The user name must not contain a colon.
    public static func basic(user: String, password: String) -> Authentication {
        Authentication(kind: .basic(user: user, password: password))
    }

    /// Bearer authentication with a token (RFC 6750 §2.1).
    public static func bearer(_ token: String) -> Authentication { Authentication(kind: .bearer(token)) }

    /// Digest authentication (RFC 7616) with MD5, SHA-256 or SHA-512/256, their `-sess` variants, and
    /// `qop=auth` or no `qop`. It proves knowledge of the password without revealing it.
    ///
    /// The first request to an origin is sent twice: first without credentials and without its content, then
    /// with a proof for the challenge in the 401 response, which is not delivered. Later requests with this
    /// value, or a copy of it, are sent once, because the challenge is remembered until the server names
    /// another nonce (`nextnonce`) or reports the nonce as stale (`stale`). If the server rejects a proof for
    /// its own challenge, its 401 is the response. A server that does not challenge a request with content
    /// receives an empty request first. Content that can be sent only once is never sent before a challenge.
    public static func digest(user: String, password: String) -> Authentication {
        Authentication(kind: .digest(Digest(user: user, password: password)))
    }

    fileprivate func apply(to request: inout Request) throws(NetworkError) {
        request.digest = nil
        switch kind {
        case .basic(let user, let password):
            try Self.check(user, password, in: request)
            let pair = Data("\(user):\(password)".utf8).base64EncodedString()
            try request.setField("Authorization", to: "Basic \(pair)")
        case .bearer(let token): try request.setField("Authorization", to: "Bearer \(token)")
        case .digest(let digest):
            try Self.check(digest.user, digest.password, in: request)
            request.headerFields[.authorization] = nil
            request.digest = digest
        }
    }

    /// Rejects control characters, and a colon in the user name, because servers take the text after it for
    /// the password.
    private static func check(
        _ user: String, _ password: String, in request: Request
    ) throws(NetworkError) {
        let isClean =
            !user.utf8.contains(UInt8(ascii: ":"))
            && (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isClean else {
            let flaw =
                "the user name contains a colon, or the user name or password contains a control character"
            throw NetworkError(.invalidParameters, flaw, request: request)
        }
    }
}

extension Authentication: RedactedDescription {
    /// The scheme, without secrets.
    public var description: String {
        switch kind {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .digest: "Digest"
        }
    }
}

extension Request {
    /// Sets the authentication of the request and replaces any set before.
    ///
    /// A redirect to another origin drops it.
    ///
    /// - Throws: ``NetworkError/Code/invalidParameters`` if the user name contains a colon, or the user name
    ///   or password a control character; ``NetworkError/Code/invalidHeader`` for an invalid token.
    public mutating func authenticate(by authentication: Authentication) throws(NetworkError) {
        try authentication.apply(to: &self)
    }
}
