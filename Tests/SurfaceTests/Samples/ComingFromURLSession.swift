import RxNetworking
import RxTesting
import Testing

private func createClient() {
    var configuration = ClientConfiguration()
    configuration.options.headers = ["X-App": "shop"]
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
    show(client)
}

private func getAndDecode() async throws {
    let client = Client(baseURL: "https://api.example.com/v1")
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    show(goods)
}

private func subscribeOnTheMainActor(_ client: Client, _ bag: SubscriptionBag) {
    client.get("/goods/7").decode(Goods.self)
        .subscribe(
            isolatedTo: MainActor.self,
            onNext: { goods in screen.show([goods]) },
            onFailure: { error in screen.tell(error.message) }
        )
        .store(in: bag)
}

private func postJSON(_ client: Client) async throws {
    let added = try await client.post("/goods", .json(NewGoods(name: "tea", price: 12.5)))
        .decode(Goods.self).value()
    show(added)
}

private func sendQueryAndHeaders(_ client: Client) async throws {
    let found = try await client.get(
        "/goods", query: ["keyword": "green tea", "page": 1], headers: ["Accept": "application/json"]
    )
    .decode([Goods].self).value()
    show(found)
}

private func configure(_ client: Client, _ login: Client) {
    var configuration = ClientConfiguration()
    configuration.options.timeouts = Timeouts(
        firstByte: .seconds(15), idle: .seconds(15), total: .seconds(30))

    configuration.options.retry = .exponentialBackoff(maxRetries: 4)
    let once = client.get("/status", options: RequestOptions(retry: .never))

    configuration.authentication = .digest(user: user, password: password)

    let session = Session(
        renewal: { credential in
            login.post(
                "/token",
                .form(["grant_type": "refresh_token", "refresh_token": credential.refreshToken ?? ""])
            )
            .decode(Tokens.self).map { $0.credential }
        },
        login: {
            login.post("/login", .form(["user": user, "password": password]))
                .decode(Tokens.self).map { $0.credential }
        })
    configuration.session = session

    configuration.redirects = .manual
    configuration.redirects = RedirectPolicy(limit: 3, keepsPost: true)

    configuration.cookies = CookieJar(file: "/var/lib/app/cookies.json")

    configuration.options.cachePolicy = .http
    configuration.cache = ResponseCache(store: MemoryCacheStore(limit: 8 << 20))
    let fresh = client.get("/goods", options: RequestOptions(cacheMode: .reload))
    show(configuration)
    show([once, fresh])
}

private func tellErrorsApart(_ client: Client, offerRetry: () -> Void) async {
    do {
        show(try await client.get("/goods/7").decode(Goods.self).value())
    } catch {
        switch error.code {
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: offerRetry()
        case .status where error.status == .notFound: show("sold out")
        case .decoding: show("unexpected content at \(error.codingPath ?? "")")
        case .cancelled: break
        default: show(error.message)
        }
    }
}

private func readLinesOfALog(_ client: Client, handle: (String) async -> Void) async throws {
    for try await line in client.stream(.get("/log")).lines() {
        await handle(line)
    }
}

private func chatOverAWebSocket(_ client: Client, handle: (String) async -> Void) async throws {
    let sink = WebSocketSink()
    sink.send("hello").subscribe()
    for try await line in client.webSocket("/chat", sending: sink).texts() {
        await handle(line)
    }
}

private func downloadMap(_ client: Client) async throws {
    for try await event in client.download(.get("/map.osm"), to: "/var/lib/app/map.osm") {
        switch event {
        case .progress(let progress): show(progress.fraction ?? 0)
        case .finished(let file): show(file.size)
        }
    }
}

private func uploadPhoto(_ client: Client) async throws {
    for try await event in client.progress(of: .put("/photos/1", .file("/srv/photos/tea.jpg"))) {
        switch event {
        case .uploaded(let progress): show(progress.fraction ?? 0)
        case .downloaded: break
        case .finished(let result): show(result.response.status)
        }
    }

    let form = Parameters.multipart([
        .text("name", "Green tea"), .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
    ])
    let response = try await client.post("/goods", form).value()
    show(response)
}

private func cancelThreeWays(_ client: Client) {
    let task = Task { try await client.get("/goods").decode([Goods].self).value() }
    task.cancel()

    let subscription = client.get("/goods").subscribe(onNext: { response in show(response.status) })
    subscription.cancel()

    client.cancel(.url("/goods"))
}

private func loadTogether(_ client: Client) async throws {
    let (goods, cart) = try await Observable.zip(
        client.request(GoodsList(keyword: "tea")), client.get("/cart").decode(Cart.self)
    )
    .value()
    show((goods, cart))
}

private func loadSomeAtATime(_ client: Client, ids: [Int]) async throws {
    let arriving = Observable<Int, NetworkError>.sequence(ids)
        .flatMap(.merge(limit: 4)) { id in client.get("/goods/{id}", at: ["id": id]).decode(Goods.self) }
    for try await goods in arriving { show(goods) }
}

private func configureTheConnections(currentKey: String, nextKey: String) {
    var connections = CurlTransport.Configuration()
    connections.proxy = Proxy("http://proxy.example.com:3128", exceptions: ["localhost"])
    connections.tls.requiresTLS13 = true
    connections.tls.pinnedPublicKey = "sha256//\(currentKey);sha256//\(nextKey)"
    let transport = CurlTransport(loop: .shared, configuration: connections)
    let client = Client(baseURL: "https://api.example.com/v1", transport: transport)
    show(client)
}

@Test func requestsOfURLSessionInVirtualTime() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/goods/7", .failure(.connectionLost), .json(#"{"name":"tea"}"#))
        ])
    let client = Client(baseURL: "https://test", transport: transport)

    let recorder = Recorder(client.get("/goods/7").decode(Goods.self), on: clock)
    try clock.run()
    #expect(recorder.values.map(\.name) == ["tea"])
    #expect(transport.requests.count == 2)
}
