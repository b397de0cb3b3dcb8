import FoundationEssentials
import HTTPTypes

/// How a request proves whose it is.
///
/// ```swift
/// try request.authenticate(by: .digest(user: "anna", password: password))
/// ```
public struct Authentication: Sendable {
    /// What a challenge is met with.
    package struct Digest: Hashable, Sendable {
        package let user: String
        package let password: String
        /// What has been learned of the origins so far; copies share it.
        let memory = DigestMemory()

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

    /// Name and password in clear text, in UTF-8 (RFC 7617): for https. The name holds no colon.
    public static func basic(user: String, password: String) -> Authentication {
        Authentication(kind: .basic(user: user, password: password))
    }

    /// A token (RFC 6750 §2.1).
    public static func bearer(_ token: String) -> Authentication { Authentication(kind: .bearer(token)) }

    /// A proof of the password that does not reveal it, made for the server's challenge (RFC 7616; MD5, SHA-256 and
    /// SHA-512/256, their `-sess` forms, `qop=auth` or none).
    ///
    /// The first request to an origin goes out twice: without credentials, and if it has content, without that; then
    /// with a proof for the challenge in the 401, which is not seen. Later requests with this value, or a copy of it,
    /// go out once, for the challenge is remembered, until the server names another nonce (`nextnonce`) or says that
    /// the nonce is too old (`stale`). If the server refuses a proof for its own challenge, its 401 is the response. A
    /// server that asks for nothing has got an empty request first. Content that can be sent only once is never sent
    /// before a challenge.
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

    /// A colon would end the name, and a server would read the rest as it pleases.
    private static func check(
        _ user: String, _ password: String, in request: Request
    ) throws(NetworkError) {
        let isClean = !user.contains(":") && (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isClean else {
            let flaw = "the user holds a colon, or user or password a control character"
            throw NetworkError(.invalidParameters, flaw, request: request)
        }
    }
}

extension Authentication: CustomStringConvertible, CustomReflectable {
    /// The scheme, without secrets.
    public var description: String {
        switch kind {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .digest: "Digest"
        }
    }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Request {
    /// Has the request prove whose it is, in place of how it did before.
    ///
    /// A redirect to another origin drops it.
    ///
    /// - Throws: ``NetworkError/Code/invalidParameters`` if the user holds a colon, or user or password a control
    ///   character; ``NetworkError/Code/invalidHeader`` for an invalid token.
    public mutating func authenticate(by authentication: Authentication) throws(NetworkError) {
        try authentication.apply(to: &self)
    }
}
