#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
import RxLite
import RxParameters

extension OAuth {
    /// The tokens that an authorization server has issued (RFC 6749 §5.1).
    public struct Tokens: Sendable {
        /// The access token.
        public var accessToken: String
        /// Whether the access token is bound to a key by DPoP, not usable by everyone who has it.
        public var isBound: Bool
        /// When the access token expires; `nil` if the server does not say.
        public var expires: Date?
        /// The token for new tokens, if the server has issued one.
        public var refreshToken: String?
        /// The scopes of the access token, if the server names them: they may be fewer than requested.
        public var scopes: [String]?
        /// The ID token, if the server has issued one.
        public var idToken: String?
        /// The claims of the ID token, which is valid.
        public var identity: Identity?
        /// The type of a token by token exchange (RFC 8693 §2.2.1), such as
        /// `urn:ietf:params:oauth:token-type:access_token`.
        public var issuedType: String?
        /// The issuer.
        public var issuer: String

        /// The tokens as the credential of a session. Its account is the user of the ID token at the issuer. Stored
        /// credentials, responses and outbox entries have this name of the account: with another text a session would
        /// take the same user for another.
        public var credential: Credential {
            Credential(
                token: accessToken, refreshToken: refreshToken, expires: expires,
                account: identity.map { "\($0.issuer) \($0.subject)" }, issuer: issuer)
        }
    }
}

extension OAuth.Tokens: RedactedDescription {
    /// The issuer and the scopes; never a token.
    public var description: String {
        "tokens of \(issuer.originAndPath)" + (scopes.map { " for \($0.joined(separator: " "))" } ?? "")
    }
}

extension OAuth.Tokens {
    /// Reads the response of a token endpoint.
    ///
    /// - Parameter isBound: whether the request had a DPoP proof; then a token that is not bound is refused (RFC 9449 §5).
    init(_ json: JSONValue, issuer: String, isBound: Bool, at date: Date) throws(NetworkError) {
        guard let token = json["access_token"]?.text, token.isVisibleASCII else {
            throw .oauthResponse(
                "the token endpoint answered without an access token; check that its URL is right")
        }
        // Exchanged tokens of other types have the type N_A (RFC 8693 §2.2.1).
        guard let type = json["token_type"]?.text?.lowercased(), ["bearer", "dpop", "n_a"].contains(type)
        else {
            throw .oauthResponse(
                "the token endpoint answered with a token of an unknown type; configure the client for Bearer or DPoP at "
                    + "the server")
        }
        guard (type == "dpop") == isBound || type == "n_a" else {
            throw .oauthResponse(
                isBound
                    ? "the token endpoint ignored the DPoP proof, and its token is not bound to the key; configure the client "
                        + "for DPoP at the server, or leave DPoP out"
                    : "the token endpoint issued a token for DPoP, which was not requested; set dpop")
        }
        let text = { (name: String) throws(NetworkError) -> String? in
            guard let value = json[name], value != .null, value != .string("") else { return nil }
            guard let text = value.text else {
                throw .oauthResponse(
                    "the token endpoint answered with a value of \(name) that is not a text; correct it at the server "
                        + "(RFC 6749 §5.1)")
            }
            return text
        }
        if let value = json["expires_in"], value != .null {
            guard let seconds = value.seconds else {
                throw .oauthResponse(
                    "the token endpoint answered with an expires_in that is not a number of seconds; correct it at the "
                        + "server (RFC 6749 §5.1)")
            }
            expires = date.addingTimeInterval(min(seconds, 1e9))
        }
        accessToken = token
        self.isBound = type == "dpop"
        refreshToken = try text("refresh_token")
        scopes = try text("scope").map { OAuthScopes.all(in: $0) }
        idToken = try text("id_token")
        issuedType = try text("issued_token_type")
        self.issuer = issuer
        guard refreshToken?.isVisibleASCII ?? true else {
            throw .oauthResponse(
                "the token endpoint answered with a malformed refresh token; correct it at the server (RFC 6749 §5.1)"
            )
        }
    }
}

/// Sends the requests of a client to the endpoints of one server.
struct OAuthEndpoint: Sendable {
    let client: OAuth.Client
    let server: OAuthServer
    let context: OAuthContext
    var dpop: DPoP?

    init(
        _ client: OAuth.Client, at server: OAuthServer, in context: OAuthContext, dpop: DPoP? = nil
    ) throws(NetworkError) {
        self.client = try client.known(to: server.metadata)
        self.server = server
        self.context = context
        self.dpop = dpop
    }

