import RxNetworking

extension Client {
    /// The account module.
    var account: Account { Account(client: self) }
}

/// The module for logging in and out, and for orders.
struct Account: Sendable {
    let client: Client

    /// A token for a user.
    func logIn(as user: String, password: String) -> Observable<Credential, NetworkError> {
        client.request(LogIn(user: user, password: password)).map { Credential(token: $0.token) }
    }

    /// Invalidates the token.
    func logOut() -> Observable<Void, NetworkError> { client.post("/logout").map { _ in } }

    /// One of the user's orders.
    func order(_ id: Int) -> Observable<Order, NetworkError> {
        client.get("/orders/{id}", at: ["id": id]).decode(Order.self)
    }
}

/// A page of the user's orders, optionally with a page that fails once.
struct OrdersList: Endpoint {
    typealias Output = OrdersPage
    let page: Parameters.Values
    let failingPage: Int
    let run: String
    let path = "/orders"
    var parameters: Parameters { .query(page).adding(["run": run, "failPage": failingPage]) }

    init(_ page: Parameters.Values, failingPage: Int = 0, run: String = "") {
        (self.page, self.failingPage, self.run) = (page, failingPage, run)
    }
}

/// Sent without a credential; a refusal starts no login.
private struct LogIn: Endpoint {
    typealias Output = Login
    let user: String
    let password: String
    let path = "/login"
    let method = HTTPRequest.Method.post
    let options = RequestOptions(usesSession: false)
    var parameters: Parameters { .json(["user": user, "password": password]) }
}
