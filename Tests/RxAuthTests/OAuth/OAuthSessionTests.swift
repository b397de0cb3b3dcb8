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

/// Sessions with OAuth: the first login, renewal with rotation, and demands for more rights.
@Suite struct OAuthSessionTests {
    private let server = AuthorizationServerDouble()

    private static func challenge(_ text: String, status: HTTPResponse.Status) -> ScriptedTransport.Reply {
        .status(status, headers: [.wwwAuthenticate: text], after: .milliseconds(10))
    }

    /// The API accepts only requests with one of these tokens.
    private func accept(
        _ tokens: String..., otherwise reply: ScriptedTransport.Reply = .status(.unauthorized)
    ) {
        server.answer("/api") { call in
            tokens.contains { call.authorization == "Bearer " + $0 } ? .json("1") : reply
        }
    }

    private func session(
        _ grant: OAuth.Grant = .clientCredentials, scopes: [String]? = nil, credential: Credential? = nil,
        store: (any CredentialStore)? = nil, requiresLogin: Bool? = nil
    ) -> Session {
        .oauth(
            .discover(AuthorizationServerDouble.issuer), client: .confidential("cli", secret: "s"),
            scopes: scopes, flow: grant, credential: credential, store: store, requiresLogin: requiresLogin)
    }

    // MARK: - Login and renewal

    /// The first requests wait for one login, by the transport of the session's first client.
    @Test func firstLogin() throws {
        let session = session()
        let client = server.client(session)
        let recorders = (0..<5).map { _ in Recorder(client.get("/api"), on: server.clock) }
        try server.clock.run()
        #expect(recorders.allSatisfy { $0.values.count == 1 })
        #expect(server.calls("/token").count == 1 && server.calls("/api").count == 5)
        #expect(server.calls("/api").allSatisfy { $0.authorization == "Bearer T1" })
        #expect(session.credential?.token == "T1" && session.credential?.issuer == "https://id.test")
    }

    /// A token is renewed before it expires, and each refresh token is sent once.
    @Test func rotation() throws {
        let number = Notes<String>()
        server.answer("/token") { call in
            number.add(call["refresh_token"] ?? "login")
            return AuthorizationServerDouble.tokens(
                "T\(number.all.count)", refresh: "R\(number.all.count)", expires: 100)
        }
        let client = server.client(session(BrowserDouble().grant))
        for _ in 0..<4 {
            #expect(try server.result(client.get("/api")).error == nil)
            try server.clock.advance(by: .seconds(80))
        }
        #expect(number.all == ["login", "R1", "R2", "R3"])
        #expect(server.calls("/api").map(\.authorization) == (1...4).map { "Bearer T\($0)" })
        #expect(server.calls("/token").last?["grant_type"] == "refresh_token")
    }

    /// A server that keeps the refresh token sends none; the former one stays.
    @Test func keptRefreshToken() throws {
        server.answer(
            "/token", AuthorizationServerDouble.tokens("T1", refresh: "R1", expires: 100),
            AuthorizationServerDouble.tokens("T2", expires: 100),
            AuthorizationServerDouble.tokens("T3", expires: 100))
        let client = server.client(session(BrowserDouble().grant))
        for _ in 0..<3 {
            _ = try server.result(client.get("/api")).get()
            try server.clock.advance(by: .seconds(80))
        }
        #expect(server.calls("/token").dropFirst().map { $0["refresh_token"] } == ["R1", "R1"])
    }

    /// A refresh token that the server refuses leads to a new login, once for all that wait.
    @Test func refusedRefreshToken() throws {
        accept("T2")
        server.answer("/token") { call in
            call["refresh_token"] != nil
                ? AuthorizationServerDouble.refusal("invalid_grant") : AuthorizationServerDouble.tokens("T2")
        }
        let browser = BrowserDouble()
        let session = session(browser.grant, credential: Credential(token: "T0", refreshToken: "R0"))
        let client = server.client(session)
        let recorders = (0..<3).map { _ in Recorder(client.get("/api"), on: server.clock) }
        try server.clock.run()
        #expect(recorders.allSatisfy { $0.values.count == 1 } && browser.pages.count == 1)
        #expect(server.calls("/token").map { $0["refresh_token"] } == ["R0", nil])
    }

