import RxNetworking

extension Recipe {
    static let reloginOnce = Recipe(
        "One login for twenty requests",
        "The login expires while 20 requests run: the session logs in once, and each request is repeated once."
    ) { stage in
        let shop = Client.shop(stage.baseURL, named: "logins")
        // Code
        let session = Session { shop.account.logIn(as: "ada", password: "tea") }
        let client = Client.shop(stage.baseURL, named: "relogin") { $0.session = session }
        let orders = Observable.sequence(1...20).flatMap { id in client.account.order(id) }.collect()
        // Shown
        _ = try await client.account.order(1).value()
        let before = try await shop.statistics().value()
        _ = try await shop.post("/expire").value()
        stage.note("the server has forgotten every token")
        let events = session.events.subscribe { stage.note("session \($0)") }
        defer { events.cancel() }
        let values = try await orders.value()
        stage.note("\(values.count) orders have arrived")
        let after = try await shop.statistics().value()
        let logins = after.logins - before.logins
        stage.expect(Set(values.map(\.id)) == Set(1...20), "all twenty orders arrive")
        stage.expect(logins == 1, "the server counts one login, not \(logins)")
        stage.result("20 orders; the server counts \(logins) login")
    }
}
