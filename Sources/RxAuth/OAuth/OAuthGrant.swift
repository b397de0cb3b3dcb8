#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import RxParameters

extension OAuth {
    /// The way in which a login gets its tokens.
    public struct Grant: Sendable {
        enum Kind: Sendable {
            case clientCredentials
            case authorizationCode(Redirect, @Sendable (URL) -> Void)
            case device(@Sendable (DeviceCode) -> Void)
            case assertion(@Sendable (Metadata, Date) -> Observable<String, NetworkError>)
            case exchange(TokenExchange)
        }

        let kind: Kind

        /// The client itself logs in, without a user (RFC 6749 §4.4).
        public static let clientCredentials = Grant(kind: .clientCredentials)

        /// The user logs in with a browser on this machine (RFC 6749 §4.1), with PKCE (RFC 7636).
        ///
        /// The login fails with `oauthTimeout` if the user has not come back after ten minutes.
        ///
        /// - Parameters:
        ///   - redirect: where the server sends the user afterwards. Default ``Redirect/loopback``: a listener on this
        ///     machine.
        ///   - open: shows the URL to the user, for example in a browser. Called once for each login.
        public static func authorizationCode(
            redirect: Redirect = .loopback, open: @escaping @Sendable (URL) -> Void
        ) -> Grant {
            Grant(kind: .authorizationCode(redirect, open))
        }

        /// The user logs in with a browser on any machine, by a code that this one shows (RFC 8628).
        ///
        /// - Parameter show: shows the code. Called once for each login.
        public static func device(_ show: @escaping @Sendable (DeviceCode) -> Void) -> Grant {
            Grant(kind: .device(show))
        }

        /// A token by which another server vouches for a user or a client (RFC 7523 §2.1).
        ///
        /// - Parameter assertion: makes the signed token: one value, then completion. Subscribed to for each login.
        public static func jwtBearer(
            _ assertion: @escaping @Sendable () -> Observable<String, NetworkError>
        ) -> Grant {
            Grant(kind: .assertion { _, _ in assertion() })
        }

        /// A token that the app signs itself, as the keys of service accounts do (RFC 7523 §2.1). Its audience is the
        /// issuer, and it is valid for a minute.
        ///
        /// - Parameters:
        ///   - key: the private key.
        ///   - keyID: the id of the key at the server. Default `nil`: not named.
        ///   - issuer: the name of the signer, such as a service account.
        ///   - subject: the user or the account that the tokens are for. Default `nil`: the issuer.
        ///   - audience: the audience of the token. Default `nil`: the issuer identifier of the server.
        public static func jwtBearer(
            key: MessageSigningKey, keyID: String? = nil, issuer: String, subject: String? = nil,
            audience: String? = nil
        ) -> Grant {
            Grant(
                kind: .assertion { metadata, date in
                    .deferred { () throws(NetworkError) in
                        let claims: [String: JSONValue] = [
                            "iss": .string(issuer), "sub": .string(subject ?? issuer),
                            "aud": .string(audience ?? metadata.issuer),
                            "jti": .string(OAuthRandom.text(bytes: 16)),
                            "iat": .integer(date.issueSeconds), "exp": .integer(date.issueSeconds + 60),
                        ]
                        return .just(try JSONWebToken.signed(claims, by: key, keyID: keyID))
                    }
                })
        }

        /// Another token, which is exchanged (RFC 8693).
        public static func tokenExchange(_ exchange: TokenExchange) -> Grant {
            Grant(kind: .exchange(exchange))
        }
    }

    /// The tokens and the wishes of a token exchange (RFC 8693 §2.1).
    public struct TokenExchange: Sendable {
        /// A token with its type.
        public struct Token: Sendable {
            let text: @Sendable () -> Observable<String, NetworkError>
            let type: String

