#if Auth
import FoundationEssentials
public import RxClient
public import RxHTTP
import RxLite

extension Session {
    /// Creates a session whose login is OAuth 2.0.
    ///
    /// ```swift
    /// let session = Session.oauth(
    ///     .discover("https://id.example.com"), client: .public("cli"), scopes: ["read"],
    ///     flow: .authorizationCode(redirect: .loopback) { url in print("open", url) }, store: CredentialFile(path))
    /// ```
    ///
    /// The first request logs in. Tokens are renewed by their refresh token before they expire; if the server refuses
    /// the renewal, a new login follows. The session's account is named after the user in the ID token, if the scope
    /// `openid` is requested.
    ///
    /// - Parameters:
    ///   - provider: the authorization server.
    ///   - client: the client.
    ///   - scopes: the scopes to request. Default `nil`: those of the challenge or the metadata of a protected resource,
    ///     otherwise the server chooses.
    ///   - resources: the resources that the tokens are for (RFC 8707). Default none.
    ///   - flow: how the login gets its tokens.
    ///   - dpop: the key to bind tokens to; the clients need the same value as their signer. Default `nil`.
    ///   - credential: the credential from earlier. Default `nil`.
    ///   - store: the persistent storage of the credential. Default `nil`: the credential is kept in memory.
    ///   - requiresLogin: whether the first request waits for the login. Default `nil`: it does, except with
    ///     ``OAuth/Provider/protecting(_:)``, where it asks the resource whether and how to log in.
    ///   - leeway: how long before its expiry a token is renewed. Default 30 s.
    ///   - transport: the transport of the requests to the authorization server. Default `nil`: that of the session's first
    ///     client.
    public static func oauth(
        _ provider: OAuth.Provider, client: OAuth.Client, scopes: [String]? = nil, resources: [String] = [],
        flow: OAuth.Grant, dpop: DPoP? = nil, credential: Credential? = nil,
        store: (any CredentialStore)? = nil, requiresLogin: Bool? = nil, leeway: Duration = .seconds(30),
        through transport: (any Transport)? = nil
    ) -> Session {
        let login = OAuth.Login(
            provider, client: client, grant: flow, scopes: scopes, resources: resources, dpop: dpop)
        return oauth(
            login, credential: credential, store: store, requiresLogin: requiresLogin, leeway: leeway,
            through: transport)
    }

    /// Creates a session of an OAuth login whose parts the app uses as well, for example to revoke its tokens.
    ///
    /// - Parameters:
    ///   - login: the login; of one session only.
    ///   - credential: the credential from earlier. Default `nil`.
    ///   - store: the persistent storage of the credential. Default `nil`: the credential is kept in memory.
    ///   - requiresLogin: whether the first request waits for the login. Default `nil`: it does, except with
    ///     ``OAuth/Provider/protecting(_:)``.
    ///   - leeway: how long before its expiry a token is renewed. Default 30 s.
    ///   - transport: the transport of the requests to the authorization server. Default `nil`: that of the session's first
    ///     client.
    public static func oauth(
        _ login: OAuth.Login, credential: Credential? = nil, store: (any CredentialStore)? = nil,
        requiresLogin: Bool? = nil, leeway: Duration = .seconds(30), through transport: (any Transport)? = nil
    ) -> Session {
        if let transport { login.slot.setIfUnset(transport) }
        let session = Session(
            credential: credential, store: store, isExpiry: login.isExpiry,
            isRejection: OAuth.Login.isRejection,
            placement: login.ownPlacement, leeway: leeway,
            requiresLogin: requiresLogin ?? !login.provider.source.isResource,
            clock: transport?.scheduler, renewal: { login.renew($0) }, login: { login.logIn() })
        // From here on the slot knows the generation of the credential, which `ownPlacement` does not note.
        session.take(login.slot)
        return session
    }
}

extension OAuth.Provider {
    /// Creates a session, and logs in if that is possible now.
    ///
    /// ```swift
    /// let session = try await OAuth.discover("https://id.example.com")
    ///     .session(client: .init(id: "cli"), grant: .device { show($0.userCode, $0.verificationURL) })
    /// ```
    ///
    /// With a transport, the session has a credential when this returns: the stored one or that of a new login. Without
    /// one, the stored credential is loaded, and the first request of the session's first client logs in.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - grant: how the login gets its tokens.
    ///   - scopes: the scopes to request. Default `nil`: those of the challenge or the metadata of a protected resource,
    ///     otherwise the server chooses.
    ///   - resources: the resources that the tokens are for (RFC 8707). Default none.
    ///   - dpop: the key to bind tokens to; the clients need the same value as their signer. Default `nil`.
    ///   - store: the persistent storage of the credential. Default `nil`: the credential is kept in memory.
    ///   - transport: the transport of the requests to the authorization server. Default `nil`: that of the session's first
    ///     client.
    /// - Throws: the error of the login.
    public func session(
        client: OAuth.Client, grant: OAuth.Grant, scopes: [String]? = nil, resources: [String] = [],
        dpop: DPoP? = nil, store: (any CredentialStore)? = nil, through transport: (any Transport)? = nil
    ) async throws(NetworkError) -> Session {
        let session = Session.oauth(
            self, client: client, scopes: scopes, resources: resources, flow: grant, dpop: dpop, store: store,
            requiresLogin: true, through: transport)
        guard let transport else {
            _ = try await session.restore().setFailureType(to: NetworkError.self).value()
            return session
        }
        _ = try await metadata(through: transport).flatMap { metadata throws(NetworkError) in
            guard let url = metadata.tokenEndpoint else {
                throw NetworkError.oauthMetadata(
                    "the server \(metadata.issuer.originAndPath) has no token_endpoint")
            }
            // Waits for the login; nothing is sent to this URL.
            return session.authorize(Request(url: url))
        }
        .value()
        return session
    }
}
#endif
