#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// Logins by an authorization code: the request, the redirect, and what binds the two to each other.
@Suite struct AuthorizationCodeLoginTests {
    private let server = AuthorizationServerDouble()

    private func login(_ browser: BrowserDouble, scopes: [String]? = nil) -> OAuth.Login {
        server.login(browser.grant, client: .public("cli"), scopes: scopes)
    }

    /// The parameters of the request, and the code with the verifier of its challenge.
    @Test func parameters() throws {
        let browser = BrowserDouble()
        let tokens = try server.result(login(browser, scopes: ["a", "b"]).fetchTokens()).get()
        #expect(tokens.accessToken == "T1")
        let page = try #require(browser.pages.first)
        #expect(page.url.absoluteString.hasPrefix("https://id.test/authorize?"))
        #expect(page["response_type"] == "code" && page["client_id"] == "cli" && page["scope"] == "a b")
        #expect(page["redirect_uri"] == browser.redirectURL && page["code_challenge_method"] == "S256")
        #expect(page["nonce"] == nil && page["prompt"] == nil)
        let call = try #require(server.calls("/token").first)
        #expect(call["grant_type"] == "authorization_code" && call["code"] == "C1")
        #expect(call["redirect_uri"] == browser.redirectURL && call["client_id"] == "cli")
        let verifier = try #require(call["code_verifier"])
        #expect(verifier.utf8.count == 43)
        #expect(SHA256.hash(data: Array(verifier.utf8)).base64URLText == page["code_challenge"])
        #expect(page["state"]?.utf8.count == 43)
    }

    /// State and verifier are new for each login.
    @Test func fresh() throws {
        let browser = BrowserDouble()
        let login = login(browser)
        for _ in 0..<5 { _ = try server.result(login.fetchTokens()).get() }
        #expect(Set(browser.pages.map { $0["state"] }).count == 5)
        #expect(Set(browser.pages.map { $0["code_challenge"] }).count == 5)
    }

    /// The endpoint keeps its own query.
    @Test(
        arguments: [
            ("https://id.test/authorize?tenant=1", "?tenant=1&client_id="),
            ("https://id.test/authorize?", "?client_id="),
            ("https://id.test/authorize?a=1&", "?a=1&client_id="),
        ])
    func endpointQuery(endpoint: String, start: String) throws {
        let server = AuthorizationServerDouble(metadata: ["authorization_endpoint": .string(endpoint)])
        let browser = BrowserDouble()
        _ = try server.result(server.login(browser.grant, client: .public("cli")).fetchTokens()).get()
        #expect(browser.pages.first?.url.absoluteString.contains(start) == true)
    }

    /// Responses that are not those of the server for this login; their code is not used.
    @Test(
        arguments: [
            ("code=C", "state differs"), ("code=C&state=", "state differs"),
            ("code=C&state=x", "state differs"),
            ("state={}", "neither a code nor an error"), ("code=&state={}", "neither a code nor an error"),
            ("code=a%00b&state={}", "neither a code nor an error"),
            ("code=C&state={}&state={}", "no response"), ("code=C&code=D&state={}", "no response"),
            ("code=C&state={}&iss=https%3A%2F%2Fevil.test", "another authorization server"),
            ("code=C&state={}&iss=https%3A%2F%2Fid.test%2F", "another authorization server"),
            ("code=C&state={}&iss=https%3A%2F%2FID.test", "another authorization server"),
            ("code=C&state={}&iss=", "another authorization server"),
        ])
    func strangers(query: String, word: String) throws {
        let browser = BrowserDouble { query.replacing("{}", with: $0["state"] ?? "") }
        let error = try server.failure(login(browser).fetchTokens())
        #expect(error.code == .oauthCallback && error.message.contains(word), "\(error)")
        #expect(server.calls("/token").isEmpty && !OAuth.Login.isRejection(error))
    }

    /// A server that names the issuer in its responses must do so (RFC 9207), and others may.
    @Test func issuers() throws {
        let known = AuthorizationServerDouble(metadata: [
            "authorization_response_iss_parameter_supported": .bool(true)
        ])
        let silent = BrowserDouble()
        let error = try known.failure(known.login(silent.grant, client: .public("cli")).fetchTokens())
        #expect(error.code == .oauthCallback && known.calls("/token").isEmpty)
        let naming = BrowserDouble { "code=C&iss=https://id.test&state=\($0["state"] ?? "")" }
        for server in [known, server] {
            _ = try server.result(server.login(naming.grant, client: .public("cli")).fetchTokens()).get()
        }
        let foreign = BrowserDouble { "error=access_denied&iss=https://evil.test&state=\($0["state"] ?? "")" }
        #expect(try known.failure(known.login(foreign.grant).fetchTokens()).code == .oauthCallback)
    }