            /// Creates a token that is made for each login.
            ///
            /// - Parameters:
            ///   - type: the type. Default `urn:ietf:params:oauth:token-type:access_token`.
            ///   - text: the token: one value, then completion.
            public init(
                type: String = "urn:ietf:params:oauth:token-type:access_token",
                _ text: @escaping @Sendable () -> Observable<String, NetworkError>
            ) {
                self.type = type
                self.text = text
            }

            /// Creates a token that does not change.
            ///
            /// - Parameters:
            ///   - text: the token.
            ///   - type: the type. Default `urn:ietf:params:oauth:token-type:access_token`.
            public init(
                _ text: String, type: String = "urn:ietf:params:oauth:token-type:access_token"
            ) {
                self.init(type: type) { .just(text) }
            }
        }

        /// The token of the party that the new token is for.
        public var subject: Token
        /// The token of the party that acts for the subject. Default `nil`: the subject acts itself.
        public var actor: Token?
        /// The names of the services that will receive the new token. Default none.
        public var audiences: [String]
        /// The type of the new token. Default `nil`: the server chooses.
        public var requestedType: String?

        /// Creates an exchange.
        public init(
            subject: Token, actor: Token? = nil, audiences: [String] = [], requestedType: String? = nil
        ) {
            self.subject = subject
            self.actor = actor
            self.audiences = audiences
            self.requestedType = requestedType
        }
    }
}

extension OAuth.Grant: RedactedDescription {
    /// The kind.
    public var description: String {
        switch kind {
        case .clientCredentials: "client credentials"
        case .authorizationCode: "authorization code"
        case .device: "device code"
        case .assertion: "JWT bearer"
        case .exchange: "token exchange"
        }
    }
}

extension OAuth.TokenExchange: RedactedDescription {
    /// Whether there is an actor.
    public var description: String { actor == nil ? "token exchange" : "token exchange with an actor" }
}

extension OAuth.TokenExchange.Token: RedactedDescription {
    /// The type; never the token.
    public var description: String { "token of the type \(type)" }
}

/// The scopes, resources and conditions that one login asks for.
struct OAuthRequirements: Sendable {
    var scopes: [String]?
    var resources: [String] = []
    /// The classes of authentication (RFC 9470).
    var authenticationClasses: [String] = []
    /// The longest time since the user authenticated.
    var maximumAge: Duration?
    var leeway: Duration = .seconds(60)

    /// The parameters `scope` and `resource` (RFC 8707 §2).
    func parameters(at metadata: OAuth.Metadata) -> [(name: String, value: String)] {
        let scopes = granted(by: metadata)
        return (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))])
            + resources.map { ("resource", $0) }
    }

    /// The scopes, without `offline_access` where the server names its scopes and has no such.
    func granted(by metadata: OAuth.Metadata) -> [String] {
        (scopes ?? []).filter { $0 != "offline_access" || metadata.scopes?.contains($0) ?? true }
    }

    /// - Throws: `invalidConfiguration` for scopes and resources that no request can carry.
    func check() throws(NetworkError) {
        guard (scopes ?? []).allSatisfy(OAuthScopes.isToken) else {
            throw NetworkError(
                .invalidConfiguration,
                "a scope has visible characters of ASCII without quotes and backslashes; write each as a text of the list"
            )
        }
        for resource in resources {
            guard let url = URL(string: resource), url.scheme != nil, url.fragment == nil else {
                throw NetworkError(.invalidConfiguration, "a resource is an absolute URL without a fragment")
            }
        }
    }
}

