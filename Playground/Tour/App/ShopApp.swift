import RxNetworking
import Synchronization

/// The shop's app below its screens: one client, who is logged in, and what they share.
final class ShopApp: Sendable {
    /// All modules of the API are extensions of it.
    let client: Client
    /// Whom requests are sent as.
    let session: Session
    /// The shop's cookies, gone with the login.
    let cookies = CookieJar()
    /// Pictures on their way, two at a time.
    let uploads = RequestQueue(limit: 2)

    /// - Parameter baseURL: the shop's server.
    init(baseURL: String) {
        let login = Client.shop(baseURL) { [cookies] in $0.cookies = cookies }
        session = Session { login.account.logIn(as: "ada", password: "tea") }
        client = Client.shop(baseURL) { [session, cookies] configuration in
            configuration.session = session
            configuration.cookies = cookies
        }
    }
}

extension Client {
    /// A client of the shop.
    static func shop(_ baseURL: String, configure: (inout ClientConfiguration) -> Void = { _ in }) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.envelope = .shop
        configure(&configuration)
        return Client(baseURL: baseURL, configuration: configuration)
    }

    /// The server's own counts.
    func statistics() -> Observable<Statistics, NetworkError> { get("/stats").decode(Statistics.self) }
}

extension Envelope {
    /// How the shop wraps its answers: `{"errcode":200,"msg":"ok","data":…}`.
    static let shop = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
}
