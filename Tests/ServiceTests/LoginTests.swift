import RxNetworking
import TestServers
import Testing

/// Tokens of djangorestframework-simplejwt: access for three seconds, refresh once.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct LoginTests {
    private struct Tokens: Decodable, Sendable {
        let access: String
        let refresh: String?

        func credential(after old: Credential? = nil) -> Credential {
            Credential(token: access, refreshToken: refresh ?? old?.refreshToken)
        }
    }

    private struct Account: Decodable, Sendable { let user: String }

    private func session(of baseURL: String, refreshes: Bool) -> Session {
        let login = Client(baseURL: baseURL)
        let renewal: @Sendable (Credential) -> Observable<Credential, NetworkError> = { old in
            login.post("/token/refresh/", .json(["refresh": old.refreshToken ?? ""])).decode(Tokens.self)
                .map { $0.credential(after: old) }
        }
        return Session(
            renewal: refreshes ? renewal : nil,
            login: {
                login.post("/token/", .json(["username": "anna", "password": "secret-of-anna"]))
                    .decode(Tokens.self).map { $0.credential() }
            })
    }

    /// Fifty requests at once with an expired token cause one login, or one refresh, again and again.
    @Test(arguments: [true, false])
    func expiry(refreshes: Bool) async throws {
        let folder = try TemporaryFolder()
        let shop = try await Service.shop(in: folder)
        let front = try await Service.caddy(before: shop, filesOf: folder)
        let session = session(of: front.baseURL, refreshes: refreshes)
        var configuration = ClientConfiguration()
        configuration.session = session
        let client = Client(baseURL: front.baseURL, configuration: configuration)
        let account = client.get("/account/").decode(Account.self)

        #expect(try await account.value().user == "anna")
        for _ in 1...2 {
            // Refused by the server's clock, regardless of this process's.
            let token = try #require(session.credential?.token)
            _ = try await Observable<Int, NetworkError>.interval(.milliseconds(200))
                .flatMap(.concat) { _ in isRefused(token, at: shop.baseURL) }
                .filter { $0 }.value()

            let users = try await Observable<Int, NetworkError>.sequence(1...50)
                .flatMap(.merge(limit: 50)) { _ in account.map(\.user) }
                .collect().value()
            #expect(users == Array(repeating: "anna", count: 50))
        }
        let paths =
            refreshes
            ? ["/token/", "/token/refresh/", "/token/refresh/"] : ["/token/", "/token/", "/token/"]
        // Each of the requests for a token came before requests that are in the log already.
        let logins = try await front.requests(to: "/token/", atLeast: 3)
        #expect(logins.map(\.request.uri) == paths)
        #expect(logins.allSatisfy { $0.status == 200 })
    }

    private func isRefused(_ token: String, at baseURL: String) -> Observable<Bool, NetworkError> {
        var call = InlineEndpoint(.get, "/account/")
        call.options.headers = ["Authorization": "Bearer " + token]
        return Client(baseURL: baseURL).request(call).map { _ in false }
            .catch { error in error.status == .unauthorized ? .just(true) : .fail(error) }
    }
}
