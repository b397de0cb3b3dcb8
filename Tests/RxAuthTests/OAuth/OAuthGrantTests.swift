#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// The requests of the grants and of the ways of client authentication, and what the token endpoint may answer.
@Suite struct OAuthGrantTests {
    private let server = AuthorizationServerDouble()

    private func tokens(_ login: OAuth.Login) throws -> OAuth.Tokens {
        try server.result(login.fetchTokens()).get()
    }

    private var request: AuthorizationServerDouble.Call? { server.calls("/token").last }

    // MARK: - Client authentication

    /// Id and secret are encoded as in forms before they are joined (RFC 6749 §2.3.1).
    @Test func basic() throws {
        _ = try tokens(server.login(client: .confidential("a:b c", secret: "p+ä/")))
        let pair = Data("a%3Ab+c:p%2B%C3%A4%2F".utf8).base64EncodedString()
        #expect(request?.authorization == "Basic " + pair)
        #expect(request?["client_id"] == nil && request?["client_secret"] == nil)
        #expect(request?["grant_type"] == "client_credentials")
        // Without a charset, which some servers refuse.
        #expect(request?.request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    /// A secret goes into the form if the server supports only that.
    @Test(
        arguments: [
            (["client_secret_post"], true), (["client_secret_basic", "client_secret_post"], false),
            (["private_key_jwt"], false), (nil, false),
        ] as [([String]?, Bool)])
    func chosenMethod(methods: [String]?, isPost: Bool) throws {
        let list = methods.map { JSONValue.array($0.map { .string($0) }) }
        let server = AuthorizationServerDouble(metadata: ["token_endpoint_auth_methods_supported": list])
        _ = try server.result(server.login().fetchTokens()).get()
        let call = try #require(server.calls("/token").last)
        #expect((call["client_secret"] == "s") == isPost && (call.authorization == nil) == isPost)
    }

    /// A secret that must go into the form.
    @Test func post() throws {
        _ = try tokens(server.login(client: .init(id: "cli", authentication: .post(secret: "s e"))))
        #expect(request?["client_id"] == "cli" && request?["client_secret"] == "s e")
        #expect(request?.authorization == nil)
    }

    /// A signed token names the issuer as its audience, and is never the same twice.
    @Test func privateKey() throws {
        let key = MessageSigningKey.generatedP256()
        let client = OAuth.Client(id: "cli", authentication: .privateKey(key, keyID: "k"))
        let login = server.login(client: client)
        _ = try tokens(login)
        _ = try tokens(login)
        let assertions = server.calls("/token").compactMap { $0["client_assertion"] }
        #expect(Set(assertions).count == 2)
        let token = try #require(JSONWebToken(assertions[0]))
        #expect(key.verifyingKey.verifies(token.signature, of: token.signedBytes))
        #expect(token.header["alg"] == .string("ES256") && token.header["kid"] == .string("k"))
        #expect(token.claims["iss"] == .string("cli") && token.claims["sub"] == .string("cli"))
        #expect(token.claims["aud"] == .string("https://id.test"))
        #expect(
            token.claims["iat"] == .integer(1_699_999_999) && token.claims["exp"] == .integer(1_700_000_059))
        #expect(
            request?["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    }

    /// Clients with a certificate use the endpoints for it.
    @Test func certificate() throws {
        let server = AuthorizationServerDouble(metadata: [
            "mtls_endpoint_aliases": .object(["token_endpoint": .string("https://mtls.test/token")])
        ])
        _ = try server.result(
            server.login(client: .init(id: "cli", authentication: .certificate)).fetchTokens()
        ).get()
        #expect(server.calls.last?.request.url.absoluteString == "https://mtls.test/token")
        #expect(server.calls.last?["client_id"] == "cli")
    }

    /// The URL of a document is the id where the server accepts it; otherwise another client is used, or none.
    @Test func documents() throws {
        let url = "https://app.test/client.json"
        let browser = BrowserDouble()
        let known = AuthorizationServerDouble(metadata: ["client_id_metadata_document_supported": .bool(true)]
        )
        _ = try known.result(
            known.login(browser.grant, client: .document(url, fallback: .public("cli"))).fetchTokens()
        ).get()
        #expect(known.calls.last?["client_id"] == url && browser.pages.last?["client_id"] == url)
        _ = try tokens(server.login(browser.grant, client: .document(url, fallback: .public("cli"))))
        #expect(request?["client_id"] == "cli" && browser.pages.last?["client_id"] == "cli")
        let error = try server.failure(server.login(browser.grant, client: .document(url)).fetchTokens())
        #expect(error.code == .oauthMetadata && browser.pages.count == 2)
        for url in [
            "http://app.test/c", "https://app.test", "https://app.test/", "https://app.test/a/../b",
            "https://app.test/%2E%2e/b", "https://app.test/a#b", "https://u@app.test/a",
        ] {
            #expect(throws: NetworkError.self) { try OAuth.Client.document(url) }
        }
    }

    /// Client credentials without a way to prove the id are not sent.
    @Test func publicClientCredentials() throws {
        let error = try server.failure(server.login(client: .public("cli")).fetchTokens())
        #expect(error.code == .invalidConfiguration && server.calls("/token").isEmpty)
    }

    // MARK: - Grants

    /// Scopes and resources of a request; the resources are repeated parameters (RFC 8707).
    @Test func scopesAndResources() throws {
        let login = server.login(scopes: ["read", "write"], resources: ["https://a.test", "https://b.test"])
        _ = try tokens(login)
        #expect(request?["scope"] == "read write")
        #expect(request?.all("resource") == ["https://a.test", "https://b.test"])
        for (scopes, resources) in [(["a b"], []), ([""], []), ([], ["a"]), ([], ["https://a.test#b"])] {
            let error = try server.failure(server.login(scopes: scopes, resources: resources).fetchTokens())
            #expect(error.code == .invalidConfiguration)
        }
    }

    /// An assertion that the app signs itself, and one from elsewhere.
    @Test func jwtBearer() throws {
        let key = MessageSigningKey.generatedP256()
        _ = try tokens(
            server.login(.jwtBearer(key: key, issuer: "robot", subject: "anna"), client: .public("cli")))
        let token = try #require(request?["assertion"].flatMap { JSONWebToken($0) })
        #expect(request?["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        #expect(token.claims["iss"] == .string("robot") && token.claims["sub"] == .string("anna"))
        #expect(token.claims["aud"] == .string("https://id.test"))
        _ = try tokens(server.login(.jwtBearer { .just("A1") }))
        #expect(request?["assertion"] == "A1")
    }

    /// A token exchange with an actor.
    @Test func exchange() throws {
        let exchange = OAuth.TokenExchange(
            subject: .init("S1"), actor: .init("A1", type: "urn:ietf:params:oauth:token-type:jwt"),
            audiences: ["one", "two"], requestedType: "urn:ietf:params:oauth:token-type:jwt")
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens(
                "J1",
                [
                    "token_type": .string("N_A"),
                    "issued_token_type": .string("urn:ietf:params:oauth:token-type:jwt"),
                ])
        }
        let found = try tokens(server.login(.tokenExchange(exchange)))
        #expect(found.issuedType == "urn:ietf:params:oauth:token-type:jwt" && found.accessToken == "J1")
        #expect(request?["subject_token"] == "S1" && request?["actor_token"] == "A1")
        #expect(request?["subject_token_type"] == "urn:ietf:params:oauth:token-type:access_token")
        #expect(request?["actor_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
        #expect(request?.all("audience") == ["one", "two"])
        #expect(request?["requested_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
    }

    // MARK: - Answers

    /// All members of a complete answer.
    @Test func completeAnswer() throws {
        server.answer("/token") { _ in
            AuthorizationServerDouble.tokens("T1", refresh: "R1", expires: 60, ["scope": .string("a b")])
        }
        let found = try tokens(server.login())
        #expect(found.accessToken == "T1" && found.refreshToken == "R1" && found.scopes == ["a", "b"])
        #expect(found.expires?.timeIntervalSince(server.clock.date) == 60)
        #expect(found.credential.account == nil && found.credential.issuer == "https://id.test")
        server.answer("/token") { _ in .json(#"{"access_token":"T","token_type":"bEARER","expires_in":"60"}"#)
        }
        #expect(try tokens(server.login()).expires != nil)
    }

    /// Answers that are no tokens: each has an error that says what to do, and none has the content of the answer.
    @Test(
        arguments: [
            (.ok, "<!doctype html><title>canary</title>", "page of HTML"), (.ok, "", "JSON object"),
            (.ok, "[1]", "JSON object"), (.ok, #"{"canary":1}"#, "without an access token"),
            (.ok, #"{"access_token":1,"token_type":"Bearer"}"#, "without an access token"),
            (.ok, #"{"access_token":"","token_type":"Bearer"}"#, "without an access token"),
            (.ok, #"{"access_token":"a\r\ncanary: b","token_type":"Bearer"}"#, "without an access token"),
            (.ok, #"{"access_token":"canary","token_type":"mac"}"#, "unknown type"),
            (.ok, #"{"access_token":"canary"}"#, "unknown type"),
            (.ok, #"{"access_token":"canary","token_type":"DPoP"}"#, "not requested"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","expires_in":"soon"}"#, "expires_in"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","expires_in":-1}"#, "expires_in"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","expires_in":1e300}"#, "expires_in"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","refresh_token":{}}"#, "refresh_token"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","scope":["a"]}"#, "scope"),
            (.ok, #"{"access_token":["canary"],"token_type":"Bearer"}"#, "without an access token"),
            (.ok, #"{"access_token":"canary","token_type":["Bearer"]}"#, "unknown type"),
            (.ok, #"{"access_token":"canary","token_type":"Bearer","refresh_token":"a b"}"#, "refresh token"),
            (.ok, #"{"error":["canary"]}"#, "without an access token"),
            (.found, "canary", "redirects"), (.notFound, "canary", "status 404"),
            (.internalServerError, #"{"error":"canary"}"#, "status 500"),
            (.tooManyRequests, "", "try again later"),
        ] as [(HTTPResponse.Status, String, String)])
    func badAnswers(status: HTTPResponse.Status, body: String, word: String) throws {
        server.answer("/token") { _ in .json(body, status: status) }
        let error = try server.failure(server.login().fetchTokens())
        #expect(error.code == .oauthResponse)
        #expect(error.message.contains(word), "\(error.message)")
        // After the problem comes what to do about it.
        #expect(error.message.contains(#/; (check|configure|correct|set|try) /#), "\(error.message)")
        #expect(!"\(error)".contains("canary") && error.body.isEmpty)
        #expect(!OAuth.Login.isRejection(error))
    }

    /// An answer that is too long is not read to its end.
    @Test func hugeAnswer() throws {
        server.answer("/token") { _ in
            .json(String(repeating: " ", count: OAuthContext.responseLimit + 1))
        }
        let error = try server.failure(server.login().fetchTokens())
        #expect(error.code == .oauthResponse && error.message.contains("bytes; check"))
    }

    /// Refusals keep the code of the server, also with status 200, and their message is not that of the server.
    @Test(
        arguments: [
            ("invalid_client", .unauthorized, true), ("invalid_grant", .badRequest, true),
            ("invalid_grant", .ok, true), ("access_denied", .badRequest, true),
            ("temporarily_unavailable", .serviceUnavailable, false), ("server_error", .badRequest, false),
            ("x_own", .badRequest, true),
        ] as [(String, HTTPResponse.Status, Bool)])
    func refusals(code: String, status: HTTPResponse.Status, isRejection: Bool) throws {
        server.answer("/token") { _ in AuthorizationServerDouble.refusal(code, status: status) }
        let error = try server.failure(server.login().fetchTokens())
        #expect(error.code == .oauthRefused && error.envelopeCode == code)
        #expect(error.serverMessage == "because" && !error.message.contains("because"))
        #expect(OAuth.Login.isRejection(error) == isRejection)
    }

    /// An error code may contain anything; only what RFC 6749 allows is kept.
    @Test func malformedCode() throws {
        server.answer("/token") { _ in .json(#"{"error":"a\nb"}"#, status: .badRequest) }
        #expect(try server.failure(server.login().fetchTokens()).envelopeCode == "malformed")
    }

    /// The code of another client, or of another redirect URL, is named as such.
    @Test func codeOfAnotherClient() throws {
        server.answer("/token") { _ in AuthorizationServerDouble.refusal("invalid_grant") }
        let error = try server.failure(
            server.login(BrowserDouble().grant, client: .public("cli")).fetchTokens())
        #expect(error.message.contains("another client"))
    }

    /// If the clocks are an hour apart, the refusal says so.
    @Test(arguments: [(-3600.0, "ahead of"), (3600, "behind")])
    func clocks(difference: Double, word: String) throws {
        let date = server.clock.date.addingTimeInterval(difference)
        server.answer("/token") { _ in
            AuthorizationServerDouble.refusal(
                "invalid_client", status: .unauthorized, headers: [.date: date.httpDateForTests])
        }
        let error = try server.failure(server.login().fetchTokens())
        #expect(error.message.contains("\(word) that of the server"), "\(error.message)")
        #expect(error.message.contains("3600 s") || error.message.contains("3599 s"))
    }

    /// Nothing of a request to the token endpoint is shown, whatever its parameters are.
    @Test func hiddenRequests() throws {
        let exchange = OAuth.TokenExchange(subject: .init("cAnArY"), audiences: ["cAnArY"])
        _ = try tokens(
            server.login(
                .tokenExchange(exchange), client: .init(id: "cli", authentication: .post(secret: "cAnArY"))))
        let request = try #require(request?.request)
        #expect(!"\(request)".contains("cAnArY") && !request.curlCommand().contains("cAnArY"))
    }

    // MARK: - Revocation and introspection

    /// Both tokens are revoked, the refresh token first: servers need not end the access tokens with it (RFC 7009 §2.1), and
    /// need not revoke access tokens at all.
    @Test func revocation() throws {
        server.answer("/revoke") { _ in .status(.ok) }
        let login = server.login()
        _ = try server.result(login.revoke(.init(token: "T", refreshToken: "R"))).get()
        #expect(server.calls("/revoke").map { $0["token"] } == ["R", "T"])
        #expect(
            server.calls("/revoke").map { $0["token_type_hint"] } == ["refresh_token", "access_token"])
        _ = try server.result(login.revoke(.init(token: "T"))).get()
        #expect(server.calls.last?["token"] == "T" && server.calls.last?.authorization != nil)
        server.answer("/revoke") { _ in AuthorizationServerDouble.refusal("unsupported_token_type") }
        #expect(try server.failure(login.revoke(.init(token: "T"))).envelopeCode == "unsupported_token_type")
        server.answer("/revoke") { call in
            call["token"] == "R" ? .status(.ok) : AuthorizationServerDouble.refusal("unsupported_token_type")
        }
        _ = try server.result(login.revoke(.init(token: "T", refreshToken: "R"))).get()
        server.answer("/revoke") { call in
            call["token"] == "T" ? .status(.ok) : AuthorizationServerDouble.refusal("unsupported_token_type")
        }
        let count = server.calls("/revoke").count
        let both = Credential(token: "T", refreshToken: "R")
        #expect(try server.failure(login.revoke(both)).envelopeCode == "unsupported_token_type")
        #expect(server.calls("/revoke").count == count + 1)
        server.answer("/revoke") { call in call["token"] == "R" ? .status(.ok) : .status(.serviceUnavailable)
        }
        #expect(try server.failure(login.revoke(both)).code == .oauthResponse)
    }

    /// The members of an introspection, and answers that are none.
    @Test func introspection() throws {
        server.answer(
            "/introspect",
            .json(
                #"{"active":true,"scope":"a b","client_id":"c","sub":"s","aud":"x","exp":1700000100,"username":"u"}"#
            ),
            .json(#"{"active":false}"#), .json(#"{"active":"yes"}"#), .json("[]"))
        let login = server.login()
        let found = try server.result(login.introspect("T")).get()
        #expect(
            found.isActive && found.scopes == ["a", "b"] && found.clientID == "c" && found.subject == "s")
        #expect(found.audiences == ["x"] && found.expires?.timeIntervalSince1970 == 1_700_000_100)
        #expect(found["username"] == "u" && found["nothing"] == nil)
        #expect(try server.result(login.introspect("T")).get().isActive == false)
        for _ in 0..<2 { #expect(try server.failure(login.introspect("T")).code == .oauthResponse) }
    }

    /// A login without a transport says how to get one.
    @Test func noTransport() throws {
        let login = OAuth.Login(.discover("https://id.test"), client: .public("c"), grant: .clientCredentials)
        #expect(try server.failure(login.fetchTokens()).code == .invalidConfiguration)
    }
}

extension Date {
    /// The form of RFC 9110 §5.6.7.
    var httpDateForTests: String {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let seconds = Int(timeIntervalSince1970)
        let calendar = Calendar(identifier: .gregorian)
        let parts = calendar.dateComponents(in: .gmt, from: self)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
        return
            "\(names[(seconds / 86400) % 7]), \(two(parts.day)) \(months[(parts.month ?? 1) - 1]) \(parts.year ?? 0) "
            + "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) GMT"
    }
}
#endif
