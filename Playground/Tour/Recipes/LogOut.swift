import RxNetworking

extension Recipe {
    static let logOut = Recipe(
        "Logging out",
        "Token and cookies are removed, and no login follows automatically: the next request is refused."
    ) { stage in
        let app = stage.app
        stage.note("cart    \(try await app.client.basket.content().value().lines.count) line, logged in")
        // Code
        let farewell = app.client.account.logOut().handleEvents(onNext: { app.session.logOut() })
        let events = app.session.events.subscribe { event in stage.note("session \(event)") }
        // Shown
        defer { events.cancel() }
        _ = try await farewell.value()
        let logins = try await app.client.statistics().value().logins
        stage.expect(app.session.credential == nil, "the token is removed")
        stage.expect(app.cookies.cookies.isEmpty, "the cookies are removed")
        let (_, failure) = await stage.play(app.client.basket.content())
        stage.expect(failure?.status == .unauthorized, "the shop refuses requests without a login")
        let after = try await app.client.statistics().value().logins
        stage.expect(after == logins, "no further login is made")
        stage.result("logged out; \(failure?.message ?? "no error")")
    }
}
