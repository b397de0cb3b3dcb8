import FoundationEssentials
import Logging
import RxDiskCache
import RxInspector
import RxMetrics
import RxNetworking
import RxServices
import RxTracing
import ServiceLifecycle

// The samples of the comments of RxHTTP, RxCurl, RxLoop, RxParameters, RxCookies, the caches' stores and what observes
// a client.

func requests(_ request: inout Request, password: String, _ configuration: inout ClientConfiguration) throws {
    try request.authenticate(by: .digest(user: "anna", password: password))

    configuration.options.contentTypes = .json.or("text/html")  // JSON that the server labels as HTML
    let picture: ContentTypes = ["image/*"]
    show(picture)

    configuration.options.headers = ["X-App": "shop", "Accept": "text/html", "Accept": "application/json"]
    configuration.options.headers["X-App"] = "store"

    let form = Multipart([
        .text("title", "Green tea"),
        .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
    ])
    show(form)
}

func values(_ client: Client) async {
    do {
        show(try await client.get("/cart").decode(Cart.self).value())
    } catch {
        show(error.message)
    }
}

func errors(_ cart: Observable<Cart, NetworkError>, offerRetry: @escaping @Sendable () -> Void) {
    cart
        .subscribe(onFailure: { error in
            switch error.code {
            case .envelope: show(error.message)
            case .attemptTimeout, .totalTimeout: offerRetry()
            default: show("\(error)")
            }
        })
}

@Statements func parameters(
    _ client: Client, _ configuration: inout ClientConfiguration, goods: NewGoods, path: String, pin: String,
    title: String, secret: String, digest: @escaping @Sendable (String) -> String
) -> [Any] {
    let page = Parameters.query(["page": 1, "keyword": "green tea"])  // ?keyword=green%20tea&page=1
    let goods = Parameters.json(NewGoods(name: "tea", price: 3))  // {"name":"tea","price":3}
    let login = Parameters.form(["user": "anna", "password": password])  // password=secret&user=anna
    let photo = Parameters.multipart([.file("photo", path)])  // a form with a file
    let standard: Parameters = ["id": 7]  // as the client's format says
    (page, goods, login, photo, standard)

    client.post("/photos", .standard(["title": title]).sent(as: .multipart))

    client.post("/login", .form(["user": "anna", "pin": pin]).hiding("pin"))
}

@Statements func formats(
    _ client: Client, _ configuration: inout ClientConfiguration, goods: NewGoods, secret: String,
    digest hash: @escaping @Sendable (String) -> String
) -> [Any] {
    client.post("/goods", .json(goods).query(["dryRun": true]))

    let packed = ParameterFormat.custom(contentType: "application/msgpack") { value in
        try MessagePackEncoder().encode(value)
    }
    client.post("/goods", .standard(goods).sent(as: packed))
}

func signatures(
    _ configuration: inout ClientConfiguration, secret: String, hash: @escaping @Sendable (String) -> String
) {
    @Sendable func digest(of text: String) -> String { hash(text) }
    configuration.signature = .parameters { content in
        ["sign": digest(of: content.canonicalQuery + secret)]
    }
}

private struct MessagePackEncoder {
    func encode(_: any Encodable) throws -> [UInt8] { [] }
}

func transports(_ url: URL) {
    let transport = CurlTransport(loop: .shared)
    transport.send(Request(url: url)).subscribe(onNext: { event in print(event) })

    print(CurlTransport.shared.features)  // libcurl 8.14.1 with OpenSSL/3.0.17, HTTP/2
}

func hsts() -> CurlTransport.Configuration {
    var connections = CurlTransport.Configuration()
    connections.hsts = HSTSStore(file: "hsts.txt")
    connections.hsts = HSTSStore(file: "/var/lib/app/hsts.txt")
    return connections
}

func connections(_ configuration: inout CurlTransport.Configuration) {
    configuration.connectTo = [
        .init(host: "api.example.com", port: 443, toHost: "canary.example.net", toPort: 8443)
    ]

    configuration.proxy = Proxy("http://proxy.example.com:3128", exceptions: ["localhost", ".example.com"])
}

func reachability(_ configuration: inout ClientConfiguration) {
    let reachability = NetlinkReachability()
    reachability.start()
    configuration.reachability = reachability
}

func loops() {
    let loop = EventLoop(name: "network")
    loop.schedule { print(loop.isCurrent) }  // true
    loop.shutDown()
}

func watch(_ loop: EventLoop, _ fd: Int32) throws -> Poll? {
    let poll: Poll
    do { poll = try Poll(on: loop, descriptor: fd) { _, _ in } } catch .alreadyExists { return nil }
    return poll
}

func count(_ loop: EventLoop, _ document: [UInt8]) -> Observable<Int, UVError> {
    loop.work { document.split(separator: 10).count }
}

func cookies(_ jar: CookieJar, _ url: URL) async throws {
    try jar.set("theme=dark; Path=/; Max-Age=86400", from: url)

    try jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example.com"))

    try await jar.flush().value()
}

func cookieClients(_ configuration: inout ClientConfiguration) -> Client {
    configuration.cookies = CookieJar(file: "/var/lib/app/cookies.json")

    func client() -> Client {
        var configuration = ClientConfiguration()
        configuration.cookies = CookieJar(file: "cookies.json")
        let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
        return client
    }
    return client()
}

func stores() throws -> TieredCacheStore {
    let store = TieredCacheStore(over: DiskCacheStore(folder: "/var/cache/shop"))
    return store
}

func clients() -> [Any] {
    func configured() -> Client {
        var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
        configuration.options.timeouts = Timeouts(total: .seconds(20))
        let client = Client(configuration: configuration)
        return client
    }
    let store = CredentialFile("/var/lib/app/credential.json")
    return [configured(), store]
}

func inspectors(_ client: Client) async throws {
    let inspector = try await Inspector.start(client)
    print(inspector)

    try await Inspector.startIfAsked(client)
}

func observers(_ client: Client) {
    client.recordMetrics()

    client.traceCalls()
}

func services(_ loop: EventLoop, _ client: Client, _ shop: some Service, _ logger: Logger) -> ServiceGroup {
    let group = ServiceGroup(services: [loop, client, shop], logger: logger)
    return group
}
