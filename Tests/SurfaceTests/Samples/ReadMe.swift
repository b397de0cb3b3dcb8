import RxNetworking

func firstCode() {
    let client = Client(baseURL: "https://api.example.com/v1")

    client.get("/goods/7").decode(Goods.self)
        .subscribe(onNext: { print($0.name) }, onFailure: { print($0) })
}

func declaredOnce() {
    struct GoodsList: Endpoint {
        typealias Output = [Goods]
        let keyword: String
        let path = "/mall/goods"
        var parameters: Parameters { .query(["keyword": keyword]) }
    }

    let login = Client(baseURL: "https://api.example.com/v1")
    let session = Session {
        login.post("/login", .json(["user": user, "password": password]))
            .decode(Login.self)
            .map { Credential(token: $0.token) }
    }

    var configuration = ClientConfiguration()
    configuration.session = session
    configuration.options.envelope = Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)

    client.request(GoodsList(keyword: "tea"))
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
}

func chainedByHand(client: Client, session: Session) {
    client.response(GoodsList(keyword: "tea"))
        .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
        .relogin(through: session)
        .retry(.exponentialBackoff(maxRetries: 2))
        .decode([Goods].self)
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
}

func pagesBySignals(client: Client) {
    let loadMore = Signal<Void>(), reload = Signal<Void>()
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
        .subscribe { state in render(state.items, state.phase) }
}

func awaited(client: Client) async throws {
    let goods = try await client.request(GoodsList(keyword: "tea")).first()
    show(goods)
}

func firstRequest() async throws {
    let client = Client(baseURL: "https://api.example.com/v1")
    let response = try await client.get("/goods/7").first()
    print(response?.text ?? "")
}
