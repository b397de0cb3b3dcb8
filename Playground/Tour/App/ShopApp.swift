import RxNetworking
import Synchronization

/// The shop's app without its screens: a client, its session, and the objects they share.
final class ShopApp: Sendable {
    /// The client; the modules of the API are extensions of it.
    let client: Client
    /// The session of the user.
    let session: Session
    /// The shop's cookies, removed on logging out.
    let cookies = CookieJar()
    /// The queue of picture uploads, two at a time.
    let uploads = RequestQueue(limit: 2)

    /// - Parameters:
    ///   - baseURL: the shop's server.
    ///   - transport: sends the requests. Default libcurl.
    init(baseURL: String, transport: (any Transport)? = nil) {
        let login = Client.shop(baseURL, named: "login", transport) { [cookies] in $0.cookies = cookies }
        session = Session { login.account.logIn(as: "ada", password: "tea") }
        client = Client.shop(baseURL, named: "app", transport) { [session, cookies] configuration in
            configuration.session = session
            configuration.cookies = cookies
        }
    }
}

extension Client {
    /// A client of the shop.
    ///
    /// - Parameter name: its name in the inspector.
    static func shop(
        _ baseURL: String, named name: String, _ transport: (any Transport)? = nil,
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: baseURL)
        configuration.options.envelope = .shop
        configure(&configuration)
        let client =
            if let transport { Client(configuration: configuration, transport: transport) } else {
                Client(configuration: configuration)
            }
        Inspection.inspect(client, named: name)
        return client
    }

    /// The counts of the server.
    func statistics() -> Observable<Statistics, NetworkError> { get("/stats").decode(Statistics.self) }
}

extension Envelope {
    /// The envelope of the shop's responses: `{"errcode":200,"msg":"ok","data":…}`.
    static let shop = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
}
