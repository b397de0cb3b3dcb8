import RxNetworking

func declaredOnce() async throws {
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

    let goods = try await client.request(GoodsList(keyword: "tea")).value()
    show(goods)
}

func chainedByHand(client: Client, session: Session) {
    let loadMore = Signal<Void>(), reload = Signal<Void>()
    let commands: Observable<PagingCommand, Never> = .merge(
        loadMore.observable.map { .next }, reload.observable.map { .reload })

    commands.accumulatePages(.numbered(size: 20)) { page in
        client.response(.get("/mall/goods", query: page.parameters))
            .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
            .relogin(through: session)
            .retry(.exponentialBackoff(maxRetries: 2))
            .decode([Goods].self)
            .map { Page($0) }
    }
    .subscribe { state in render(state.items, state.phase) }
}

func pagesBySignals(client: Client, loadMore: Signal<Void>, reload: Signal<Void>) {
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: loadMore, reload: reload)
        .subscribe { state in render(state.items, state.phase) }
}

func awaited(client: Client) async throws {
    for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { show(goods) }
}

func firstProgram() async throws {
    struct Goods: Decodable, Sendable { let name: String }
    let client = Client(baseURL: "https://api.example.com/v1")
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    print(goods.name)
}
