import Foundation
import RxNetworking

struct Tokens: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case token = "access_token"
        case refreshToken = "refresh_token"
        case lifetime = "expires_in"
    }

    let token: String
    let refreshToken: String?
    let lifetime: Double?

    var credential: Credential {
        Credential(token: token, refreshToken: refreshToken, expires: lifetime.map { Date.now + $0 })
    }
}

func keepASession() -> (Client, Session) {
    let login = Client(baseURL: "https://api.example.com/v1")
    let session = Session(store: CredentialFile("/var/lib/app/credential.json")) {
        login.post("/login", .form(["user": user, "password": password]))
            .decode(Login.self)
            .map { Credential(token: $0.token) }
    }
    var configuration = ClientConfiguration()
    configuration.session = session
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
    return (client, session)
}

func placeTheCredential(_ logIn: Observable<Credential, NetworkError>) -> Session {
    let signed = Session(placement: .cookie("sid")) { logIn }
    return signed
}

func useAToken(_ token: String) -> Session {
    let fixed = Session(credential: Credential(token: token), placement: .header("X-Token"))
    return fixed
}

func awaitALogin(_ login: Client) -> Session {
    let awaiting = Session {
        let tokens = try await login.post("/login", ["user": user, "password": password])
            .decode(Login.self).value()
        return Credential(token: tokens.token)
    }
    return awaiting
}

func logInFirst(_ logIn: Observable<Credential, NetworkError>) -> Session {
    let eager = Session(requiresLogin: true, loginAttemptLimit: 3, loginAttemptWindow: .seconds(60)) {
        logIn
    }
    return eager
}

func renew(_ login: Client, _ logIn: Observable<Credential, NetworkError>) -> Session {
    let refreshing = Session(
        renewal: { credential in
            login.post(
                "/token",
                .form(["grant_type": "refresh_token", "refresh_token": credential.refreshToken ?? ""])
            )
            .decode(Tokens.self).map { $0.credential }
        },
        login: { logIn })
    return refreshing
}

func changeAccounts(_ session: Session, token: String) {
    session.logIn(with: Credential(token: token))  // another account
    session.logOut()
}

func followASession(
    _ session: Session, _ showHome: @escaping @Sendable () -> Void,
    _ showLoginScreen: @escaping @Sendable (String?) -> Void
) {
    session.events.subscribe { event in
        switch event {
        case .loggedIn: showHome()  // the first login of the session as well
        case .renewed: break
        case .loggedOut(let reason): showLoginScreen(reason?.message)
        case .storageFailed(let error): print(error)
        }
    }
}

struct Keys: Sendable {
    func read() async -> Credential? { nil }
    func write(_: Credential?) async {}
}

let keys = Keys()

struct Vault: CredentialStore {
    func load() -> Observable<Credential?, NetworkError> { .async { await keys.read() } }
    func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        .async { await keys.write(credential) }
    }
}

func waitForTheStore(_ session: Session) async throws {
    try await session.restore().value()
    try await session.flush().value()
}
