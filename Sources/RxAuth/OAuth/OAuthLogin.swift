#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
public import RxLite
import RxParameters

extension OAuth {
    /// One login at an authorization server, as the parts of a session: how to log in, to renew, to place the token, and to
    /// judge failures.
    ///
    /// ``RxClient/Session/oauth(_:client:scopes:resources:flow:dpop:credential:store:requiresLogin:leeway:through:)`` makes
    /// a session of these parts. Use them yourself where a session is made in another way, as for a fleet:
    ///
    /// ```swift
    /// let login = OAuth.Login(.discover("https://id.example.com"), client: client, grant: .clientCredentials)
    /// login.transport = transport
    /// let session = Session(
    ///     sharing: fleet.credential("shop", sealing: keys), isExpiry: login.isExpiry, isRejection: OAuth.Login.isRejection,
    ///     placement: login.placement, renewal: { login.renew($0) }, login: { login.logIn() })
    /// ```
    ///
    /// A challenge for more scopes (`insufficient_scope`, RFC 6750) or for a stronger or more recent authentication
    /// (`insufficient_user_authentication`, RFC 9470) leads to one login that asks for them. It must return the same user,
    /// otherwise it fails with `oauthAccountChanged`, and the session keeps its credential. A demand that a login has
    /// fulfilled in vain is not repeated: its request fails with the response of the server. A demand for a recent
    /// authentication counts again once its time has passed.
    ///
    /// Thread-safe.
    public final class Login: Sendable {
        /// The authorization server.
        public let provider: Provider
        /// The client.
        public let client: Client
        /// How the login gets its tokens.
        public let grant: Grant
        /// The keys that tokens are bound to, if any.
        public let dpop: DPoP?
        let scopes: [String]?
        let resources: [String]
        let clockLeeway: Duration
        let slot = SessionTransport()
        let demands = OAuthDemands()
        private let arrivals = Signal<Tokens>()

        /// Creates a login.
        ///
        /// - Parameters:
        ///   - provider: the authorization server.
        ///   - client: the client.
        ///   - grant: how the login gets its tokens.
        ///   - scopes: the scopes to request. Default `nil`: those of the challenge or the metadata of a protected resource,
        ///     otherwise the server chooses. `offline_access` is left out at a server that names its scopes and has no such.
        ///   - resources: the resources that the tokens are for (RFC 8707). Default none.
        ///   - dpop: the key to bind tokens to; the clients need the same value as their signer. Default `nil`: anybody who
        ///     has a token can use it.
        ///   - clockLeeway: how much the clocks may differ in the validation of ID tokens. Default a minute.
        public init(
            _ provider: Provider, client: Client, grant: Grant, scopes: [String]? = nil,
            resources: [String] = [], dpop: DPoP? = nil, clockLeeway: Duration = .seconds(60)
        ) {
            self.provider = provider
            self.client = client
            self.grant = grant
            self.scopes = scopes
            self.resources = resources
            self.dpop = dpop
            self.clockLeeway = clockLeeway
        }

        /// The transport of the requests to the authorization server. Default `nil`: that of the first client of the session
        /// that ``RxClient/Session/oauth(_:client:scopes:resources:flow:dpop:credential:store:requiresLogin:leeway:through:)``
        /// has made. Setting it has an effect the first time only.
        public var transport: (any Transport)? {
            get { slot.transport }
            set { if let newValue { slot.setIfUnset(newValue) } }
        }

        /// The tokens of each login and renewal of this process, from the time of subscription, for example to read the
        /// claims of the user.
        public var tokens: Observable<Tokens, Never> { arrivals.observable }

        // MARK: - The parts of a session

        /// Logs in: one value, then completion.
        public func logIn() -> Observable<Credential, NetworkError> {
            .deferred { [self] in logIn(as: nil, demands.takePending(for: nil, in: slot)) }
        }

