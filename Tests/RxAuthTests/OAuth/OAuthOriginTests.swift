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

/// Responses of other origins, to which redirects lead: they get no token and no proof, and what they demand leads to no
/// login.
@Suite struct OAuthOriginTests {
    private let server = AuthorizationServerDouble()
    private let browser = BrowserDouble()

    private static let foreignChallenges: [(HTTPResponse.Status, String)] = [
        (.unauthorized, "Bearer"), (.unauthorized, #"Bearer error="invalid_token", scope="admin""#),
        (.unauthorized, #"Bearer error="insufficient_user_authentication", acr_values="high", max_age="0""#),
        (.unauthorized, #"Bearer resource_metadata="https://evil.test/meta", scope="admin""#),
        (.unauthorized, #"DPoP error="use_dpop_nonce""#),
        (.forbidden, #"Bearer error="insufficient_scope", scope="admin""#),
    ]

    /// The requests that another host has received.
    private var foreignCalls: [AuthorizationServerDouble.Call] {
        server.calls.filter { $0.request.url.host() == "evil.test" }
    }

    /// Lets `/api` lead to another origin, whose server challenges.
    private func leadAway(_ status: HTTPResponse.Status, _ challenge: String, from path: String = "/api") {
        server.answer(path) { _ in
            .status(.found, headers: [.location: "https://evil.test/grab"])
        }
        server.answer("/grab") { _ in
            .status(status, headers: [.wwwAuthenticate: challenge, .dpopNonce: "stolen"])
        }
    }

    /// A challenge of another origin is an error of the request and nothing more.
    @Test(arguments: foreignChallenges, [true, false])
    func foreignChallenge(challenge: (HTTPResponse.Status, String), isBound: Bool) throws {
        leadAway(challenge.0, challenge.1)
        if isBound {
            server.answer("/token") { _ in
                AuthorizationServerDouble.tokens("T1", ["token_type": .string("DPoP")])
            }
        }
        let dpop = isBound ? DPoP() : nil
        let session = Session.oauth(
            .discover(AuthorizationServerDouble.issuer), client: .public("cli"), flow: browser.grant,
            dpop: dpop)
        let client = server.client(session) { $0.signer = dpop }
        for _ in 0..<3 {
            let error = try server.result(client.get("/api")).error
            #expect(error?.code == .status && error?.status == challenge.0)
        }
        #expect(browser.pages.count == 1 && server.calls("/token").count == 1)
        #expect(session.credential?.token == "T1")
        #expect(foreignCalls.count == 3)
        #expect(foreignCalls.allSatisfy { $0.authorization == nil && $0.request.headerFields[.dpop] == nil })
        // A later login asks for nothing that another origin has demanded.
        session.logOut()
        server.answer("/api") { _ in .json("1") }
        #expect(try server.result(client.get("/api")).error == nil)
        #expect(browser.pages.last?["scope"] == nil && browser.pages.last?["acr_values"] == nil)
    }

    /// The metadata of a protected resource are not those that another origin names.
    @Test(arguments: foreignChallenges)
    func foreignMetadata(challenge: (HTTPResponse.Status, String)) throws {
        let resource = "https://api.test/mcp"
        server.answer("/.well-known/oauth-protected-resource") { _ in
            .json(#"{"resource":"\#(resource)","authorization_servers":["https://id.test"]}"#)
        }
        leadAway(challenge.0, challenge.1, from: "/mcp")
        let session = Session.oauth(.protecting(resource), client: .public("cli"), flow: browser.grant)
        let client = server.client(session)
        #expect(try server.result(client.get("/mcp")).error?.status == challenge.0)
        #expect(browser.pages.isEmpty && foreignCalls.count == 1)
        server.answer("/mcp") { call in
            call.authorization == nil
                ? .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) : .json("1")
        }
        #expect(try server.result(client.get("/mcp")).error == nil)
        #expect(browser.pages.count == 1 && browser.pages.first?["scope"] == nil && foreignCalls.count == 1)
    }

    /// A redirect within the origin carries the token, and its demand leads to a login.
    @Test func ownChallenge() throws {
        server.answer("/api") { _ in .status(.found, headers: [.location: "/moved"]) }
        server.answer("/moved") { call in
            call.authorization == "Bearer T2"
                ? .json("1")
                : .status(
                    .forbidden,
                    headers: [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="admin""#])
        }
        server.answer(
            "/token", AuthorizationServerDouble.tokens("T1"), AuthorizationServerDouble.tokens("T2"))
        let session = Session.oauth(
            .discover(AuthorizationServerDouble.issuer), client: .public("cli"), scopes: ["read"],
            flow: browser.grant)
        #expect(try server.result(server.client(session).get("/api")).error == nil)
        #expect(browser.pages.map { $0["scope"] } == ["read", "read admin"])
    }

    /// The servers of an API have nonces of their own, which never mix, although one signer proves requests to all of them
    /// and to the authorization server.
    @Test func nonces() throws {
        let hosts = ["id.test": "N-id", "api.test": "N-api", "b.test": "N-b"]
        @Sendable func answer(_ call: AuthorizationServerDouble.Call) -> ScriptedTransport.Reply? {
            let host = call.request.url.host() ?? ""
            let proof = call.request.headerFields[.dpop].flatMap { JSONWebToken($0) }
            guard let nonce = hosts[host], proof?.claims["nonce"]?.text != nonce else { return nil }
            let headers: HTTPFields = [
                .dpopNonce: hosts[host] ?? "", .wwwAuthenticate: #"DPoP error="use_dpop_nonce""#,
            ]
            return host == "id.test"
                ? .json(#"{"error":"use_dpop_nonce"}"#, status: .badRequest, headers: headers)
                : .status(.unauthorized, headers: headers)
        }
        server.answer("/token") { call in
            answer(call) ?? AuthorizationServerDouble.tokens("T1", ["token_type": .string("DPoP")])
        }
        server.answer("/api") { call in answer(call) ?? .json("1") }
        let dpop = DPoP()
        let session = Session.oauth(
            .discover(AuthorizationServerDouble.issuer), client: .public("cli"), flow: browser.grant,
            dpop: dpop)
        for url in ["https://api.test", "https://b.test", "https://api.test", "https://b.test"] {
            let client = server.client(session, at: url) { $0.signer = dpop }
            #expect(try server.result(client.get("/api")).error == nil)
        }
        // One more exchange for each origin, and none later.
        #expect(server.calls("/token").count == 2 && server.calls("/api").count == 6)
        for call in server.calls {
            let nonce = call.request.headerFields[.dpop].flatMap { JSONWebToken($0) }?.claims["nonce"]?.text
            #expect(nonce == nil || nonce == hosts[call.request.url.host() ?? ""])
        }
    }
}
#endif