    /// The user has denied the login; an error with another state is not that of this login.
    @Test func denied() throws {
        let browser = BrowserDouble {
            "error=access_denied&error_description=no+thanks&state=\($0["state"] ?? "")"
        }
        let error = try server.failure(login(browser).fetchTokens())
        #expect(error.code == .oauthRefused && error.envelopeCode == "access_denied")
        #expect(error.serverMessage == "no thanks" && OAuth.Login.isRejection(error))
        let forged = BrowserDouble { _ in "error=access_denied&state=x" }
        #expect(try server.failure(login(forged).fetchTokens()).code == .oauthCallback)
    }

    /// A user who does not come back, and one who comes back late.
    @Test func patience() throws {
        let browser = BrowserDouble { _ in nil }
        let recorder = Recorder(login(browser).fetchTokens(), on: server.clock)
        try server.clock.advance(by: .seconds(599))
        #expect(browser.pages.count == 1 && recorder.events.isEmpty)
        try server.clock.advance(by: .seconds(2))
        #expect(recorder.failure?.code == .oauthTimeout)
        let late = Recorder(login(browser).fetchTokens(), on: server.clock)
        try server.clock.advance(by: .seconds(500))
        browser.callbacks.send("com.example.app:/callback?code=C&state=\(browser.pages[1]["state"] ?? "")#x")
        try server.clock.run()
        #expect(late.values.count == 1)
    }

    /// URLs that an app receives and that are no responses.
    @Test(arguments: [
        "com.example.app:/callback", "", "#code=C", "?" + String(repeating: "a", count: 20_000),
    ])
    func noResponses(url: String) throws {
        let browser = BrowserDouble { _ in nil }
        let recorder = Recorder(login(browser).fetchTokens(), on: server.clock)
        try server.clock.advance(by: .seconds(1))
        browser.callbacks.send(url)
        try server.clock.advance(by: .seconds(1))
        #expect(recorder.failure?.code == .oauthCallback)
    }

    /// URLs that the app has received, and that are not those of the redirect; their code is not used.
    @Test(
        arguments: [
            ("https://app.test/cb", "https://app.test/cb?{}", true),
            ("https://app.test/cb", "https://app.test/cb?{}#x", true),
            ("https://app.test/cb", "HTTPS://APP.test/cb?{}", true),
            ("https://app.test", "https://app.test/?{}", true),
            ("https://app.test/cb?a=1", "https://app.test/cb?a=1&{}", true),
            ("com.example.app:/callback", "com.example.app:/callback?{}", true),
            ("https://app.test/cb", "https://app.test/CB?{}", false),
            ("https://app.test/cb", "https://app.test/cb/?{}", false),
            ("https://app.test/cb", "https://evil.test/cb?{}", false),
            ("https://app.test/cb", "http://app.test/cb?{}", false),
            ("https://app.test/cb", "https://app.test:444/cb?{}", false),
            ("https://app.test/server1", "https://app.test/server2?{}", false),
            ("com.example.app:/callback", "com.example.other:/callback?{}", false),
            ("https://app.test/cb", "?{}", false),
        ])
    func receivedURLs(redirect: String, received: String, isGood: Bool) throws {
        let callbacks = Signal<String>()
        let grant = OAuth.Grant.authorizationCode(
            redirect: .url(redirect, responses: callbacks.observable)
        ) { url in
            let state = AuthorizationURL(url)["state"] ?? ""
            callbacks.send(received.replacing("{}", with: "code=C&state=\(state)"))
        }
        let error = try server.result(server.login(grant, client: .public("cli")).fetchTokens()).error
        #expect((error == nil) == isGood && error?.code == (isGood ? nil : .oauthCallback))
        #expect(server.calls("/token").isEmpty == !isGood)
    }

