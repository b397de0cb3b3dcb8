#if Auth
import FoundationEssentials
import RxAuth
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Logins at authorization servers that others wrote: django-oauth-toolkit (on oauthlib), oidc-provider-mock (on Authlib)
/// and glewlwyd (in C).
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct OAuthTests {
    private struct Account: Decodable, Sendable { let user: String? }
    private struct User: Decodable, Sendable { let sub: String }

    private static func client(
        _ session: Session, at baseURL: String, signer: (any RequestSigner)? = nil,
        transport: any Transport = CurlTransport.shared
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: baseURL)
        configuration.session = session
        configuration.signer = signer
        return Client(configuration: configuration, transport: transport)
    }

    /// A login whose parts a test uses without a session.
    private static func login(
        _ provider: OAuth.Provider, _ client: OAuth.Client, _ grant: OAuth.Grant, scopes: [String]? = nil,
        dpop: DPoP? = nil
    ) -> OAuth.Login {
        let login = OAuth.Login(provider, client: client, grant: grant, scopes: scopes, dpop: dpop)
        login.transport = Client(baseURL: "http://127.0.0.1").transport
        return login
    }

    // MARK: - django-oauth-toolkit

    private static let machine = OAuth.Client.confidential("machine", secret: "secret of:the/machine")

    /// Client credentials; a revoked token is noticed by the API, described as inactive, and replaced by one login for
    /// all requests.
    @Test func clientCredentials() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let login = OAuth.Login(
            .discover(server.baseURL), client: Self.machine, grant: .clientCredentials, scopes: ["read"])
        let session = Session.oauth(login)
        let client = Self.client(session, at: server.baseURL)
        let account = client.get("/account/").decode(Account.self)
        _ = try await account.value()
        let first = try #require(session.credential)
        #expect(try #require(first.expires).timeIntervalSinceNow > 3500)

        let introspection = try await login.introspect(first.token).value()
        #expect(introspection.isActive && introspection.scopes == ["read"])
        #expect(introspection.clientID == "machine")
        try await login.revoke(first).value()
        #expect(try await login.introspect(first.token).value().isActive == false)
        let users = try await Observable<Int, NetworkError>.sequence(1...20)
            .flatMap(.merge(limit: 20)) { _ in account }.collect().value()
        #expect(users.count == 20 && session.credential?.token != first.token)
        #expect(server.count(of: "POST /token/ ") == 2)
    }

    /// A code with PKCE, by a listener at either address of the loopback; the ID token of the server is valid, and names
    /// the user as the API does.
    @Test(arguments: [OAuth.Redirect.LoopbackAddress.ipv4, .ipv6])
    func code(address: OAuth.Redirect.LoopbackAddress) async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let browser = Browser()
        let login = OAuth.Login(
            .discover(server.baseURL), client: .public("browser"),
            grant: .authorizationCode(redirect: .loopback(address: address), open: browser.open),
            scopes: ["openid", "read"])
        let identities = Board<[OAuth.Identity]>([])
        let subscription = login.tokens.subscribe { tokens in
            identities.update { $0 += [tokens.identity].compactMap { $0 } }
        }
        let client = Self.client(.oauth(login), at: server.baseURL)
        #expect(try await client.get("/account/").decode(Account.self).value().user == "anna")
        let identity = try await identities.until { $0.first }
        #expect(identity.issuer == server.baseURL && identity.subject == "1")
        #expect(browser.count == 1)
        _ = subscription
    }

    /// The lines of the page for a browser: the login is kept in a file, which the next process reads.
    @Test func storedLogin() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let browser = Browser()
        let path = folder.file("login.json")
        for _ in 0..<2 {
            let session = Session.oauth(
                .discover(server.baseURL), client: .public("browser"), scopes: ["read"],
                flow: .authorizationCode(redirect: .loopback) { url in browser.open(url) },
                store: CredentialFile(path))
            let client = Self.client(session, at: server.baseURL)
            #expect(try await client.get("/account/").decode(Account.self).value().user == "anna")
        }
        #expect(browser.count == 1)
    }

    /// Each renewal has a new refresh token. The second use of an old one revokes its successors too, and the session logs
    /// in again.
    @Test func rotation() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let browser = Browser()
        let login = Self.login(
            .discover(server.baseURL), .public("browser"), .authorizationCode(open: browser.open),
            scopes: ["read"])
        let first = try await login.logIn().value()
        let session = Session.oauth(login, credential: first)
        let second = try await login.renew(first).value()
        let third = try await login.renew(second).value()
        #expect(Set([first, second, third].map(\.refreshToken)).count == 3)
        session.logIn(with: third)
        let client = Self.client(session, at: server.baseURL)
        _ = try await client.get("/account/").value()

        // Whoever has stolen the second one uses it now.
        let refusal = await #expect(throws: NetworkError.self) { try await login.renew(second).value() }
        #expect(refusal?.code == .oauthRefused && refusal?.envelopeCode == "invalid_grant")
        #expect(browser.count == 1)
        _ = try await client.get("/account/").value()
        #expect(browser.count == 2 && session.credential?.refreshToken != third.refreshToken)
    }

    /// A device code: the server is asked until the user has accepted, or has denied.
    @Test(arguments: [true, false]) func device(accepts: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let user = Client(baseURL: server.baseURL)
        // The server does not name its endpoint of device codes.
        var metadata = try await OAuth.Provider.discover(server.baseURL).metadata(through: user.transport)
            .value()
        metadata.deviceAuthorizationEndpoint = URL(string: server.baseURL + "/device-authorization/")
        let login = Self.login(
            .known(metadata), .public("screen"),
            .device { code in
                let answer = user.post("/device/", .form(["user_code": code.userCode]))
                    .flatMap { _ in
                        user.post(
                            "/device-confirm/screen/{code}", at: ["code": code.userCode],
                            .form(["action": accepts ? "accept" : "deny"]))
                    }
                Task { try await answer.value() }
            }, scopes: ["read"])
        guard accepts else {
            let error = await #expect(throws: NetworkError.self) { try await login.logIn().value() }
            #expect(error?.code == .oauthRefused && error?.envelopeCode == "access_denied")
            return
        }
        let credential = try await login.logIn().value()
        let client = Self.client(.oauth(login, credential: credential), at: server.baseURL)
        #expect(try await client.get("/account/").decode(Account.self).value().user == "anna")
    }

    /// An API that names its server and its scopes in challenges: the first request logs in, and one that needs more
    /// rights logs in once more.
    @Test func protectedResource() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let browser = Browser()
        let session = Session.oauth(
            .protecting(server.baseURL), client: .public("browser"), scopes: ["read"],
            flow: .authorizationCode(open: browser.open))
        let client = Self.client(session, at: server.baseURL)
        #expect(try await client.get("/account/").decode(Account.self).value().user == "anna")
        #expect(browser.count == 1 && server.count(of: "GET /.well-known/oauth-protected-resource") == 1)
        // Its challenge does not name the scopes, so that there is nothing to ask for.
        let error = await #expect(throws: NetworkError.self) { try await client.get("/orders/").value() }
        #expect(error?.status == .forbidden && browser.count == 1)
    }

    /// Tokens for one resource (RFC 8707): the server names it in the description of the token, and an API at another URL
    /// refuses the token.
    @Test func resources() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        for (resource, isOwn) in [(server.baseURL + "/account/", true), ("https://api.example.com/", false)] {
            let login = OAuth.Login(
                .discover(server.baseURL), client: Self.machine, grant: .clientCredentials, scopes: ["read"],
                resources: [resource])
            login.transport = Client(baseURL: "http://127.0.0.1").transport
            let credential = try await login.logIn().value()
            #expect(try await login.introspect(credential.token).value().audiences == [resource])
            let client = Self.client(
                Session(credential: credential, placement: .bearer), at: server.baseURL)
            guard isOwn else {
                let error = await #expect(throws: NetworkError.self) {
                    try await client.get("/account/").value()
                }
                #expect(error?.status == .unauthorized || error?.status == .forbidden)
                continue
            }
            _ = try await client.get("/account/").value()
        }
    }

    /// A client that has not been registered, and whose id is the URL of its document: the server reads it, asks the user, and
    /// renews the tokens. The document of another client is not accepted.
    @Test func clientDocument() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authorization(in: folder)
        let failures = Board<[NetworkError]>([])
        let browser = Browser { client, url in
            let query = URLComponents(string: url)?.queryItems ?? []
            let fields = query.map { ($0.name, $0.value ?? "") } + [("allow", "true")]
            let form = Dictionary(uniqueKeysWithValues: fields)
            let pages = client.get(url).flatMap(.concat) { _ in client.post(url, .form(form)) }
            do throws(NetworkError) {
                return try await pages.value()
            } catch {
                failures.update { $0.append(error) }
                throw error
            }
        }
        func login(_ url: String) throws -> OAuth.Login {
            Self.login(
                .discover(server.baseURL), try .document(url), .authorizationCode(open: browser.open),
                scopes: ["read"])
        }
        let own = try login("https://client.test/cli.json")
        let credential = try await own.logIn().value()
        #expect(browser.count == 1 && failures.contents.isEmpty)
        let client = Self.client(.oauth(own, credential: credential), at: server.baseURL)
        #expect(try await client.get("/account/").decode(Account.self).value().user == "anna")
        let next = try await own.renew(credential).value()
        #expect(next.token != credential.token && next.refreshToken != credential.refreshToken)

        let waiting = try login("https://client.test/another.json").logIn().subscribe(onFailure: { _ in })
        #expect(try await failures.until { $0.first }.status == .badRequest)
        waiting.cancel()
    }

    // MARK: - oidc-provider-mock

    /// A code, an ID token by RS256, and a renewal by a refresh token that stays.
    @Test func authlib() async throws {
        let server = try await Service.openIDProvider()
        let browser = Browser { try await $0.post($1, .form(["sub": "anna"])).value() }
        let login = OAuth.Login(
            .discover(server.baseURL), client: .confidential("web", secret: "s"),
            grant: .authorizationCode(open: browser.open), scopes: ["openid", "email"])
        let session = Session.oauth(login)
        let client = Self.client(session, at: server.baseURL)
        let user = client.get("/userinfo").decode(User.self)
        #expect(try await user.value().sub == "anna")
        #expect(session.credential?.account == server.baseURL + " anna")
        let first = try #require(session.credential)
        let second = try await login.renew(first).value()
        #expect(second.token != first.token)
        session.logIn(with: second)
        #expect(try await user.value().sub == "anna" && browser.count == 1)
    }

    // MARK: - glewlwyd

    /// A server that takes pushed requests only: the browser sees nothing of the request but its name.
    @Test(.enabled(if: Glewlwyd.isInstalled)) func pushedRequests() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.glewlwyd(in: folder)
        let opened = Board<[URL]>([])
        let provider = OAuth.Provider.discover(server.issuer)
        let transport = Client(baseURL: "http://127.0.0.1").transport
        let metadata = try await provider.metadata(through: transport).value()
        #expect(metadata.requiresPushedRequests)
        let grant = OAuth.Grant.authorizationCode(redirect: .loopback(port: server.redirectPort)) { url in
            opened.update { $0.append(url) }
            server.visit(url)
        }
        let login = Self.login(provider, server.client, grant, scopes: ["openid"])
        _ = try await login.logIn().value()
        let query = try #require(opened.contents.first?.query())
        let names = query.split(separator: "&").map { $0.prefix { $0 != "=" } }
        #expect(opened.contents.count == 1 && names == ["client_id", "request_uri"])
    }

    /// Pushed requests and DPoP proofs: a code, an ID token by ES256, an API that requires the proof,
    /// renewals, and a refresh token that is used twice.
    @Test(.enabled(if: Glewlwyd.isInstalled)) func boundTokens() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.glewlwyd(in: folder)
        let dpop = DPoP()
        let provider = OAuth.Provider.discover(server.issuer)
        let login = OAuth.Login(
            provider, client: server.client, grant: server.grant, scopes: ["openid"], dpop: dpop)
        let session = Session.oauth(login)
        let client = Self.client(session, at: server.issuer, signer: dpop)
        let user = client.get("/userinfo").decode(User.self)
        let subject = try await user.value().sub
        #expect(session.credential?.account == "\(server.issuer) \(subject)")
        #expect(server.service.count(of: "Refresh token generated for client 'cli'") == 1)

        let first = try #require(session.credential)
        let introspection = try await login.introspect(first.token).value()
        #expect(introspection.isActive && introspection.clientID == "cli")
        let second = try await login.renew(first).value()
        #expect(second.refreshToken != first.refreshToken && second.token != first.token)
        session.logIn(with: second)
        #expect(try await user.value().sub == subject)

        // A token without its key is of no use, nor is a proof by another key.
        let stolen = Self.client(
            Session(credential: second, placement: .bearer), at: server.issuer)
        let error = await #expect(throws: NetworkError.self) { try await stolen.get("/userinfo").value() }
        #expect(error?.status == .unauthorized)

        // The server refuses refresh tokens with an empty response. The second use ends the whole chain.
        for used in [first, second] {
            let refusal = await #expect(throws: NetworkError.self) { try await login.renew(used).value() }
            #expect(refusal?.code == .oauthRefused && refusal?.envelopeCode == "invalid_grant")
            #expect(refusal?.head?.status == .badRequest)
        }
        // The session then logs in again by itself.
        session.logIn(with: Credential(token: "expired", refreshToken: second.refreshToken))
        #expect(try await user.value().sub == subject)
        // One for the first login, one for the renewal, and one for this login.
        #expect(server.service.count(of: "Refresh token generated for client 'cli'") == 3)
    }

    /// A server whose token endpoint and API demand nonces in proofs, each of which is good for two of them: codes, renewals,
    /// and twenty requests at once.
    @Test(.enabled(if: Glewlwyd.isInstalled)) func nonces() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.glewlwyd(in: folder, mode: .nonces)
        let dpop = DPoP()
        let login = OAuth.Login(
            .discover(server.issuer), client: server.client, grant: server.grant, scopes: ["openid"],
            dpop: dpop)
        let session = Session.oauth(login)
        let client = Self.client(session, at: server.issuer, signer: dpop)
        let user = client.get("/userinfo").decode(User.self)
        let subject = try await user.value().sub
        let first = try #require(session.credential)
        let second = try await login.renew(first).value()
        #expect(second.token != first.token)
        session.logIn(with: second)
        let subjects = try await Observable<Int, NetworkError>.sequence(1...20)
            .flatMap(.concat) { _ in user }.map(\.sub).collect().value()
        #expect(subjects == Array(repeating: subject, count: 20))
        #expect(session.credential?.token == second.token)
        #expect(
            server.service.count(of: "Access token generated for client 'cli' granted by user 'anna'") == 2)

        // Without the nonce, which another value has not learnt yet, the first exchange is repeated.
        let other = Self.client(session, at: server.issuer, signer: DPoP(key: dpop.key))
        #expect(try await other.get("/userinfo").decode(User.self).value().sub == subject)
    }

    /// A client without a secret, which the certificate of its connections proves (RFC 8705): pushed requests, codes and
    /// renewals. Nobody else can use its refresh token.
    @Test(.enabled(if: Glewlwyd.isInstalled)) func certificate() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.glewlwyd(in: folder, mode: .certificates)
        let login = OAuth.Login(
            .discover(server.issuer), client: server.client, grant: server.grant, scopes: ["openid"])
        let session = Session.oauth(login)
        let client = Self.client(session, at: server.issuer, transport: server.transport())
        let user = client.get("/userinfo").decode(User.self)
        let subject = try await user.value().sub
        let first = try #require(session.credential)
        session.logIn(with: Credential(token: "expired", refreshToken: first.refreshToken))
        #expect(try await user.value().sub == subject)
        #expect(server.service.count(of: "Refresh token generated for client 'cli'") == 2)

        let thief = OAuth.Login(.discover(server.issuer), client: server.client, grant: server.grant)
        thief.transport = server.transport(certified: false)
        let credential = try await login.renew(#require(session.credential)).value()
        let refusal = await #expect(throws: NetworkError.self) { try await thief.renew(credential).value() }
        #expect(refusal?.code == .oauthRefused)
    }

    /// The first lines of the page: a device code, with the endpoints that the server names. The first request logs in.
    @Test(.enabled(if: Glewlwyd.isInstalled)) func firstLines() async throws {
        let folder = try TemporaryFolder()
        let glewlwyd = try await Service.glewlwyd(in: folder)
        let shown = Board<[String]>([])
        let session = try await OAuth.discover(glewlwyd.issuer)
            .session(
                client: glewlwyd.client,
                grant: .device { code in
                    shown.update { $0.append(code.userCode) }
                    if let url = code.completeURL { glewlwyd.visit(url) }
                }, scopes: ["openid"])
        #expect(shown.contents.isEmpty)
        let client = Self.client(session, at: glewlwyd.issuer)
        let subject = try await client.get("/userinfo").decode(User.self).value().sub
        #expect(!subject.isEmpty && shown.contents.count == 1)
        #expect(
            glewlwyd.service.count(of: "Access token generated for client 'cli' granted by user 'anna'") == 1)

        let credential = try #require(session.credential)
        let login = Self.login(.discover(glewlwyd.issuer), glewlwyd.client, .clientCredentials)
        try await login.revoke(credential).value()
        let refusal = await #expect(throws: NetworkError.self) { try await login.renew(credential).value() }
        #expect(refusal?.code == .oauthRefused && refusal?.head?.status == .badRequest)

        // The session does not stay with a refused token: the user is shown another code.
        session.logIn(with: Credential(token: "expired", refreshToken: credential.refreshToken))
        #expect(try await client.get("/userinfo").decode(User.self).value().sub == subject)
        #expect(shown.contents.count == 2)
    }
}

