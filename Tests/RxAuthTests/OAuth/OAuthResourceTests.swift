#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// Protected resources that name their authorization server (RFC 9728), as the tools of a model context do: where the
/// metadata are, which scopes are requested, which client is used, and which tokens go where.
@Suite struct OAuthResourceTests {
    private let server = AuthorizationServerDouble()
    private let browser = BrowserDouble()

    private static let resource = "https://api.test/mcp"

    private static func document(
        _ resource: String = resource, issuer: String = AuthorizationServerDouble.issuer,
        scopes: [String]? = nil
    ) -> ScriptedTransport.Reply {
        var members: [String: JSONValue] = [
            "resource": .string(resource), "authorization_servers": .array([.string(issuer)]),
        ]
        if let scopes { members["scopes_supported"] = .array(scopes.map { .string($0) }) }
        return .json(String(decoding: JSONValue.object(members).document, as: UTF8.self))
    }

    /// A resource that accepts these tokens, and challenges other requests.
    private func protect(_ tokens: String..., challenge: String = "Bearer") {
        server.answer("/mcp") { call in
            tokens.contains { call.authorization == "Bearer " + $0 }
                ? .json("1") : .status(.unauthorized, headers: [.wwwAuthenticate: challenge])
        }
    }

    private func session(
        client: OAuth.Client = .public("cli"), scopes: [String]? = nil, credential: Credential? = nil
    ) -> Session {
        .oauth(
            .protecting(Self.resource), client: client, scopes: scopes, flow: browser.grant,
            credential: credential)
    }

