#if Auth
import FoundationEssentials
import HTTPTypes
import RxAuth
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Logins at two more servers: canaille (on Authlib), which knows clients by their keys, and authgent (on FastAPI), which
/// demands nonces in the proofs of DPoP.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct IdentityTests {
    private struct User: Decodable, Sendable { let sub: String }

    private static func client(_ session: Session, at baseURL: String) -> Client {
        var configuration = ClientConfiguration()
        configuration.session = session
        return Client(baseURL: baseURL, configuration: configuration)
    }

    private static func login(
        at issuer: String, _ client: OAuth.Client, _ grant: OAuth.Grant, scopes: [String]? = nil,
        dpop: DPoP? = nil, through transport: any Transport = Client(baseURL: "http://127.0.0.1").transport
    ) -> OAuth.Login {
        let login = OAuth.Login(
            .discover(issuer), client: client, grant: grant, scopes: scopes, dpop: dpop)
        login.transport = transport
        return login
    }

    // MARK: - canaille

    /// A code of a client without a secret, and of one that signs its requests: an ID token by RS256, renewals with rotation, a
    /// refused second use, and a session that then logs in again.
    @Test(arguments: [false, true]) func codes(isSigned: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.canaille(in: folder)
        let browser = Browser()
        let login = OAuth.Login(
            .discover(server.issuer), client: isSigned ? try server.signed : .public("browser"),
            grant: .authorizationCode(redirect: .loopback(port: server.redirectPort), open: browser.open),
            scopes: ["openid", "email"])
        let session = Session.oauth(login)
        let user = Self.client(session, at: server.issuer).get("/oauth/userinfo").decode(User.self)
        #expect(try await user.value().sub == "anna")
        #expect(session.credential?.account == server.issuer + " anna")
        let first = try #require(session.credential)
        let second = try await login.renew(first).value()
        #expect(second.refreshToken != first.refreshToken && second.token != first.token)
        session.logIn(with: second)
        #expect(try await user.value().sub == "anna" && browser.count == 1)

        let refusal = await #expect(throws: NetworkError.self) { try await login.renew(first).value() }
        #expect(refusal?.envelopeCode == "invalid_grant")
        session.logIn(with: Credential(token: "expired", refreshToken: first.refreshToken))
        #expect(try await user.value().sub == "anna" && browser.count == 2)
    }

    /// Client credentials; a description of the token, and its revocation.
    @Test func machines() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.canaille(in: folder)
        let login = Self.login(
            at: server.issuer, .confidential("machine", secret: "secret-of-machine"), .clientCredentials)
        let credential = try await login.logIn().value()
        let introspection = try await login.introspect(credential.token).value()
        #expect(introspection.isActive && introspection.clientID == "machine")
        #expect(introspection["iss"] == server.issuer)
        try await login.revoke(credential).value()
        #expect(try await login.introspect(credential.token).value().isActive == false)
        let wrong = Self.login(
            at: server.issuer, .confidential("machine", secret: "guessed"), .clientCredentials)
        let error = await #expect(throws: NetworkError.self) { try await wrong.logIn().value() }
        #expect(error?.envelopeCode == "invalid_client" && error?.message.contains("secret") == true)
    }

    /// A token by which the server vouches for a user, signed by RS256, from a client that signs its requests by ES256.
    @Test func assertions() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.canaille(in: folder)
        let key = try MessageSigningKey.pem(folder.text("server.pem"), rsa: .rsaV15SHA256)
        let grant = OAuth.Grant.jwtBearer(
            key: key, keyID: "server", issuer: "signed", subject: "anna",
            audience: server.issuer + "/oauth/token")
        let session = Session.oauth(
            .discover(server.issuer), client: try server.signed, scopes: ["openid"], flow: grant)
        let user = Self.client(session, at: server.issuer).get("/oauth/userinfo").decode(User.self)
        #expect(try await user.value().sub == "anna")
    }

    // MARK: - authgent

    private struct Registration: Encodable, Sendable {
        let name: String
        let grants: [String]
        var redirects: [String] = []
        let scope = "read write"

        enum CodingKeys: String, CodingKey {
            case name = "client_name"
            case grants = "grant_types"
            case redirects = "redirect_uris"
            case scope
        }
    }

    private struct Registered: Decodable, Sendable {
        let id: String
        let secret: String

        enum CodingKeys: String, CodingKey {
            case id = "client_id"
            case secret = "client_secret"
        }

        var client: OAuth.Client { OAuth.Client(id: id, authentication: .post(secret: secret)) }
    }

    private static func register(_ registration: Registration, at server: Service) async throws -> Registered
    {
        try await Client(baseURL: server.baseURL).post("/register", .json(registration))
            .decode(Registered.self).value()
    }

    /// A code whose tokens are bound to a key. The first request for tokens learns the nonce, the others use it; the second use
    /// of a refresh token ends its successors, and the session logs in again.
    @Test func nonces() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authgent(in: folder)
        let port = try ServerPort.free()
        let registered = try await Self.register(
            Registration(
                name: "browser", grants: ["authorization_code", "refresh_token"],
                redirects: ["http://127.0.0.1:\(port)/callback"]), at: server)
        let browser = Browser()
        // The server has no log of its requests.
        let transport = TokenTransport()
        let login = Self.login(
            at: server.baseURL, .public(registered.id),
            .authorizationCode(redirect: .loopback(port: port), open: browser.open), scopes: ["read"],
            dpop: DPoP(), through: transport)
        let first = try await login.logIn().value()
        #expect(transport.statuses == [401, 200])
        let second = try await login.renew(first).value()
        let third = try await login.renew(second).value()
        #expect(Set([first, second, third].map(\.refreshToken)).count == 3)
        #expect(transport.statuses == [401, 200, 200, 200])
        #expect(try await login.introspect(third.token).value()["token_type"] == "DPoP")

        let refusal = await #expect(throws: NetworkError.self) { try await login.renew(second).value() }
        #expect(refusal?.envelopeCode == "invalid_grant")
        let past = Date(timeIntervalSince1970: 1)
        let session = Session.oauth(
            login, credential: Credential(token: third.token, refreshToken: third.refreshToken, expires: past)
        )
        let request = Request(url: try #require(URL(string: server.baseURL)))
        let authorized = try await session.authorize(request).value()
        #expect(authorized.headerFields[.authorization]?.hasPrefix("DPoP ") == true)
        #expect(browser.count == 2 && session.credential?.refreshToken != third.refreshToken)

        // A proof is not left out where the server requires one.
        let plain = Self.login(
            at: server.baseURL, .public(registered.id),
            .authorizationCode(redirect: .loopback(port: port), open: browser.open))
        let error = await #expect(throws: NetworkError.self) { try await plain.logIn().value() }
        #expect(error?.envelopeCode == "invalid_request")
    }

    /// Client credentials, and the exchange of their token for one that another service accepts.
    @Test func exchange() async throws {
        let folder = try TemporaryFolder()
        let server = try await Service.authgent(in: folder)
        let grants = ["client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"]
        let machine = try await Self.register(
            Registration(name: "machine", grants: grants), at: server)
        let dpop = DPoP()
        let login = Self.login(
            at: server.baseURL, machine.client, .clientCredentials, scopes: ["read"], dpop: dpop)
        let token = try await login.logIn().value().token
        let exchange = OAuth.TokenExchange(
            subject: .init(token), audiences: ["https://api.example.com"])
        let other = Self.login(
            at: server.baseURL, machine.client, .tokenExchange(exchange), scopes: ["read"], dpop: dpop)
        let exchanged = try await other.fetchTokens().value()
        #expect(exchanged.isBound && exchanged.accessToken != token)
        let introspection = try await other.introspect(exchanged.accessToken).value()
        #expect(introspection.isActive && introspection.audiences == ["https://api.example.com"])
        #expect(introspection.scopes == ["read"])
    }
}

/// A transport that notes the statuses of the token endpoint.
private final class TokenTransport: Transport {
    private let base = Client(baseURL: "http://127.0.0.1").transport
    private let notes = Mutex<[Int]>([])

    var statuses: [Int] { notes.withLock { $0 } }
    var scheduler: any Scheduler { base.scheduler }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        base.send(request).handleEvents(onNext: { [self] event in
            guard case .head(let head) = event, request.url.path() == "/token" else { return }
            notes.withLock { $0.append(head.status.code) }
        })
    }
}

/// canaille, and its clients.
struct Canaille: Sendable {
    let service: Service
    /// The port of the only redirect URL of the clients.
    let redirectPort: UInt16
    let folder: TemporaryFolder

    var issuer: String { service.baseURL }

    /// The client that signs its requests. The audience that the server expects is its token endpoint.
    var signed: OAuth.Client {
        get throws {
            OAuth.Client(
                id: "signed",
                authentication: .privateKey(
                    try .pem(folder.text("signed.pem")), keyID: "signed", audience: issuer + "/oauth/token"))
        }
    }
}

extension TemporaryFolder {
    /// The text of a file.
    fileprivate func text(_ name: String) throws -> String {
        String(decoding: try content(name), as: UTF8.self)
    }
}
#endif