    /// A server that does not name its refusal of a refresh token, as RFC 6749 §5.2 requires, has refused it all the same.
    @Test(
        arguments: [
            (.badRequest, ""), (.unauthorized, ""), (.badRequest, "<html>Bad Request</html>"),
            (.badRequest, #"{"message":"canary"}"#), (.unauthorized, "canary"),
        ] as [(HTTPResponse.Status, String)])
    func unnamedRefusal(status: HTTPResponse.Status, body: String) throws {
        accept("T2")
        server.answer("/token") { call in
            call["refresh_token"] != nil
                ? .json(body, status: status) : AuthorizationServerDouble.tokens("T2", refresh: "R2")
        }
        let browser = BrowserDouble()
        let login = server.login(browser.grant)
        let used = Credential(token: "T0", refreshToken: "R0")
        let session = Session.oauth(login, credential: used)
        #expect(try server.result(server.client(session).get("/api")).error == nil)
        #expect(browser.pages.count == 1 && session.credential?.refreshToken == "R2")
        #expect(server.calls("/token").map { $0["refresh_token"] } == ["R0", nil])

        let error = try server.failure(login.renew(used))
        #expect(error.code == .oauthRefused && error.envelopeCode == "invalid_grant")
        #expect(error.message.contains("refresh token") && error.message.contains("log in again"))
        #expect(error.head?.status == status && error.cause?.code == .oauthResponse)
        #expect(OAuth.Login.isRejection(error) && !"\(error)".contains("canary"))
    }

    /// Other failures of a renewal say nothing about the refresh token, which stays; nobody is asked to log in.
    @Test(
        arguments: [
            (.forbidden, ""), (.notFound, ""), (.requestTimeout, ""), (.tooManyRequests, ""),
            (.internalServerError, ""), (.badGateway, "<html>"), (.found, ""), (.ok, "<html>"),
            (.tooManyRequests, #"{"error":"too_many_requests"}"#),
            (.requestTimeout, #"{"error":"invalid_request"}"#),
            (.serviceUnavailable, #"{"error":"invalid_grant"}"#),
        ] as [(HTTPResponse.Status, String)])
    func failedRenewal(status: HTTPResponse.Status, body: String) throws {
        accept("T2")
        server.answer("/token") { _ in .json(body, status: status) }
        let browser = BrowserDouble()
        let session = session(browser.grant, credential: Credential(token: "T0", refreshToken: "R0"))
        let error = try #require(try server.result(server.client(session).get("/api")).error)
        #expect(!OAuth.Login.isRejection(error))
        #expect(browser.pages.isEmpty && session.credential?.refreshToken == "R0")
    }

    /// A server that fails for a while neither logs out nor asks the user.
    @Test func unavailable() throws {
        accept("T1")
        server.answer(
            "/token", .json("", status: .serviceUnavailable),
            AuthorizationServerDouble.refusal("server_error"),
            AuthorizationServerDouble.tokens("T1"))
        let browser = BrowserDouble()
        let session = session(browser.grant, credential: Credential(token: "T0", refreshToken: "R0"))
        let client = server.client(session)
        for _ in 0..<2 {
            #expect(try server.result(client.get("/api")).error != nil)
            #expect(session.credential?.refreshToken == "R0" && browser.pages.isEmpty)
        }
        #expect(try server.result(client.get("/api")).error == nil && session.credential?.token == "T1")
    }

    /// A login that the server refuses for good logs out; later requests do not ask again.
    @Test func refusedLogin() throws {
        server.answer("/token") { _ in
            AuthorizationServerDouble.refusal("invalid_client", status: .unauthorized)
        }
        let session = session()
        let client = server.client(session)
        let error = try server.result(client.get("/api")).error
        #expect(error?.code == .oauthRefused && error?.envelopeCode == "invalid_client")
        _ = try server.result(client.get("/api"))
        #expect(server.calls("/token").count == 1 && session.credential == nil)
    }

    /// The credential is in the store before the request that waits for it is sent; the next process uses it.
    @Test func stored() throws {
        let files = MemoryFileSystem(on: server.clock)
        let store = CredentialFile("/c.json", on: files)
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T1", refresh: "R1") }
        _ = try server.result(server.client(session(store: store)).get("/api")).get()
        let next = session(store: store)
        _ = try server.result(server.client(next).get("/api")).get()
        #expect(server.calls("/token").count == 1 && next.credential?.refreshToken == "R1")
        #expect(next.credential?.issuer == "https://id.test")
    }

    /// With a transport, the session has its credential at once.
    @Test func loggedInAtOnce() async throws {
        let transport = server.transport()
        let clock = server.clock
        let stream = Observable<Session, NetworkError>.async { () throws(NetworkError) in
            try await OAuth.discover("https://id.test").session(
                client: .confidential("cli", secret: "s"), grant: .clientCredentials, through: transport)
        }
        let recorder = Recorder(stream, on: clock)
        while recorder.completion == nil {
            try clock.run()
            await Task.yield()
        }
        #expect(recorder.values.first?.credential?.token == "T1")
    }

    /// Without one, nothing is sent before the first request.
    @Test func loggedInLater() async throws {
        let session = try await OAuth.discover("https://id.test").session(
            client: .confidential("cli", secret: "s"), grant: .clientCredentials)
        #expect(session.credential == nil)
        _ = try server.result(server.client(session).get("/api")).get()
        #expect(session.credential?.token == "T1")
    }

    /// The user of the ID token is the name of the account.
    @Test func account() throws {
        let keys = IdentityKeys()
        server.answer("/keys") { _ in .json(keys.document) }
        let token = try keys.token()
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T1", ["id_token": .string(token)]) }
        let session = session()
        _ = try server.result(server.client(session).get("/api")).get()
        #expect(session.credential?.account == "https://id.test anna")
    }

    // MARK: - Demands

    private static let scopeChallenge = #"Bearer error="insufficient_scope", scope="write admin""#

    /// A request that needs more scopes leads to one login with the former scopes and the new ones; a renewal would not
    /// help. Later logins ask for them as well.
    @Test func moreScopes() throws {
        accept("T2", otherwise: Self.challenge(Self.scopeChallenge, status: .forbidden))
        server.answer(
            "/token", AuthorizationServerDouble.tokens("T1", refresh: "R1"),
            AuthorizationServerDouble.tokens("T2", refresh: "R2"))
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant, scopes: ["read"]))
        let recorders = (0..<3).map { _ in Recorder(client.get("/api"), on: server.clock) }
        try server.clock.run()
        #expect(recorders.allSatisfy { $0.values.count == 1 })
        #expect(browser.pages.map { $0["scope"] } == ["read", "read write admin"])
        #expect(server.calls("/token").allSatisfy { $0["grant_type"] == "authorization_code" })
    }

    /// Scopes that a login has not brought are not asked for again; the response of the server is the error.
    @Test func scopesInVain() throws {
        server.answer("/api") { _ in Self.challenge(Self.scopeChallenge, status: .forbidden) }
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant, scopes: ["read"]))
        for _ in 0..<3 {
            let error = try server.result(client.get("/api")).error
            #expect(error?.code == .status && error?.status == .forbidden)
        }
        #expect(browser.pages.count == 2)
    }