    /// Responses that end without one are an error, before and after the URL is open.
    @Test func noResponseAtAll() throws {
        let empty = OAuth.Grant.authorizationCode(redirect: .url("app:/cb", responses: .empty())) { _ in }
        #expect(try server.failure(server.login(empty).fetchTokens()).code == .oauthCallback)
        let clock = server.clock
        let late = OAuth.Grant.authorizationCode(
            redirect: .url(
                "app:/cb",
                responses: Observable<Void, Never>.timer(.seconds(1), on: clock).compactMap { nil as String? }
            )
        ) { _ in }
        let error = try server.failure(server.login(late).fetchTokens())
        #expect(error.code == .oauthCallback && !OAuth.Login.isRejection(error))
        #expect(server.calls("/token").isEmpty)
    }

    /// A server whose codes could be stolen is not used.
    @Test func noPKCE() throws {
        let server = AuthorizationServerDouble(metadata: [
            "code_challenge_methods_supported": .array([.string("plain")])
        ])
        let browser = BrowserDouble()
        let error = try server.failure(server.login(browser.grant).fetchTokens())
        #expect(error.code == .oauthMetadata && error.message.contains("S256") && browser.pages.isEmpty)
    }

    /// `offline_access` is asked for with the consent that it needs, where the server knows it.
    @Test(arguments: [(nil, true), (["a", "offline_access"], true), (["a"], false)] as [([String]?, Bool)])
    func offlineAccess(supported: [String]?, isAsked: Bool) throws {
        let list = supported.map { JSONValue.array($0.map { .string($0) }) }
        let server = AuthorizationServerDouble(metadata: ["scopes_supported": list])
        let browser = BrowserDouble()
        _ = try server.result(
            server.login(browser.grant, client: .public("cli"), scopes: ["a", "offline_access"]).fetchTokens()
        ).get()
        #expect(browser.pages.first?["scope"] == (isAsked ? "a offline_access" : "a"))
        #expect(browser.pages.first?["prompt"] == (isAsked ? "consent" : nil))
    }

    /// A pushed request has all parameters and the authentication of the client, and the URL has only its name.
    @Test func pushed() throws {
        let server = AuthorizationServerDouble(metadata: [
            "pushed_authorization_request_endpoint": .string("https://id.test/par"),
            "require_pushed_authorization_requests": .bool(true),
        ])
        server.answer("/par") { _ in
            .json(#"{"request_uri":"urn:ietf:params:oauth:request_uri:x","expires_in":60}"#, status: .created)
        }
        let states = Notes<String>()
        let browser = BrowserDouble { page in
            "code=C&state=\(states.all.last ?? page["state"] ?? "")"
        }
        server.answer("/par") { call in
            states.add(call["state"] ?? "")
            return .json(
                #"{"request_uri":"urn:ietf:params:oauth:request_uri:x","expires_in":60}"#, status: .created)
        }
        _ = try server.result(server.login(browser.grant, scopes: ["a"]).fetchTokens()).get()
        let push = try #require(server.calls("/par").first)
        #expect(push.all("client_id") == ["cli"] && push["redirect_uri"] == browser.redirectURL)
        #expect(push["scope"] == "a" && push["code_challenge"] != nil && push.authorization != nil)
        let page = try #require(browser.pages.first)
        #expect(
            page.url.query()
                == "client_id=cli&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Ax")
        server.answer("/par") { _ in .json("{}", status: .created) }
        #expect(try server.failure(server.login(browser.grant).fetchTokens()).code == .oauthResponse)
    }

    /// Redirect URLs that no server can redirect to.
    @Test(arguments: ["", "callback", "https://app.test/#a"])
    func redirectURLs(url: String) throws {
        let grant = OAuth.Grant.authorizationCode(redirect: .url(url, responses: .never())) { _ in }
        #expect(try server.failure(server.login(grant).fetchTokens()).code == .invalidConfiguration)
    }

    /// Queries are read in one pass; a parameter twice is refused, others are ignored.
    @Test func queries() {
        let response = AuthorizationResponse(query: "&&state=a%20b+c&code=%2B&x=1&x=2&=&error")
        #expect(response?.state == "a b c" && response?.code == "+" && response?.error == "")
        #expect(AuthorizationResponse(query: "iss=a&%69ss=b") == nil)
        #expect(AuthorizationResponse(query: String(repeating: "a=b&", count: 5000)) == nil)
    }
}
#endif
