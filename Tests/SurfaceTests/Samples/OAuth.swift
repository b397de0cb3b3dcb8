import FoundationEssentials
import HTTPTypes
import RxNetworking

#if Auth && Fleet
import RxAuth
import RxFleet

private func show(_: String, _: URL) {}

func logInByADeviceCode() async throws -> Session {
    let session = try await OAuth.discover("https://id.example.com")
        .session(client: .init(id: "cli"), grant: .device { show($0.userCode, $0.verificationURL) })
    return session
}

func logInByABrowser(_ path: String) -> Client {
    let session = Session.oauth(
        .discover("https://id.example.com"), client: .public("cli"), scopes: ["read"],
        flow: .authorizationCode(redirect: .loopback) { url in print("open", url) },
        store: CredentialFile(path))

    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.session = session
    let client = Client(configuration: configuration)
    return client
}

func logInInsteadOfByHand(_ path: String) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.session = .oauth(
        .discover("https://id.example.com"), client: .public("cli"), scopes: ["read"],
        flow: .authorizationCode(redirect: .loopback) { url in print("open", url) },
        store: CredentialFile(path))
    return configuration
}

func describeAServer() -> OAuth.Provider {
    let metadata = OAuth.Metadata(
        issuer: "https://id.example.com",
        authorizationEndpoint: URL(string: "https://id.example.com/authorize"),
        tokenEndpoint: URL(string: "https://id.example.com/token"))
    let provider = OAuth.Provider.known(metadata)
    return provider
}

func logInForAResource() -> Session {
    let session = Session.oauth(
        .protecting("https://api.example.com/mcp"), client: .public("cli"),
        flow: .authorizationCode { url in print("open", url) })
    return session
}

func listenAtAPort() -> [OAuth.Grant] {
    let grant = OAuth.Grant.authorizationCode(redirect: .loopback(port: 8400)) { url in print("open", url) }
    let other = OAuth.Grant.authorizationCode(redirect: .loopback(address: .ipv6)) { url in print("open", url)
    }
    return [grant, other]
}

func receiveARedirect() -> (Signal<String>, OAuth.Grant) {
    let callbacks = Signal<String>()
    let redirect = OAuth.Redirect.url("com.example.app:/callback", responses: callbacks.observable)
    let grant = OAuth.Grant.authorizationCode(redirect: redirect) { url in print("open", url) }
    return (callbacks, grant)
}

func readTheUser() -> Session {
    let login = OAuth.Login(
        .discover("https://id.example.com"), client: .public("cli"),
        grant: .authorizationCode { url in print("open", url) }, scopes: ["openid", "email"])
    let session = Session.oauth(login)
    login.tokens.subscribe { tokens in print(tokens.identity?["email"] ?? "unknown") }
    return session
}

func bindTokens(_ configuration: inout ClientConfiguration) {
    let dpop = DPoP()
    configuration.session = .oauth(
        .discover("https://id.example.com"), client: .public("cli"), flow: .device { show($0.userCode) },
        dpop: dpop)
    configuration.signer = dpop
}

func shareAnOAuthLogin(
    _ fleet: Fleet, _ keys: SealingKeys, _ client: OAuth.Client, _ transport: any Transport
) -> Session {
    let login = OAuth.Login(.discover("https://id.example.com"), client: client, grant: .clientCredentials)
    login.transport = transport
    let session = Session(
        sharing: fleet.credential("shop", sealing: keys), isExpiry: login.isExpiry,
        isRejection: OAuth.Login.isRejection,
        placement: login.placement, renewal: { login.renew($0) }, login: { login.logIn() })
    return session
}
#endif
