#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxLite
import RxParameters
import Synchronization

extension OAuth {
    /// The claims of an ID token that has been validated (OpenID Connect Core §2).
    public struct Identity: Sendable {
        /// The issuer.
        public var issuer: String
        /// The user, unique at the issuer and never reused.
        public var subject: String
        /// When the user has authenticated, if the token says so.
        public var authenticationDate: Date?
        /// The class of the authentication (`acr`), if the token has it.
        public var authenticationClass: String?
        /// The methods of the authentication (`amr`), if the token has them.
        public var authenticationMethods: [String]
        private let claims: JSONValue

        init(issuer: String, subject: String, claims: JSONValue) {
            self.issuer = issuer
            self.subject = subject
            self.claims = claims
            authenticationDate = claims["auth_time"]?.seconds.map { Date(timeIntervalSince1970: $0) }
            authenticationClass = claims["acr"]?.text
            authenticationMethods = claims["amr"]?.texts ?? []
        }

        /// The text of any other claim, such as `email`; `nil` if there is none, or if it is no text, number or flag.
        public subscript(claim: String) -> String? { claims[claim]?.scalarText }
    }
}

extension OAuth.Identity: RedactedDescription {
    /// The issuer; nothing of the user.
    public var description: String { "identity of a user at \(issuer.originAndPath)" }
}

/// The values that an ID token is checked against.
struct IDTokenRules: Sendable {
    let issuer: String
    let clientID: String
    /// The nonce of the authorization request; `nil` if the token needs none.
    var nonce: String?
    /// The access token beside the ID token, for `at_hash`.
    var accessToken: String?
    /// The largest difference of the clocks that is accepted.
    var leeway: Duration = .seconds(60)
    /// The longest time since the user authenticated, if the request has asked for one.
    var maximumAge: Duration?

    /// The claims of a valid token.
    ///
    /// - Throws: `oauthIDToken`; the message names the rule, and contains nothing of the token.
    func validate(_ verified: VerifiedToken, at date: Date) throws(NetworkError) -> OAuth.Identity {
        let claims = verified.token.claims
        guard let found = claims["iss"]?.text, found.hasSameBytes(as: issuer) else {
            throw .oauthIDToken("is that of another issuer; check the issuer identifier")
        }
        guard let subject = claims["sub"]?.text, !subject.isEmpty, subject.utf8.count <= 255 else {
            throw .oauthIDToken("names no user; correct it at the server (OpenID Connect Core §2)")
        }
        try checkAudience(claims)
        try checkTimes(claims, at: date)
        if let nonce, claims["nonce"]?.text?.hasSameBytes(as: nonce) != true {
            throw .oauthIDToken("is not for this login: its nonce differs")
        }
        try checkAccessToken(verified.token)
        return OAuth.Identity(issuer: issuer, subject: subject, claims: claims)
    }

    private func checkAudience(_ claims: JSONValue) throws(NetworkError) {
        let audiences = claims["aud"]?.texts ?? claims["aud"]?.text.map { [$0] } ?? []
        guard audiences.contains(where: { $0.hasSameBytes(as: clientID) }) else {
            throw .oauthIDToken("is for another client; check the client id")
        }
        let party = claims["azp"]
        guard party != nil || audiences.count == 1 else {
            throw .oauthIDToken("is for several clients, and does not say which of them requested it")
        }
        guard party.map({ $0.text?.hasSameBytes(as: clientID) == true }) ?? true else {
            throw .oauthIDToken("was requested by another client")
        }
    }

    private func checkTimes(_ claims: JSONValue, at date: Date) throws(NetworkError) {
        let now = date.timeIntervalSince1970
        let leeway = leeway / .seconds(1)
        guard let expires = claims["exp"]?.double, let issued = claims["iat"]?.double else {
            throw .oauthIDToken(
                "does not say when it was issued and when it expires; correct it at the server (OpenID Connect Core §2)"
            )
        }
        guard now < expires + leeway else {
            throw .oauthIDToken(
                "expired \(Self.time(now - expires)) ago by the clock of this machine; check that clock")
        }
        guard issued <= now + leeway else {
            throw .oauthIDToken(
                "was issued \(Self.time(issued - now)) ahead of the clock of this machine; check that clock")
        }
        if let start = claims["nbf"]?.double, start > now + leeway {
            throw .oauthIDToken("is not valid yet by the clock of this machine; check that clock")
        }
        if let maximumAge {
            guard let authenticated = claims["auth_time"]?.double else {
                throw .oauthIDToken("does not say when the user authenticated, although that was requested")
            }
            guard now - authenticated <= maximumAge / .seconds(1) + leeway else {
                throw .oauthIDToken("says that the user authenticated too long ago")
            }
        }
    }

    /// The access token must be the one that the ID token was issued with (OpenID Connect Core §3.1.3.6).
    private func checkAccessToken(_ token: JSONWebToken) throws(NetworkError) {
        guard let accessToken, let expected = token.claims["at_hash"] else { return }
        let digest = token.algorithm?.digest(of: Array(accessToken.utf8)) ?? []
        let half = digest.prefix(digest.count / 2)
        guard let text = expected.text, text.hasSameBytes(as: half.base64URLText), !half.isEmpty else {
            throw .oauthIDToken("was not issued with the access token beside it")
        }
    }