        /// Renews a credential: by its refresh token, or by a login if it has none, or if a response has demanded more than
        /// a renewal can get. One value, then completion.
        ///
        /// If the refresh token has certainly not been sent, the error says so (`isUnsent`): the server has not replaced
        /// it, and a later renewal may use it.
        public func renew(_ credential: Credential) -> Observable<Credential, NetworkError> {
            .deferred { [self] in
                if let demand = demands.takePending(for: credential, in: slot) {
                    return logIn(as: credential, demand).mapError(\.unsent)
                }
                guard let token = credential.refreshToken else { return logIn(as: credential, nil) }
                let endpoint = endpoint().mapError(\.unsent)
                return endpoint.flatMap { [self] endpoint -> Observable<Credential, NetworkError> in
                    // A refresh token is a secret between its issuer and the client (RFC 9700 §4.4).
                    guard isIssuer(endpoint.server, of: credential) else { return logIn().mapError(\.unsent) }
                    return receive(
                        endpoint.tokens(renewing: token, requirements(at: endpoint.server, nil)), credential,
                        namesUser: false
                    ).map { renewed in
                        // Without a new one it stays valid (RFC 6749 §6).
                        var renewed = renewed
                        renewed.refreshToken = renewed.refreshToken ?? token
                        return renewed
                    }
                }
            }
        }

        /// Places the token as its type requires: `Authorization: Bearer` or `Authorization: DPoP`.
        public var placement: CredentialPlacement {
            let (scheme, demands) = (scheme, demands)
            return CredentialPlacement { credential, request throws(NetworkError) in
                // Such a session does not tell when it has got another credential.
                demands.note(credential, request.credentialVersion)
                try request.setField(.authorization, to: scheme + credential.token)
            }
        }

        /// The placement of a session that has the slot of the login.
        var ownPlacement: CredentialPlacement {
            guard dpop != nil else { return .bearer }
            let scheme = scheme
            return CredentialPlacement { credential, request throws(NetworkError) in
                try request.setField(.authorization, to: scheme + credential.token)
            }
        }

        /// ``DPoP/sign(_:in:)`` recognizes the second one.
        private var scheme: String { dpop == nil ? "Bearer " : "DPoP " }

        /// Detects an expired token (status 401), and a demand for more scopes or another authentication that has not been
        /// fulfilled before. A refused proof of DPoP says nothing about the token.
        public var isExpiry: @Sendable (NetworkError) -> Bool {
            { [self] error in
                guard let head = error.head, [401, 403].contains(head.status.code) else { return false }
                let challenges = OAuthChallenge.all(in: head)
                if let url = challenges.lazy.compactMap(\.resourceMetadata).first {
                    provider.source.receive(challenge: url)
                }
                let version = error.credentialVersion
                if let found = challenges.first(where: { $0.error == "insufficient_user_authentication" }) {
                    return demands.admit(OAuthDemand(found), version, slot)
                }
                if let found = challenges.first(where: { $0.error == "insufficient_scope" }),
                    !found.scopes.isEmpty
                {
                    return demands.admit(OAuthDemand(found), version, slot)
                }
                guard head.status == .unauthorized, !OAuthChallenge.refuseProof(challenges) else {
                    return false
                }
                if scopes == nil { demands.learn(challenges.first { !$0.scopes.isEmpty }?.scopes) }
                return true
            }
        }

        /// Whether a failed login means that only the user, or a change of the configuration, can help: a server has refused
        /// it for good.
        public static func isRejection(_ error: NetworkError) -> Bool {
            guard error.code == .oauthRefused, let code = error.envelopeCode else { return false }
            return !OAuthRefusal.transient.contains(code)
                && error.head.map { !OAuthRefusal.isTransient($0.status) } ?? true
        }

        // MARK: - Tokens

        /// The tokens of a new login, without a session: one value, then completion.
        public func fetchTokens() -> Observable<Tokens, NetworkError> {
            endpoint().flatMap { [self] endpoint in
                endpoint.tokens(for: grant, requirements(at: endpoint.server, nil))
            }
        }

