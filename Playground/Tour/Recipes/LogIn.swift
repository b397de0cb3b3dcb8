import RxNetworking
import Synchronization

extension Recipe {
    static let logIn = Recipe(
        "Logging in",
        "A wrong password shows the server's message as a tip; the right one authorizes all further requests."
    ) { stage in
        let app = stage.app
        // Code
        let tips = app.client.errorTips.subscribe { error in stage.note("tip: \(error.message)") }
        let events = app.session.events.subscribe { event in stage.note("session: \(event)") }

        let refused = app.client.account.logIn(as: "ada", password: "coffee")
        let accepted = app.client.account.logIn(as: "ada", password: "tea")
            .handleEvents(onNext: { credential in app.session.logIn(with: credential) })
        // Shown
        defer {
            tips.cancel()
            events.cancel()
        }
        let (none, failure) = await stage.play(refused)
        stage.expect(
            none.isEmpty && failure?.message == "wrong user or password", "the server says what is wrong")
        _ = try await accepted.value()
        stage.expect(app.session.credential != nil, "the session has a token")
        let cart = try await app.client.basket.content().value()
        stage.expect(app.cookies.cookies.map(\.name) == ["visitor"], "the server's cookie is kept")
        stage.result(
            "logged in, with \(cart.lines.count) lines in the cart and the cookie \(app.cookies.cookies)")
    }
}