/// A browser of a user who agrees to everything: it follows the redirects of the server, to the listener of the login.
final class Browser: Sendable {
    typealias Visit = @Sendable (Client, String) async throws -> Response

    private let visits = Mutex(0)
    private let visit: Visit

    /// - Parameter visit: loads a page. Default: a GET request.
    init(visit: @escaping Visit = { try await $0.get($1).value() }) { self.visit = visit }

    /// The number of pages so far.
    var count: Int { visits.withLock { $0 } }

    var open: @Sendable (URL) -> Void {
        { [self] url in
            visits.withLock { $0 += 1 }
            Task { try await visit(Client(baseURL: url.absoluteString.origin), url.absoluteString) }
        }
    }
}

/// glewlwyd, its client, and the browser of its user.
struct Glewlwyd: Sendable {
    /// Whether `Tests/services.sh` could install it: Debian has it, Homebrew does not.
    static let isInstalled = FileManager.default.fileExists(atPath: "/usr/bin/glewlwyd")

    /// How the client authenticates, and what the server demands besides.
    enum Mode: String {
        /// By a secret, with pushed requests.
        case secret
        /// By a secret, with nonces in proofs of DPoP, and without pushed requests.
        case nonces
        /// By the certificate of the connection, with pushed requests.
        case certificates
    }