        /// Revokes the tokens of a credential at the server (RFC 7009): the refresh token, and then the access token, which
        /// not every server ends with it (§2.1). Completes after one value; a token that the server does not know is
        /// revoked already, and one that revokes no access tokens (`unsupported_token_type`) lets them expire.
        ///
        /// Fails with `oauthMetadata`, and sends nothing, if the server is not known to be the issuer of the credential, such
        /// as when the resource names another one now.
        ///
        /// Log the session out as well: ``RxClient/Session/logOut()``.
        public func revoke(_ credential: Credential) -> Observable<Void, NetworkError> {
            endpoint().flatMap { [self] endpoint throws(NetworkError) -> Observable<Void, NetworkError> in
                let metadata = endpoint.server.metadata
                guard isIssuer(endpoint.server, of: credential) else {
                    throw .oauthMetadata(
                        "it is not known that the server \(metadata.issuer.originAndPath) has issued the tokens, so it must "
                            + "not see them; revoke them at their issuer")
                }
                // By its name a client with a certificate gets another URL.
                let url = try metadata.endpoint(
                    "revocation_endpoint", metadata.revocationEndpoint, for: endpoint.client)
                let access = Self.revoke(credential.token, "access_token", at: url, endpoint)
                guard let token = credential.refreshToken else { return access }
                let rest = access.catch { (error: NetworkError) -> Observable<Void, NetworkError> in
                    error.envelopeCode == "unsupported_token_type" ? .just(()) : .fail(error)
                }
                return Self.revoke(token, "refresh_token", at: url, endpoint).flatMap { rest }
            }
        }

        private static func revoke(
            _ token: String, _ hint: String, at url: URL, _ endpoint: OAuthEndpoint
        ) -> Observable<Void, NetworkError> {
            let subject = "the revocation endpoint"
            return endpoint.response(url, [("token", token), ("token_type_hint", hint)], subject, nil)
                .map { response throws(NetworkError) in
                    guard !(200..<300).contains(response.status.code) else { return }
                    _ = try OAuthEndpoint.object(in: response, subject, at: endpoint.context.date)
                }
        }

        /// Asks the server about a token (RFC 7662), as a protected resource does: one value, then completion.
        public func introspect(_ token: String) -> Observable<Introspection, NetworkError> {
            endpoint().flatMap { endpoint throws(NetworkError) -> Observable<Introspection, NetworkError> in
                let metadata = endpoint.server.metadata
                // By its name a client with a certificate gets another URL.
                let url = try metadata.endpoint(
                    "introspection_endpoint", metadata.introspectionEndpoint, for: endpoint.client)
                return endpoint.post(url, [("token", token)], "the introspection endpoint")
                    .map { json throws(NetworkError) in try Introspection(json) }
            }
        }

        // MARK: - How

        /// Whether a server has issued a credential; of an unknown issuer it is the one that the app has named.
        private func isIssuer(_ server: OAuthServer, of credential: Credential) -> Bool {
            credential.issuer?.hasSameBytes(as: server.metadata.issuer) ?? !provider.source.isResource
        }

        private func endpoint() -> Observable<OAuthEndpoint, NetworkError> {
            .deferred { [self] () throws(NetworkError) in
                guard let transport = slot.transport else {
                    throw NetworkError(
                        .invalidConfiguration,
                        "the login has no transport: use the session in a client first, or set the transport of the login"
                    )
                }
                let context = OAuthContext(transport: transport)
                return provider.source.server(in: context).map { [self] server throws(NetworkError) in
                    if let dpop, let names = server.metadata.dpopAlgorithms,
                        !names.contains(dpop.key.algorithm)
                    {
                        throw .oauthMetadata(
                            "the server does not accept proofs by \(dpop.key.algorithm.prefix(16)); use a key of another "
                                + "algorithm")
                    }
                    return try OAuthEndpoint(client, at: server, in: context, dpop: dpop)
                }
            }
        }

        /// - Parameters:
        ///   - former: the credential whose user must not change.
        ///   - taken: what responses have demanded.
        private func logIn(
            as former: Credential?, _ taken: OAuthDemands.Taken?
        ) -> Observable<Credential, NetworkError> {
            .deferred { [self] in
                provider.source.expire()
                let login = endpoint().flatMap { [self] endpoint in
                    receive(
                        endpoint.tokens(for: grant, requirements(at: endpoint.server, taken?.demand)),
                        taken == nil ? nil : former, namesUser: true)
                }
                guard let taken else { return login }
                return login.catch { [self] error in
                    if error.code != .oauthRefused, error.code != .oauthAccountChanged {
                        demands.forget(taken)
                    }
                    // The server or the user does not grant more; what they have granted before is still valid.
                    var error = error
                    if former != nil, Self.isRejection(error) { error = .stepUpFailed(error) }
                    return .fail(error)
                }
            }
        }

