#if Auth
import FoundationEssentials
import RxAuth
import RxNetworking

extension Recipe {
    static let logInOnAnotherScreen = Recipe(
        "Logging in on another screen",
        "The shop's authorization server gives a code, which a user allows elsewhere (OAuth's device flow). Twenty requests renew the token once."
    ) { stage in
        let shop = Client.shop(stage.baseURL, named: "phone")
        let phone = Phone(shop: shop, stage: stage)
        let before = try await shop.statistics().value()
        // Code
        let session = try await OAuth.discover(stage.baseURL).session(
            client: .init(id: "tour"), grant: .device { code in phone.allow(code) })
        let client = Client.shop(stage.baseURL, named: "screen") { $0.session = session }
        let orders = Observable.sequence(1...20).flatMap { id in client.account.order(id) }.collect()
        // Shown
        let first = try await client.account.order(1).value()
        stage.note("order \(first.id) has arrived")
        let login = session.credential
        _ = try await shop.post("/expire").value()
        stage.note("the server has forgotten every token")
        let values = try await orders.value()
        let renewed = session.credential
        let after = try await shop.statistics().value()
        stage.expect(Set(values.map(\.id)) == Set(1...20), "all twenty orders arrive")
        stage.expect(after.logins - before.logins == 1, "the user is asked once")
        stage.expect(renewed?.token != login?.token, "the token is a new one")
        stage.expect(
            login?.refreshToken != nil && renewed?.refreshToken != login?.refreshToken,
            "the refresh token is used once")
        let requests = after.count("POST /oauth/token") - before.count("POST /oauth/token")
        stage.expect(
            requests >= 3, "the server is asked before the user has answered, after that, and to renew")
        stage.result(
            "\(values.count + 1) orders; the server counts 1 login and \(requests) requests for tokens")
    }
}

/// The other screen, on which a user enters the code.
private struct Phone {
    let shop: Client
    let stage: Stage

    /// Shows the code, and allows the login once the device has asked in vain.
    func allow(_ code: OAuth.DeviceCode) {
        stage.note("enter \(code.userCode) at \(code.verificationURL.absoluteString)")
        Task {
            do {
                let asked = { try await shop.statistics().value().count("POST /oauth/token") }
                let before = try await asked()
                while try await asked() == before { try await Task.sleep(for: .milliseconds(20)) }
                let form: Parameters.Values = [
                    "user_code": code.userCode, "user": "ada", "password": "tea", "answer": "allow",
                ]
                _ = try await shop.post("/device", .form(form), options: RequestOptions(envelope: .absent))
                    .value()
                stage.note("the user has allowed it on the phone")
            } catch {
                stage.expect(false, "the phone reaches the shop: \(error)")
            }
        }
    }
}
#endif