    let service: Service
    let mode: Mode
    /// The folder of the certificates.
    let folder: TemporaryFolder
    /// The port of the only redirect URL of the client.
    let redirectPort: UInt16
    /// The cookie of a browser in which the user is logged in.
    let cookie: String

    var issuer: String { baseURL + "/api/oidc" }
    var client: OAuth.Client {
        mode == .certificates
            ? OAuth.Client(id: "cli", authentication: .certificate)
            : .confidential("cli", secret: "secret-of-cli")
    }
    private var baseURL: String {
        mode == .certificates ? "https://127.0.0.1:\(service.port)" : service.baseURL
    }
    var grant: OAuth.Grant {
        .authorizationCode(redirect: .loopback(port: redirectPort)) { visit($0) }
    }

    /// A transport that trusts the server, with the certificate of the client.
    func transport(certified: Bool = true) -> any Transport {
        guard mode == .certificates else { return CurlTransport.shared }
        var configuration = CurlTransport.Configuration()
        configuration.tls.caBundlePath = folder.file("authority.pem")
        if certified {
            configuration.tls.clientCertificatePath = folder.file("cli.pem")
            configuration.tls.clientKeyPath = folder.file("cli.key")
        }
        return CurlTransport(loop: .shared, configuration: configuration)
    }

    /// Loads a page in the browser. The parameter says that the user has agreed.
    func visit(_ url: URL) {
        var configuration = ClientConfiguration(baseURL: baseURL)
        // The redirect to the listener leads from https to http, which a client does not follow by itself.
        if mode == .certificates { configuration.redirects = .manual }
        let browser = Client(configuration: configuration, transport: transport(certified: false))
        let pages = browser.get(
            url.absoluteString, query: ["g_continue": ""], headers: ["Cookie": cookie]
        ).catch { error -> Observable<Response, NetworkError> in
            guard let next = error.head?[.location] else { return .fail(error) }
            return Client(baseURL: next.origin).get(next)
        }
        Task { try await pages.value() }
    }
}

extension String {
    /// The origin of a URL.
    fileprivate var origin: String { split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//") }
}
#endif
