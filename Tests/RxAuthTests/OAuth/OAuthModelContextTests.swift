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

/// The authorization of the Model Context Protocol, by scenarios of its conformance suite that ``OAuthResourceTests`` does
/// not have: a client that knows the URL of a resource only.
@Suite struct OAuthModelContextTests {
    private static let resource = "https://api.test/mcp"
    private static let protectedResource = "/.well-known/oauth-protected-resource"

    /// A resource whose server has this issuer, and accepts the token `T1`.
    private static func server(
        issuer: String = AuthorizationServerDouble.issuer, metadata: [String: JSONValue?] = [:],
        at place: String = "/.well-known/oauth-authorization-server", isBound: Bool = false
    ) -> AuthorizationServerDouble {
        let server = AuthorizationServerDouble()
        server.answer(protectedResource) { _ in
            .json(#"{"resource":"\#(resource)","authorization_servers":["\#(issuer)"]}"#)
        }
        server.answer("/.well-known/oauth-authorization-server") { _ in .status(.notFound) }
        server.answer(place) { _ in .json(AuthorizationServerDouble.metadata(metadata, issuer: issuer)) }
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens("T1", isBound ? ["token_type": .string("DPoP")] : [:])
        }
        server.answer("/mcp") { call in
            call.authorization == (isBound ? "DPoP T1" : "Bearer T1")
                ? .json("1") : .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"])
        }
        return server
    }

    private static func get(
        from server: AuthorizationServerDouble, _ client: OAuth.Client = .public("cli"),
        by grant: OAuth.Grant, scopes: [String]? = nil
    ) throws -> NetworkError? {
        let session = Session.oauth(.protecting(resource), client: client, scopes: scopes, flow: grant)
        return try server.result(server.client(session).get("/mcp")).error
    }

    /// Where the metadata of an issuer with a path may be (metadata variants).
    @Test(arguments: [
        "/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ])
    func issuersWithPaths(place: String) throws {
        let browser = BrowserDouble()
        let server = Self.server(issuer: "https://id.test/tenant", at: place)
        #expect(try Self.get(from: server, by: browser.grant) == nil)
        #expect(browser.pages.count == 1 && server.calls(place).count == 1)
    }

    /// The issuer in the redirect (RFC 9207): the right one, none, another one, one that is the same only after
    /// normalization, and one that the server has not announced.
    @Test(
        arguments: [
            (true, "https://id.test", true), (true, nil, false), (true, "https://evil.test", false),
            (true, "https://id.test/", false), (true, "https://ID.test", false),
            (true, "https://id.test:443", false), (false, nil, true), (false, "https://id.test", true),
            (false, "https://evil.test", false),
        ] as [(Bool, String?, Bool)])
    func issuers(isAnnounced: Bool, issuer: String?, isAccepted: Bool) throws {
        let server = Self.server(
            metadata: isAnnounced ? ["authorization_response_iss_parameter_supported": .bool(true)] : [:])
        let browser = BrowserDouble { page in
            "code=C1&state=\(page["state"] ?? "")" + (issuer.map { "&iss=\($0.formEncoded)" } ?? "")
        }
        let error = try Self.get(from: server, by: browser.grant)
        #expect(error?.code == (isAccepted ? nil : .oauthCallback))
        // A code of another server is not sent anywhere.
        #expect(server.calls("/token").count == (isAccepted ? 1 : 0))
    }

    /// A client that is described by a document, where the server accepts that; otherwise one that is registered.
    @Test(arguments: [true, false]) func documents(isAccepted: Bool) throws {
        let server = Self.server(
            metadata: ["client_id_metadata_document_supported": .bool(isAccepted)])
        let browser = BrowserDouble()
        let url = "https://app.example.com/client.json"
        let client = try OAuth.Client.document(url, fallback: .confidential("registered", secret: "s"))
        #expect(try Self.get(from: server, client, by: browser.grant) == nil)
        #expect(browser.pages.first?["client_id"] == (isAccepted ? url : "registered"))
        let call = try #require(server.calls("/token").first)
        #expect((call.authorization == nil) == isAccepted)
    }

    /// `offline_access` is requested, with the consent that it needs, where the server has such a scope only.
    @Test(arguments: [["read", "offline_access"], ["read"]]) func offlineAccess(supported: [String]) throws {
        let server = Self.server(
            metadata: ["scopes_supported": .array(supported.map { .string($0) })])
        let browser = BrowserDouble()
        #expect(
            try Self.get(from: server, by: browser.grant, scopes: ["read", "offline_access"]) == nil)
        #expect(browser.pages.first?["scope"] == supported.joined(separator: " "))
        #expect(browser.pages.first?["prompt"] == (supported.count == 2 ? "consent" : nil))
    }

    /// Clients without a user: by a secret, by a signed token, and by the token of a workload.
    @Test func machines() throws {
        let key = MessageSigningKey.generatedP256()
        let machines: [(OAuth.Client, OAuth.Grant, String)] = [
            (.confidential("cli", secret: "s"), .clientCredentials, "client_credentials"),
            (.init(id: "cli", authentication: .privateKey(key)), .clientCredentials, "client_credentials"),
            (
                .public("cli"), .jwtBearer { .just("workload.token.x") },
                "urn:ietf:params:oauth:grant-type:jwt-bearer"
            ),
        ]
        for (client, grant, type) in machines {
            let server = Self.server()
            #expect(try Self.get(from: server, client, by: grant) == nil)
            let call = try #require(server.calls("/token").first)
            #expect(call["grant_type"] == type && call["resource"] == Self.resource)
        }
    }

    /// An identity provider of a company issues an assertion for the user, which the server of the resource exchanges.
    @Test func companies() throws {
        let server = Self.server()
        let provider = AuthorizationServerDouble()
        provider.answer("/token") { _ in
            AuthorizationServerDouble.tokens(
                "assertion",
                [
                    "token_type": .string("N_A"),
                    "issued_token_type": .string("urn:ietf:params:oauth:token-type:id-jag"),
                ])
        }
        var exchange = OAuth.TokenExchange(
            subject: .init("identity", type: "urn:ietf:params:oauth:token-type:id_token"))
        exchange.audiences = [AuthorizationServerDouble.issuer]
        exchange.requestedType = "urn:ietf:params:oauth:token-type:id-jag"
        let company = provider.login(.tokenExchange(exchange), resources: [Self.resource])
        let issued = try provider.result(company.fetchTokens()).get()
        #expect(issued.issuedType == "urn:ietf:params:oauth:token-type:id-jag")
        #expect(
            try Self.get(from: server, by: .jwtBearer { .just(issued.accessToken) }) == nil)
        #expect(server.calls("/token").first?["assertion"] == "assertion")
    }

    /// A resource that requires proofs of possession.
    @Test func proofs() throws {
        let server = Self.server(isBound: true)
        let (dpop, browser) = (DPoP(), BrowserDouble())
        let session = Session.oauth(
            .protecting(Self.resource), client: .public("cli"), flow: browser.grant, dpop: dpop)
        let client = server.client(session) { $0.signer = dpop }
        #expect(try server.result(client.get("/mcp")).error == nil)
        #expect(browser.pages.first?["dpop_jkt"] == dpop.key.thumbprint)
        #expect(server.calls("/mcp").last?.request.headerFields[.dpop] != nil)
    }
}
#endif
