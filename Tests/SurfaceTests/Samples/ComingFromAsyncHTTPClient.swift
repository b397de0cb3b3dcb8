import RxNetworking
import RxTesting
import Testing

private func pool() {
    var connections = CurlTransport.Configuration()
    connections.maxConnectionsPerOrigin = 16
    connections.idleConnectionLifetime = .seconds(30)
    let transport = CurlTransport(loop: .shared, configuration: connections)
    let client = Client(baseURL: "https://api.example.com/v1", transport: transport)
    show(client)
}

private func getAndDecode() async throws {
    let client = Client(baseURL: "https://api.example.com/v1")
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    show(goods)
}

private func getWithCallbacks(_ client: Client) {
    client.get("/goods/7").decode(Goods.self)
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
}

private func postJSON(_ client: Client) async throws {
    let added = try await client.post("/goods", .json(NewGoods(name: "tea", price: 12.5)))
        .decode(Goods.self).value()
    show(added)
}

private func sendQueryAndHeaders(_ client: Client) async throws {
    let found = try await client.get(
        "/goods", query: ["keyword": "green tea", "page": 1], headers: ["X-App": "shop"]
    )
    .decode([Goods].self).value()
    show(found)
}

private func configure(_ login: Client) {
    var configuration = ClientConfiguration()
    configuration.options.timeouts = Timeouts(connect: .seconds(5), idle: .seconds(15), total: .seconds(30))

    configuration.options.retry = .exponentialBackoff(maxRetries: 4)

    configuration.authentication = .basic(user: user, password: password)

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

    configuration.redirects = RedirectPolicy(limit: 3)
    configuration.redirects = .manual

    configuration.cookies = CookieJar()

    configuration.options.cachePolicy = .http
    show(configuration)
}

private func tellErrorsApart(_ client: Client, offerRetry: () -> Void) async {
    do {
        show(try await client.get("/goods/7").decode(Goods.self).value())
    } catch {
        switch error.code {
        case .connectTimeout, .totalTimeout: offerRetry()
        case .status where error.status == .notFound: show("sold out")
        case .tls: show(error.tlsFailure?.rawValue ?? error.message)
        case .cancelled: break
        default: show("\(error)")
        }
    }
}

private func readChunks(_ client: Client, handle: ([UInt8]) async -> Void) async throws {
    for try await chunk in client.stream(.get("/export")).chunks() {
        await handle(chunk)
    }
}

private func sendChunks(_ client: Client, _ chunks: AsyncStream<[UInt8]>) async throws {
    let body = Body.stream(Observable<[UInt8], Never>(chunks).setFailureType())
    let response = try await client.put("/import", .body(body, contentType: "text/csv")).value()
    show(response)
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

private func uploadForm(_ client: Client) async throws {
    let form = Parameters.multipart([
        .text("name", "Green tea"), .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
    ])
    for try await event in client.progress(of: .post("/goods", form)) {
        switch event {
        case .uploaded(let progress): show(progress.fraction ?? 0)
        case .downloaded: break
        case .finished(let result): show(result.response.status)
        }
    }
}

private func cancelThreeWays(_ client: Client) {
    let task = Task { try await client.get("/goods").decode([Goods].self).value() }
    task.cancel()

    let subscription = client.get("/goods").subscribe(onNext: { response in show(response.status) })
    subscription.cancel()

    client.cancel(.url("/goods"))
}

private func loadAll(_ client: Client, ids: [Int]) async throws {
    let requests = ids.map { id in client.get("/goods/{id}", at: ["id": id]).decode(Goods.self) }
    let goods = try await Observable.zip(requests).value()
    show(goods)
}

private func loadSomeAtATime(_ client: Client, ids: [Int]) async throws {
    let arriving = Observable<Int, NetworkError>.sequence(ids)
        .flatMap(.merge(limit: 4)) { id in client.get("/goods/{id}", at: ["id": id]).decode(Goods.self) }
    for try await goods in arriving { show(goods) }
}

private func configureTheConnections() {
    var connections = CurlTransport.Configuration()
    connections.proxy = Proxy("http://me:secret@proxy.example.com:3128", exceptions: ["localhost"])
    connections.tls.requiresTLS13 = true
    connections.tls.caBundlePath = "/etc/shop/authorities.pem"
    show(connections)
}

@Test func requestsOfAsyncHTTPClientInVirtualTime() throws {
    let clock = VirtualScheduler()
    let transport = ScriptedTransport(
        on: clock,
        [
            .when(.get, "/goods/7", .status(.serviceUnavailable), .json(#"{"name":"tea"}"#))
        ])
    let client = Client(baseURL: "https://test", transport: transport)

    let recorder = Recorder(client.get("/goods/7").decode(Goods.self), on: clock)
    try clock.run()
    #expect(recorder.values.map(\.name) == ["tea"])
    #expect(transport.requests.count == 2)
}