    /// The tokens for a grant (RFC 6749 §4), without the validation of an ID token.
    func tokens(_ parameters: [(name: String, value: String)]) -> Observable<OAuth.Tokens, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let metadata = server.metadata
            let url: URL
            // By its name a client with a certificate gets another URL.
            do throws(NetworkError) {
                url = try metadata.endpoint("token_endpoint", metadata.tokenEndpoint, for: client)
            } catch { throw error.unsent }
            return post(url, parameters, "the token endpoint", isProven: dpop != nil)
                .map { json throws(NetworkError) in
                    try OAuth.Tokens(
                        json, issuer: metadata.issuer, isBound: dpop != nil, at: context.date)
                }
        }
    }

    /// The JSON object that an endpoint answers with.
    ///
    /// - Parameters:
    ///   - subject: the endpoint in errors.
    ///   - isProven: whether the request has a DPoP proof.
    func post(
        _ url: URL, _ parameters: [(name: String, value: String)], _ subject: String, isProven: Bool = false
    ) -> Observable<JSONValue, NetworkError> {
        response(url, parameters, subject, isProven ? dpop : nil)
            .map { [context] response throws(NetworkError) in
                do throws(NetworkError) {
                    return try Self.object(in: response, subject, at: context.date)
                } catch { throw error.attributed(to: response.request) }
            }
    }

    /// Sends a request, and once more if the server wants its nonce in the proof. ``DPoP/receive(_:to:in:)``
    /// asks for that in the exchanges of a client.
    ///
    /// - Parameter serverNonce: the nonce that the server demanded; `nil` on the first attempt. Not `nil` means the request was
    ///   already sent once, so errors are not marked unsent.
    func response(
        _ url: URL, _ parameters: [(name: String, value: String)], _ subject: String, _ dpop: DPoP?,
        nonce serverNonce: String? = nil
    ) -> Observable<Response, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let request: Request
            do throws(NetworkError) {
                request = try client.request(url, parameters, server.metadata, at: context.date)
            } catch { throw serverNonce == nil ? error.unsent : error }
            guard let dpop else { return sent(request, subject) }
            let proof = dpop.proof(
                .post, url.absoluteString, token: nil, nonce: serverNonce, at: context.date)
            return proof.mapError { serverNonce == nil ? $0.unsent : $0 }.flatMap { proof in
                var proven = request
                proven.headerFields[.dpop] = proof
                proven.secretFields.insert(.dpop)
                return sent(proven, subject).flatMap { response -> Observable<Response, NetworkError> in
                    guard let nonce = dpop.learn(from: response.head, of: request), serverNonce == nil,
                        Self.wantsNonce(response)
                    else { return .just(response) }
                    return self.response(url, parameters, subject, dpop, nonce: nonce)
                }
            }
        }
    }

    /// Whether the server demands its nonce: in the content (RFC 9449 §8), or in a challenge as resources do (§9).
    private static func wantsNonce(_ response: Response) -> Bool {
        guard [.badRequest, .unauthorized].contains(response.status) else { return false }
        return JSONValue(parsing: response.body)?["error"]?.text == "use_dpop_nonce"
            || OAuthChallenge.all(in: response.head).contains { $0.error == "use_dpop_nonce" }
    }

    private func sent(_ request: Request, _ subject: String) -> Observable<Response, NetworkError> {
        context.response(to: request).mapError { error in
            guard error.code == .tooLarge else { return error }
            return .oauthResponse(
                "\(subject) answered with more than \(OAuthContext.responseLimit) bytes; check that its URL is right",
                because: error)
        }
    }

    /// The JSON object of a successful response.
    ///
    /// - Throws: `oauthRefused` for an error of the server (RFC 6749 §5.2), also with status 200; `oauthResponse` for
    ///   anything else that is no JSON object.
    static func object(
        in response: Response, _ subject: String, at date: Date
    ) throws(NetworkError) -> JSONValue {
        let status = response.status.code
        let json = JSONValue(parsing: response.body).flatMap { value -> JSONValue? in
            if case .object = value { value } else { nil }
        }
        if let code = json?["error"]?.text, status < 500 || OAuthRefusal.transient.contains(code) {
            throw .oauthRefused(code, json?["error_description"]?.text, by: subject, response, at: date)
        }
        guard (200..<300).contains(status) else {
            var error = NetworkError.oauthResponse(
                (300..<400).contains(status)
                    ? "\(subject) redirects, which is not followed; check that its URL is right"
                    : OAuthRefusal.isTransient(response.status)
                        ? "\(subject) failed with status \(status); try again later"
                        : "\(subject) answered with status \(status) and no error of OAuth; check that its URL is right"
            )
            error.head = response.head
            throw error
        }
        guard let json else {
            let isPage = response.body.first { $0 > 0x20 } == UInt8(ascii: "<")
            throw .oauthResponse(
                "\(subject) answered with \(isPage ? "a page of HTML or XML" : "something else than a JSON object"); check "
                    + "that its URL is right")
        }
        return json
    }
}

