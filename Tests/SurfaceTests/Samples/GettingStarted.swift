import RxNetworking
import RxTesting

func sendARequest() async throws {
    let client = Client(baseURL: "https://api.example.com/v1")
    let goods = client.get("/goods/7").decode(Goods.self)  // nothing has been sent

    let seventh = try await goods.value()
    show(seventh)

    for try await goods in goods { print(goods.name) }

    let subscription = goods.subscribe(
        onNext: { goods in print(goods.name) },
        onFailure: { error in print(error) })
    subscription.cancel()
}

func loopOverAList(client: Client) async throws {
    for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) {
        print(goods.name)
    }
}

func sendParameters(client: Client) {
    let search = client.get("/goods", query: ["keyword": "green tea", "page": 1])
    let add = client.post("/goods", .json(NewGoods(name: "tea", price: 12.5)))
    let logIn = client.post("/login", .form(["user": user, "password": password]))
    let note = client.put("/notes/1", .text("as it is"), query: ["lang": "en"])
    show([search, add, logIn, note].count)
}

func describeAnEndpoint(client: Client) async throws {
    struct AddToCart: Endpoint {
        typealias Output = Cart
        let goods: Int
        let path = "/cart"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["goods": goods, "count": 1]) }
    }

    let cart = try await client.request(AddToCart(goods: 7)).value()
    show(cart)
}

func sendHeaders() {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    configuration.options.headers = ["X-App": "shop", "Accept": "application/json", "Accept": "text/html"]
    let client = Client(configuration: configuration)
    let bare = client.get("/status", headers: ["X-App": nil])
    show(bare)
}

func unwrapTheEnvelope() {
    var configuration = ClientConfiguration()
    configuration.options.envelope = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
    show(client)
}

func tellErrorsApart(client: Client) async {
    do {
        show(try await client.get("/goods/7").decode(Goods.self).value())
    } catch {
        switch error.code {
        case .status: print(error.status?.code ?? 0, error.message)
        case .envelope: print(error.envelopeCode ?? "", error.message)
        case .decoding: print("unexpected content at", error.codingPath ?? "")
        case .connectTimeout, .attemptTimeout, .totalTimeout: print("too slow")
        default: print(error)
        }
    }
}

func retry() {
    var configuration = ClientConfiguration()
    configuration.options.retry = .exponentialBackoff(
        maxRetries: 4, backoff: .fullJitter(base: .milliseconds(100)))
    configuration.options.timeouts = Timeouts(total: .seconds(20))
    show(configuration)
}

func logInAgain() {
    let login = Client(baseURL: "https://api.example.com/v1")
    let session = Session(isExpiry: { $0.meansExpiredLogin(envelopeCodes: ["11010"]) }) {
        login.post("/login", .json(["user": user, "password": password]))
            .decode(Login.self)
            .map { Credential(token: $0.token) }
    }
    var configuration = ClientConfiguration()
    configuration.session = session
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    session.events.subscribe { event in
        if case .loggedOut = event { showLoginScreen() }
    }
    show(client)
}

func loadAList(client: Client) {
    let loadMore = Signal<Void>(), reload = Signal<Void>()
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
        .subscribe { state in render(state.items, state.phase) }

    loadMore.send()  // the user has scrolled to the end
    reload.send()  // the user has pulled down
}

func findTheList(client: Client, loadMore: Signal<Void>) {
    let states =
        client.pages(GoodsPages(), .numbered(size: 20), next: loadMore) { output in
            Page(output.list, total: output.totalRow)
        }
    show(states)
}

@MainActor
func deliverOnTheMainActor(client: Client) async throws {
    screen.show(try await client.request(GoodsList(keyword: "tea")).value())

    client.request(GoodsList(keyword: "tea"))
        .subscribe(isolatedTo: MainActor.self) { goods in screen.show(goods) }
}

func testWhatYouBuild() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/goods/7", .failure(.connectionLost), .json(#"{"name":"tea"}"#))
        ])
    let client = Client(baseURL: "https://test", transport: transport)

    let recorder = Recorder(client.get("/goods/7").decode(Goods.self), on: clock)
    try clock.run()
    show(recorder)
}

func optionsOfAClient() -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.options.retry = .exponentialBackoff(maxRetries: 4)
    configuration.options.timeouts = Timeouts(total: .seconds(20))
    return configuration
}

func optionsOfAnEndpoint(client: Client) {
    struct Heartbeat: Endpoint {
        typealias Output = Void
        let path = "/heartbeat"
        let method = HTTPRequest.Method.post
        let options = RequestOptions(retry: .never, presentation: .hidden)
    }

    client.request(Heartbeat()).subscribe()
}

func optionsOfARequest(client: Client) -> Observable<Response, NetworkError> {
    client.get("/goods/1", options: RequestOptions(cacheMode: .reload))
}

@Statements func optionsAtTheCall(client: Client) -> [Any] {
    client.request(GoodsList(keyword: "tea").with { $0.cacheMode = .reload })
    client.items(GoodsList(keyword: "tea").with { $0.presentation = .hidden }, .numbered(size: 20))
}

func sendALanguage(_ configuration: inout ClientConfiguration, language: Property<String>) {
    configuration.options.interceptors.call.append(.dynamicHeader("Accept-Language") { language.value })
}

func readTheHead(client: Client) async throws {
    let response = try await client.get("/goods/7").value()
    print(response.status.code, response.head.headerFields[.eTag] ?? "no tag", response.text)
}