        private func requirements(at server: OAuthServer, _ demand: OAuthDemand?) -> OAuthRequirements {
            let resources = server.resource.map { [$0.resource] } ?? []
            var requirements = OAuthRequirements(
                scopes: scopes ?? demands.learnt ?? server.resource?.scopes,
                resources: OAuthScopes.union(self.resources, resources), leeway: clockLeeway)
            let granted = demands.granted
            if let demand {
                requirements.scopes = OAuthScopes.union(requirements.scopes ?? [], granted + demand.scopes)
                requirements.authenticationClasses = demand.authenticationClasses
                requirements.maximumAge = demand.maximumAge
            } else if !granted.isEmpty {
                requirements.scopes = OAuthScopes.union(requirements.scopes ?? [], granted)
            }
            return requirements
        }

        /// The credential of tokens, if their user is that of the former credential.
        ///
        /// - Parameter namesUser: whether the tokens must say who the user is if the former ones did. A renewal need not
        ///   (OpenID Connect Core §12.2).
        private func receive(
            _ tokens: Observable<Tokens, NetworkError>, _ former: Credential?, namesUser: Bool
        ) -> Observable<Credential, NetworkError> {
            tokens.map { [self] tokens throws(NetworkError) in
                let credential = tokens.credential
                if let account = former?.account {
                    let own = credential.account ?? (namesUser ? "" : account)
                    guard account.hasSameBytes(as: own) else {
                        throw NetworkError(
                            .oauthAccountChanged,
                            own.isEmpty
                                ? "the server does not say which user has logged in; request the scope openid"
                                : "another user has logged in than the one of the session; log in as the same user, or log "
                                    + "out first")
                    }
                }
                arrivals.send(tokens)
                return credential
            }
        }
    }
}

extension OAuth.Login: RedactedDescription {
    /// Server, client and grant; never a token or a secret.
    public var description: String { "\(grant) at the \(provider) by \(client)" }
}

extension OAuth {
    /// The description of a token by its server (RFC 7662 §2.2).
    public struct Introspection: Sendable {
        /// Whether the token is valid.
        public var isActive: Bool
        /// The scopes of the token.
        public var scopes: [String]
        /// The client that the token was issued to.
        public var clientID: String?
        /// The user or the account.
        public var subject: String?
        /// The services that the token is for.
        public var audiences: [String]
        /// When the token expires.
        public var expires: Date?
        private let members: JSONValue

        init(_ json: JSONValue) throws(NetworkError) {
            guard let isActive = json["active"]?.flag else {
                throw .oauthResponse(
                    "the introspection endpoint answered without saying whether the token is active")
            }
            self.isActive = isActive
            scopes = json["scope"]?.text.map { OAuthScopes.all(in: $0) } ?? []
            clientID = json["client_id"]?.text
            subject = json["sub"]?.text
            audiences = json["aud"]?.texts ?? json["aud"]?.text.map { [$0] } ?? []
            expires = json["exp"]?.seconds.map { Date(timeIntervalSince1970: $0) }
            members = json
        }

        /// The text of any other member, such as `username`; `nil` if there is none, or if it is no text, number or flag.
        public subscript(member: String) -> String? { members[member]?.scalarText }
    }
}

extension OAuth.Introspection: RedactedDescription {
    /// Whether the token is active.
    public var description: String { isActive ? "active token" : "inactive token" }
}

extension NetworkError {
    /// The error of a login for more rights: the former ones stay, so that it is no rejection of the session.
    fileprivate static func stepUpFailed(_ cause: NetworkError) -> NetworkError {
        var error = NetworkError(.loginFailed, "the login for more rights failed: \(cause.message)")
        error.serverMessage = cause.serverMessage
        error.cause = cause
        return error
    }
}
#endif