/// The error codes of authorization servers.
enum OAuthRefusal {
    /// Codes of a state that passes: they reject no login, and count even with a status of 500 or more. A device login
    /// asks again after all but `use_dpop_nonce`.
    static let transient: Set<String> = [
        "temporarily_unavailable", "server_error", "slow_down", "authorization_pending", "use_dpop_nonce",
    ]

    /// Whether a response with this status says nothing about the request: the server is overloaded or has failed.
    static func isTransient(_ status: HTTPResponse.Status) -> Bool {
        [.requestTimeout, .tooEarly, .tooManyRequests].contains(status) || status.code >= 500
    }

    /// The meanings of the codes, for people; no program reads these texts.
    private static let advice = [
        "access_denied": "the user or the server has denied it",
        "authorization_pending": "the user has not answered yet",
        "consent_required": "the user must agree to it in the browser; log in again",
        "expired_token": "the user has not answered in time; start again",
        "insufficient_scope": "the token has too few scopes",
        "interaction_required": "the user must take part in it; log in again",
        "invalid_client":
            "the server does not accept the authentication of the client; check its id, its secret or key, "
            + "and the method that is registered for it",
        "invalid_client_metadata": "the server does not accept the description of the client",
        "invalid_dpop_proof":
            "the proof of DPoP is not accepted; check the clock of this machine and the key",
        "invalid_grant":
            "the code or token is invalid, expired, revoked, used already, or was issued to another client or "
            + "redirect URL; log in again",
        "invalid_request": "the server misses a parameter or does not know one",
        "invalid_scope": "the server does not know a scope, or the client must not have it; check the scopes",
        "invalid_target": "the server issues no tokens for this resource; check the resource",
        "invalid_token": "the token is invalid, expired or revoked; log in again",
        "login_required": "the user must log in again",
        "server_error": "the server failed; try again later",
        "slow_down": "the server wants requests less often",
        "temporarily_unavailable": "the server is overloaded; try again later",
        "unauthorized_client": "the client must not use this grant; allow it at the server",
        "unmet_authentication_requirements":
            "the server cannot authenticate the user as strongly as required",
        "unsupported_grant_type": "the server does not know this grant; use another one",
        "unsupported_response_type": "the server does not issue codes; use another grant",
        "unsupported_token_type": "the server does not revoke tokens of this type",
        "use_dpop_nonce": "the server refuses the nonce that it sent",
    ]

    /// The meaning of an error code, and the remedy.
    static func advice(for code: String) -> String { advice[code] ?? "see envelopeCode and serverMessage" }

    /// An error code without what it may not contain, or `nil` (RFC 6749 §5.2).
    static func checked(_ code: String) -> String? {
        code.utf8.count <= 64 && OAuthScopes.isToken(code) ? code : nil
    }
}

extension NetworkError {
    /// The error of a step before the request. A session of a fleet may then send the refresh token again
    /// (`RenewalOutcome` in RxFleet), so it must certainly not have been sent.
    var unsent: NetworkError {
        var error = self
        error.isUnsent = true
        return error
    }

    static func oauthResponse(_ message: String, because cause: NetworkError? = nil) -> NetworkError {
        var error = NetworkError(.oauthResponse, message)
        error.cause = cause
        return error
    }

    /// The refusal of a server.
    ///
    /// - Parameters:
    ///   - code: the error code of the server.
    ///   - text: the text of the server, which may contain anything.
    static func oauthRefused(
        _ code: String, _ text: String?, by subject: String, _ response: Response? = nil, at date: Date? = nil
    ) -> NetworkError {
        let code = OAuthRefusal.checked(code)
        var message = "\(subject) refused: \(OAuthRefusal.advice(for: code ?? ""))"
        if let date, let sent = response?.head[.date].flatMap({ Date(httpDate: $0) }) {
            let difference = sent.timeIntervalSince(date)
            if abs(difference) > 60 {
                message +=
                    "; the clock of this machine is \(IDTokenRules.time(abs(difference))) "
                    + "\(difference > 0 ? "behind" : "ahead of") that of the server"
            }
        }
        var error = NetworkError(.oauthRefused, message)
        error.envelopeCode = code ?? "malformed"
        error.serverMessage = text.map { String($0.prefix(1000)) }
        error.head = response?.head
        return error
    }
}
#endif