    /// A user who refuses more rights keeps the former ones.
    @Test func refusedScopes() throws {
        server.answer("/other") { _ in .json("1") }
        server.answer("/api") { _ in Self.challenge(Self.scopeChallenge, status: .forbidden) }
        let browser = BrowserDouble { page in
            page["scope"] == "read"
                ? "code=C&state=\(page["state"] ?? "")" : "error=access_denied&state=\(page["state"] ?? "")"
        }
        let session = session(browser.grant, scopes: ["read"])
        let client = server.client(session)
        #expect(try server.result(client.get("/api")).error?.code == .loginFailed)
        #expect(session.credential?.token == "T1")
        #expect(try server.result(client.get("/api")).error != nil)
        #expect(try server.result(client.get("/other")).error == nil)
        #expect(browser.pages.count == 2)
    }

    /// A plain 403 is no matter of the login.
    @Test(arguments: [
        "Bearer", #"Bearer error="insufficient_scope""#, #"Basic error="insufficient_scope", scope="a""#,
    ])
    func plainForbidden(challenge: String) throws {
        server.answer("/api") { _ in Self.challenge(challenge, status: .forbidden) }
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant))
        #expect(try server.result(client.get("/api")).error?.status == .forbidden)
        #expect(browser.pages.count == 1)
    }

    /// A demand for a stronger and more recent authentication (RFC 9470).
    @Test func strongerAuthentication() throws {
        accept(
            "T2",
            otherwise: Self.challenge(
                #"Bearer error="insufficient_user_authentication", acr_values="gold silver", max_age=5"#,
                status: .unauthorized))
        let keys = IdentityKeys()
        server.answer("/keys") { _ in .json(keys.document) }
        let browser = BrowserDouble()
        let count = Notes<Int>()
        server.answer("/token") { [server] _ in
            count.add(1)
            let nonce = browser.pages.last?["nonce"] ?? ""
            let seconds = Int64(server.clock.date.timeIntervalSince1970)
            let token = try? keys.token(["nonce": .string(nonce), "auth_time": .integer(seconds)])
            return AuthorizationServerDouble.tokens(
                "T\(count.all.count)", refresh: "R", ["id_token": .string(token ?? "")])
        }
        let client = server.client(session(browser.grant, scopes: ["openid"]))
        #expect(try server.result(client.get("/api")).error == nil)
        #expect(browser.pages.map { $0["acr_values"] } == [nil, "gold silver"])
        #expect(browser.pages.map { $0["max_age"] } == [nil, "5"])
    }

    /// A demand for a recent authentication counts again when it has aged, and not before.
    @Test func agedAuthentication() throws {
        let challenge = Self.challenge(
            #"Bearer error="insufficient_user_authentication", acr_values="gold""#, status: .unauthorized)
        let number = Notes<Int>()
        server.answer("/token") { _ in
            number.add(1)
            return AuthorizationServerDouble.tokens("T\(number.all.count)", expires: nil)
        }
        server.answer("/api") { _ in challenge }
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant))
        for _ in 0..<3 { #expect(try server.result(client.get("/api")).error?.status == .unauthorized) }
        #expect(browser.pages.count == 2)
        try server.clock.advance(by: .seconds(600))
        for _ in 0..<3 { #expect(try server.result(client.get("/api")).error?.status == .unauthorized) }
        #expect(browser.pages.map { $0["acr_values"] } == [nil, "gold", "gold"])
    }

    /// A login for more rights as another user is refused, and the session keeps its own.
    @Test func anotherUser() throws {
        accept("T2", otherwise: Self.challenge(Self.scopeChallenge, status: .forbidden))
        let keys = IdentityKeys()
        server.answer("/keys") { _ in .json(keys.document) }
        let browser = BrowserDouble()
        server.answer("/token") { _ in
            let nonce = browser.pages.last?["nonce"] ?? ""
            let token = try? keys.token([
                "nonce": .string(nonce), "sub": .string(browser.pages.count == 1 ? "anna" : "eve"),
            ])
            return AuthorizationServerDouble.tokens(
                "T\(browser.pages.count)", ["id_token": .string(token ?? "")])
        }
        let session = session(browser.grant, scopes: ["openid"])
        let error = try server.result(server.client(session).get("/api")).error
        #expect(error?.code == .oauthAccountChanged)
        #expect(session.credential?.token == "T1" && session.credential?.account == "https://id.test anna")
        #expect(!server.calls("/api").contains { $0.authorization == "Bearer T2" })
    }

    /// A login for more rights that does not say who the user is, is refused if the session knows its user.
    @Test func unnamedUser() throws {
        accept("T2", otherwise: Self.challenge(Self.scopeChallenge, status: .forbidden))
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T2") }
        let session = session(
            BrowserDouble().grant, credential: Credential(token: "T1", account: "https://id.test anna"))
        let client = server.client(session)
        for _ in 0..<2 { #expect(try server.result(client.get("/api")).error != nil) }
        #expect(session.credential?.token == "T1" && server.calls("/token").count == 1)
    }

    /// A renewal must not change the user either.
    @Test func renewedAsAnotherUser() throws {
        let keys = IdentityKeys()
        server.answer("/keys") { _ in .json(keys.document) }
        let token = try keys.token(["sub": .string("eve")])
        accept("T2")
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T2", ["id_token": .string(token)]) }
        let session = session(
            BrowserDouble().grant,
            credential: Credential(token: "T1", refreshToken: "R1", account: "https://id.test anna"))
        #expect(try server.result(server.client(session).get("/api")).error?.code == .oauthAccountChanged)
        #expect(session.credential?.token == "T1")
    }

    /// A demand whose login failed for want of a network is made again.
    @Test func interruptedDemand() throws {
        accept("T2", otherwise: Self.challenge(Self.scopeChallenge, status: .forbidden))
        server.answer(
            "/token", AuthorizationServerDouble.tokens("T1"), .failure(.connectionLost),
            AuthorizationServerDouble.tokens("T2"))
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant))
        #expect(try server.result(client.get("/api")).error?.code == .connectionLost)
        #expect(try server.result(client.get("/api")).error == nil)
        #expect(browser.pages.last?["scope"] == "write admin")
    }

    /// A demand whose login was interrupted takes nothing with it that earlier demands have brought.
    @Test func interruptedLaterDemand() throws {
        accept(
            "T2",
            otherwise: Self.challenge(
                #"Bearer error="insufficient_scope", scope="write""#, status: .forbidden))
        server.answer("/admin") { call in
            call.authorization == "Bearer T3"
                ? .json("1") : Self.challenge(Self.scopeChallenge, status: .forbidden)
        }
        server.answer(
            "/token", AuthorizationServerDouble.tokens("T1"), AuthorizationServerDouble.tokens("T2"),
            .failure(.connectionLost), AuthorizationServerDouble.tokens("T2"))
        let browser = BrowserDouble()
        let client = server.client(session(browser.grant, scopes: ["read"]))
        #expect(try server.result(client.get("/api")).error == nil)
        #expect(try server.result(client.get("/admin")).error?.code == .connectionLost)
        // The token has ended, and a login without a demand follows.
        let isRefused = Notes<Bool>()
        server.answer("/api") { _ in
            isRefused.add(true)
            return isRefused.all.count == 1 ? .status(.unauthorized) : .json("1")
        }
        #expect(try server.result(client.get("/api")).error == nil)
        #expect(
            browser.pages.map { $0["scope"] } == ["read", "read write", "read write admin", "read write"])
    }

    /// The parts of a login make a session in another way, as for a fleet.
    @Test func parts() throws {
        let login = server.login(scopes: ["a"])
        accept("T1")
        let session = Session(
            isExpiry: login.isExpiry, isRejection: OAuth.Login.isRejection, placement: login.placement,
            requiresLogin: true, renewal: { login.renew($0) }, login: { login.logIn() })
        let arrivals = Recorder(login.tokens, on: server.clock)
        _ = try server.result(server.client(session).get("/api")).get()
        #expect(arrivals.values.map(\.accessToken) == ["T1"])
    }
}
#endif