    private func get(_ session: Session) throws -> NetworkError? {
        try server.result(server.client(session).get("/mcp")).error
    }

    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// A server that a resource has named, and that does not name PKCE, does not have it (RFC 8414 §2); codes of a server
    /// that the app names are bound by PKCE in any case.
    @Test func unnamedPKCE() throws {
        let server = AuthorizationServerDouble(metadata: ["code_challenge_methods_supported": nil])
        server.answer("/mcp") { _ in .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
        server.answer(Self.wellKnown) { _ in Self.document() }
        let login = server.login(
            browser.grant, client: .public("cli"), provider: .protecting(Self.resource))
        let error = try server.failure(login.fetchTokens())
        #expect(error.code == .oauthMetadata && error.message.contains("PKCE") && browser.pages.isEmpty)
        let known = server.login(browser.grant, client: .public("cli"))
        #expect(try server.result(known.fetchTokens()).error == nil)
        #expect(browser.pages.first?["code_challenge_method"] == "S256")
    }

    // MARK: - Where metadata are

    /// The metadata are at the URL of the challenge, below the well-known path of the resource, or at that of its host.
    @Test(
        arguments: [
            ("/meta", #"Bearer resource_metadata="https://api.test/meta""#), (wellKnown + "/mcp", "Bearer"),
            (wellKnown, "Bearer"), (wellKnown, #"Bearer resource_metadata="https://evil.test/meta""#),
            (wellKnown, #"Bearer resource_metadata="http://api.test/meta""#),
        ])
    func places(path: String, challenge: String) throws {
        protect("T1", challenge: challenge)
        server.answer(path) { _ in Self.document() }
        #expect(try get(session()) == nil)
        #expect(browser.pages.first?["resource"] == Self.resource)
        #expect(server.calls("/token").first?["resource"] == Self.resource)
        #expect(!server.calls.contains { $0.request.url.host() == "evil.test" })
    }

    /// The metadata of the server are found by OAuth's path or OpenID's.
    @Test func openIDMetadata() throws {
        protect("T1")
        server.answer(Self.wellKnown) { _ in Self.document() }
        server.answer("/.well-known/oauth-authorization-server") { _ in .status(.notFound) }
        server.answer("/.well-known/openid-configuration") { _ in .json(AuthorizationServerDouble.metadata())
        }
        #expect(try get(session()) == nil)
    }

    /// Metadata of another resource, or of another issuer, end the login before the user is asked.
    @Test func mismatches() throws {
        protect("T1")
        server.answer(Self.wellKnown + "/mcp") { _ in Self.document("https://evil.test/mcp") }
        #expect(try get(session())?.code == .oauthMetadata)
        server.answer(Self.wellKnown + "/mcp") { _ in Self.document() }
        server.answer("/.well-known/oauth-authorization-server") { _ in
            .json(AuthorizationServerDouble.metadata(issuer: "https://evil.test"))
        }
        #expect(try get(session())?.code == .oauthMetadata && browser.pages.isEmpty)
    }

    /// A resource that needs no login is used without one.
    @Test func openResource() throws {
        server.answer("/mcp") { _ in .json("1") }
        #expect(try get(session()) == nil)
        #expect(server.calls.count == 1 && browser.pages.isEmpty)
    }

    // MARK: - Scopes

    /// The scopes of the challenge come before those of the metadata; without either, none are requested. Those of the app
    /// come first.
    @Test(
        arguments: [
            ("Bearer scope=\"a b\"", ["c"], nil, "a b"), ("Bearer", ["c", "d"], nil, "c d"),
            ("Bearer", nil, nil, nil), ("Bearer scope=\"a\"", ["c"], ["own"], "own"),
        ] as [(String, [String]?, [String]?, String?)])
    func scopes(challenge: String, supported: [String]?, own: [String]?, requested: String?) throws {
        protect("T1", challenge: challenge)
        server.answer(Self.wellKnown) { _ in Self.document(scopes: supported) }
        #expect(try get(session(scopes: own)) == nil)
        #expect(browser.pages.first?["scope"] == requested)
    }

    /// A call that needs more scopes leads to one more login with all of them, and a second refusal is final.
    @Test func stepUp() throws {
        server.answer(Self.wellKnown) { _ in Self.document() }
        server.answer("/mcp") { call in
            guard call.authorization != nil else {
                return .status(.unauthorized, headers: [.wwwAuthenticate: #"Bearer scope="read""#])
            }
            return .status(
                .forbidden, headers: [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="write""#])
        }
        let session = session()
        for _ in 0..<4 { #expect(try get(session)?.status == .forbidden) }
        #expect(browser.pages.map { $0["scope"] } == ["read", "read write"])
    }

    // MARK: - Clients

    /// How the client authenticates follows the metadata of the server.
    @Test(arguments: ["client_secret_basic", "client_secret_post", "none"])
    func authentication(method: String) throws {
        let server = AuthorizationServerDouble(metadata: [
            "token_endpoint_auth_methods_supported": .array([.string(method)])
        ])
        server.answer(Self.wellKnown) { _ in Self.document() }
        server.answer("/mcp") { call in
            call.authorization == nil
                ? .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) : .json("1")
        }
        let client = method == "none" ? OAuth.Client.public("cli") : .confidential("cli", secret: "s")
        let session = Session.oauth(.protecting(Self.resource), client: client, flow: browser.grant)
        #expect(try server.result(server.client(session).get("/mcp")).error == nil)
        let call = try #require(server.calls("/token").first)
        #expect((call.authorization != nil) == (method == "client_secret_basic"))
        #expect((call["client_secret"] != nil) == (method == "client_secret_post"))
    }

    // MARK: - Another server

    /// When the resource moves to another server, the refresh token of the former one is not sent there.
    @Test func migration() throws {
        protect("T2")
        server.answer(Self.wellKnown) { _ in Self.document(issuer: "https://new.test") }
        server.answer("/.well-known/oauth-authorization-server") { call in
            .json(AuthorizationServerDouble.metadata(issuer: "https://\(call.request.url.host() ?? "")"))
        }
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T2", refresh: "R2") }
        let former = Credential(token: "T1", refreshToken: "R1", issuer: "https://id.test")
        let session = session(credential: former)
        #expect(try get(session) == nil)
        #expect(server.calls("/token").map { $0.request.url.host() } == ["new.test"])
        #expect(!server.calls.contains { $0["refresh_token"] != nil })
        #expect(session.credential?.issuer == "https://new.test")
    }

    /// A refresh token whose issuer is not known is not sent to the server that the resource names now.
    @Test func unknownIssuer() throws {
        protect("T1")
        server.answer(Self.wellKnown) { _ in Self.document() }
        #expect(try get(session(credential: Credential(token: "T0", refreshToken: "R0"))) == nil)
        #expect(!server.calls.contains { $0["refresh_token"] != nil } && browser.pages.count == 1)
    }

    /// Tokens of another server, or of an unknown one, are not sent to the server that the resource names now, not even to
    /// be revoked.
    @Test(arguments: ["https://id.test", nil, "https://new.test"])
    func revocation(issuer: String?) throws {
        server.answer(Self.wellKnown) { _ in Self.document(issuer: "https://new.test") }
        server.answer("/.well-known/oauth-authorization-server") { _ in
            .json(AuthorizationServerDouble.metadata(issuer: "https://new.test"))
        }
        server.answer("/revoke") { _ in .status(.ok) }
        let login = server.login(
            browser.grant, client: .public("cli"), provider: .protecting(Self.resource))
        let credential = Credential(token: "T1", refreshToken: "R1", issuer: issuer)
        let error = try server.result(login.revoke(credential)).error
        #expect((error == nil) == (issuer == "https://new.test"))
        #expect(server.calls("/revoke").count == (error == nil ? 2 : 0))
        #expect(error == nil || error?.code == .oauthMetadata)
    }

    /// The refresh token of the server that the resource still names is used.
    @Test func sameIssuer() throws {
        protect("T1")
        server.answer(Self.wellKnown) { _ in Self.document() }
        let former = Credential(token: "T0", refreshToken: "R0", issuer: "https://id.test")
        #expect(try get(session(credential: former)) == nil)
        #expect(server.calls("/token").map { $0["refresh_token"] } == ["R0"] && browser.pages.isEmpty)
        #expect(server.calls("/token").first?["resource"] == Self.resource)
    }

    // MARK: - Challenges

    /// Challenges of all kinds, and malformed ones.
    @Test(
        arguments: [
            (
                #"Bearer realm="a", error="invalid_token", scope="x  y", resource_metadata="https://a""#, 1,
                ["x", "y"]
            ),
            (#"Basic realm="x", DPoP error="use_dpop_nonce", Bearer scope=a"#, 2, []), ("Bearer", 1, []),
            ("bearer scope=\"\"", 1, []), ("Bearer scope=\"a\\\"b c\"", 1, ["c"]), ("", 0, []),
            ("=,\"", 0, []),
            (#"Bearer max_age="-1""#, 1, []), (#"Bearer max_age="99999999999999999999""#, 1, []),
        ] as [(String, Int, [String])])
    func challenges(text: String, count: Int, scopes: [String]) {
        let head = ResponseHead(status: .unauthorized, headerFields: [.wwwAuthenticate: text])
        let found = OAuthChallenge.all(in: head)
        #expect(found.count == count && (found.first?.scopes ?? []) == scopes)
        #expect(found.allSatisfy { $0.maximumAge == nil })
    }
}
#endif