    /// A difference of clocks in words.
    static func time(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "years" }
        return "\(Int(seconds.rounded())) s"
    }
}

/// The keys of one authorization server: fetched for the first token, again for a token that none of them has signed, and
/// after an hour. Tokens that need keys while they are fetched wait for that fetch. All fetches count for the limit, failed
/// ones too, so that tokens by unknown keys cannot make requests.
final class KeySetCache: Sendable {
    private struct State {
        var keys: JSONWebKeySet?
        var fetched: Date?
        /// When the last fetches began, failed ones included.
        var fetches: [Date] = []
        /// The running fetch, which later tokens join, as in ``ProviderSource`` and ``AWSCredentialCache``.
        var running: (number: Int, url: URL, stream: Observable<JSONWebKeySet, NetworkError>)?
        /// The number of the fetch that began last.
        var lastNumber = 0
    }

    private let state = Mutex(State())

    private static let lifetime: TimeInterval = 3600
    /// At most so many fetches within this time.
    private static let limit = (count: 3, time: 300.0)

    /// The claims of a valid token: one value, then completion.
    func validate(
        _ text: String, _ rules: IDTokenRules, _ metadata: OAuth.Metadata, in context: OAuthContext
    ) -> Observable<OAuth.Identity, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            guard let token = JSONWebToken(text) else { throw .oauthIDToken("is malformed") }
            guard token.header["crit"] == nil else {
                throw .oauthIDToken("has an extension that is critical and unknown")
            }
            guard token.algorithm != nil else {
                throw .oauthIDToken(
                    "is not signed by an algorithm with public keys, such as RS256 or ES256; configure one of them at "
                        + "the server")
            }
            // A server may replace a key by one with the same id, or with none.
            if let verified = current(at: context.date)?.verified(token) {
                return .just(try rules.validate(verified, at: context.date))
            }
            return fetch(metadata, context).map { keys throws(NetworkError) in
                guard let verified = keys.verified(token) else {
                    throw .oauthIDToken(
                        "is not signed by a key of the server; check the issuer identifier, and log in again")
                }
                return try rules.validate(verified, at: context.date)
            }
        }
    }

    private func current(at date: Date) -> JSONWebKeySet? {
        state.withLock { state in
            guard let keys = state.keys, let fetched = state.fetched,
                date < fetched.addingTimeInterval(Self.lifetime)
            else { return nil }
            return keys
        }
    }

    private func fetch(
        _ metadata: OAuth.Metadata, _ context: OAuthContext
    ) -> Observable<JSONWebKeySet, NetworkError> {
        guard let url = metadata.keysURL else {
            return .fail(.oauthIDToken("cannot be verified: the metadata of the server have no jwks_uri"))
        }
        let date = context.date
        return state.withLock { state in
            if let running = state.running, running.url == url { return running.stream }
            state.fetches.removeAll { $0 <= date.addingTimeInterval(-Self.limit.time) }
            guard state.fetches.count < Self.limit.count else {
                return .fail(
                    .oauthIDToken(
                        "is signed by an unknown key, and the keys of the server were fetched \(Self.limit.count) times "
                            + "in the last minutes; try again later"))
            }
            state.fetches.append(date)
            state.lastNumber += 1
            let number = state.lastNumber
            let stream = request(url, context)
                .handleEvents(onEnd: { _ in self.forget(number) }, onCancel: { self.forget(number) })
                // Who got the stream before it ended, and subscribes later, still gets its value.
                .share(replay: 1, reset: .unused)
            state.running = (number, url, stream)
            return stream
        }
    }

    private func request(
        _ url: URL, _ context: OAuthContext
    ) -> Observable<JSONWebKeySet, NetworkError> {
        context.response(to: OAuthContext.request(.get, url))
            .mapError {
                .oauthIDToken("cannot be verified: the keys of the server cannot be fetched", because: $0)
            }
            .map { [self] response throws(NetworkError) in
                guard response.status == .ok, let keys = JSONWebKeySet(response.body) else {
                    throw .oauthIDToken(
                        "cannot be verified: the server answered with status \(response.status.code) and no set of keys"
                    )
                }
                state.withLock { state in
                    state.keys = keys
                    state.fetched = context.date
                }
                return keys
            }
    }

    /// Forgets a fetch that has ended or was cancelled, so that later tokens may cause another.
    private func forget(_ number: Int) {
        state.withLock { state in
            if state.running?.number == number { state.running = nil }
        }
    }
}

extension NetworkError {
    /// - Parameter flaw: the rest of a sentence about the ID token.
    static func oauthIDToken(_ flaw: String, because cause: NetworkError? = nil) -> NetworkError {
        var error = NetworkError(.oauthIDToken, "the ID token \(flaw)")
        error.cause = cause
        return error
    }
}
#endif