extension OAuthEndpoint {
    /// The tokens of a login, with a valid ID token if there is one.
    func tokens(
        for grant: OAuth.Grant, _ requirements: OAuthRequirements
    ) -> Observable<OAuth.Tokens, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            try requirements.check()
            let parameters = requirements.parameters(at: server.metadata)
            switch grant.kind {
            case .clientCredentials:
                guard client.canAuthenticate else {
                    throw NetworkError(
                        .invalidConfiguration,
                        "client credentials require a client with a secret, a key or a certificate")
                }
                return validated(tokens([("grant_type", "client_credentials")] + parameters), requirements)
            case .authorizationCode(let redirect, let open):
                return AuthorizationCodeLogin(self, requirements, redirect).tokens(open)
            case .device(let show):
                return validated(DeviceLogin(self).tokens(parameters, show), requirements)
            case .assertion(let assertion):
                let issued = assertion(server.metadata, context.date).take(1).flatMap { text in
                    tokens(
                        [
                            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                            ("assertion", text),
                        ] + parameters)
                }
                return validated(issued, requirements)
            case .exchange(let exchange): return validated(tokens(exchange, parameters), requirements)
            }
        }
    }

    /// The tokens of a renewal (RFC 6749 §6).
    func tokens(
        renewing token: String, _ requirements: OAuthRequirements
    ) -> Observable<OAuth.Tokens, NetworkError> {
        let parameters = requirements.resources.map { (name: "resource", value: $0) }
        let renewed = tokens([("grant_type", "refresh_token"), ("refresh_token", token)] + parameters)
        return validated(renewed.mapError(Self.refusal), requirements)
    }

    /// The refusal of a refresh token by a server that does not name it. RFC 6749 §5.2 requires status 400 (401 for a
    /// client that is not accepted) and a JSON object with `invalid_grant`; some servers send the status alone. Other
    /// errors stay as they are: no other status says anything about the token.
    private static func refusal(_ error: NetworkError) -> NetworkError {
        guard error.code == .oauthResponse, let head = error.head,
            [.badRequest, .unauthorized].contains(head.status)
        else { return error }
        var refusal = error
        refusal.code = .oauthRefused
        refusal.message =
            "the token endpoint refused the refresh token with status \(head.status.code) and no error of OAuth; log in again"
        // As if the server had named it: ``OAuth/Login/isRejection(_:)`` reads code and envelope code.
        refusal.envelopeCode = "invalid_grant"
        refusal.cause = error
        return refusal
    }

    private func tokens(
        _ exchange: OAuth.TokenExchange, _ parameters: [(name: String, value: String)]
    ) -> Observable<OAuth.Tokens, NetworkError> {
        exchange.subject.text().take(1).flatMap { subject -> Observable<OAuth.Tokens, NetworkError> in
            let actor: Observable<String?, NetworkError> =
                exchange.actor.map { $0.text().take(1).map { $0 } } ?? .just(nil)
            return actor.flatMap { actor in
                var all: [(name: String, value: String)] = [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                    ("subject_token", subject), ("subject_token_type", exchange.subject.type),
                ]
                if let actor, let type = exchange.actor?.type {
                    all += [("actor_token", actor), ("actor_token_type", type)]
                }
                if let type = exchange.requestedType { all.append(("requested_token_type", type)) }
                return tokens(all + exchange.audiences.map { ("audience", $0) } + parameters)
            }
        }
    }

    /// The tokens, once their ID token is valid.
    func validated(
        _ tokens: Observable<OAuth.Tokens, NetworkError>, _ requirements: OAuthRequirements,
        nonce: String? = nil
    ) -> Observable<OAuth.Tokens, NetworkError> {
        tokens.flatMap { [self] tokens throws(NetworkError) -> Observable<OAuth.Tokens, NetworkError> in
            guard let text = tokens.idToken else {
                guard nonce == nil else {
                    throw .oauthIDToken("is missing, although the scope openid was requested")
                }
                return .just(tokens)
            }
            let rules = IDTokenRules(
                issuer: server.metadata.issuer, clientID: client.id, nonce: nonce,
                accessToken: tokens.accessToken, leeway: requirements.leeway,
                maximumAge: requirements.maximumAge)
            return server.keys.validate(text, rules, server.metadata, in: context).map { identity in
                var tokens = tokens
                tokens.identity = identity
                return tokens
            }
        }
    }
}

extension OAuth.Client {
    /// Whether the client proves its id.
    var canAuthenticate: Bool { if case .none = authentication.kind { false } else { true } }
}
#endif
