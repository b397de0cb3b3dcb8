import RxNetworking
import RxTesting
import Testing

private func getAndDecode() async throws {
    let client = Client(baseURL: "https://api.example.com/v1")
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    show(goods)
}

private func getWithCallbacks(_ client: Client) {
    client.get("/goods/7").decode(Goods.self)
        .subscribe(
            isolatedTo: MainActor.self,
            onNext: { goods in screen.show([goods]) },
            onFailure: { error in screen.tell(error.message) })
}

private func postJSON(_ client: Client) async throws {
    let added = try await client.post("/goods", .json(NewGoods(name: "tea", price: 12.5)))
        .decode(Goods.self).value()
    show(added)
}

private func sendQueryAndForm(_ client: Client) {
    let goods = client.get(
        "/goods", query: ["keyword": "green tea", "page": 1], headers: ["X-App": "shop"])
    let logIn = client.post("/login", .form(["user": user, "password": password]))
    show([goods, logIn])
}

private func useARouter(_ client: Client) async throws {
    struct AddToCart: Endpoint {
        typealias Output = Cart
        let id: Int
        let path = "/cart"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["goods": id, "count": 1]) }
    }

    let cart = try await client.request(AddToCart(id: 7)).value()
    show(cart)
}

private func configure(_ client: Client, _ login: Client) {
    var configuration = ClientConfiguration()
    configuration.parameterFormat = .form
    configuration.parameterStyle = ParameterStyle(lists: .brackets)

    let options = RequestOptions(timeouts: Timeouts(firstByte: .seconds(15), total: .seconds(30)))
    let report = client.get("/report", options: options)

    configuration.options.retry = .exponentialBackoff(maxRetries: 4)

    configuration.options.retry = RetryPolicy<NetworkError> { error, history in
        error.isTransient && history.count < 3 ? .milliseconds(300) : nil
    }

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
    configuration.redirects = RedirectPolicy(limit: 3)

    configuration.cookies = CookieJar(file: "/var/lib/app/cookies.json")
    configuration.options.cachePolicy = .http
    let uncached = client.get("/goods", options: RequestOptions(cacheMode: .noStore))
    show(configuration)
    show([report, uncached])
}

private func tellErrorsApart(_ client: Client, offerRetry: () -> Void) async {
    do {
        show(try await client.get("/goods/7").decode(Goods.self).value())
    } catch {
        switch error.code {
        case .status where error.status == .notFound: show("sold out")
        case .decoding: show("unexpected content at \(error.codingPath ?? "")")
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: offerRetry()
        case .cancelled: break
        default: show(error.message)
        }
    }
}

private func validateStock(_ client: Client) {
    let stock = client.get("/goods").decode([Goods].self).validate { goods throws(NetworkError) in
        if goods.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    }
    show(stock)
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

private func downloadMap(_ client: Client) {
    client.download(.get("/map.osm"), to: "/var/lib/app/map.osm").subscribe(
        onNext: { event in
            switch event {
            case .progress(let progress): show(progress.fraction ?? 0)
            case .finished(let file): show(file.size)
            }
        },
        onFailure: { error in show(error.message) })
}

private func uploadForm(_ client: Client) async throws {
    let form = Parameters.multipart([
        .text("name", "Green tea"), .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
    ])
    for try await event in client.progress(of: .post("/goods", form)) {
        switch event {
        case .uploaded(let progress): show(progress.fraction ?? 0)
        case .downloaded: break
        case .finished(let result): show(try result.response.decode(Goods.self))
        }
    }
}

private func adaptRequests() {
    var configuration = ClientConfiguration()
    struct AttemptNumber: Interceptor {
        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> {
            var request = request
            request.headerFields[HTTPField.Name("X-Attempt")!] = "\(request.attempt)"
            return next(request)
        }
    }

    configuration.options.interceptors.attempt = [AttemptNumber()]
    show(configuration)
}

private func monitorEvents(_ client: Client) {
    client.traffic.subscribe(onNext: { event in
        switch event.kind {
        case .started: print("\(event.request.id) begins")
        case .transfer(.finished(let metrics)): print(event.request.id, metrics.firstByte)
        case .retry(let delay, let error): print("\(event.request.id) again in \(delay): \(error.code)")
        case .ended(let summary): print("\(event.request.id) took \(summary.duration)")
        default: break
        }
    })
    #if Logging
    client.traffic.log(to: Logger(label: "api"))
    #endif
}

private func pauseAndCancel(_ client: Client) {
    let subscription = client.get("/goods").subscribe(onNext: { response in show(response.status) })
    subscription.pause()
    subscription.resume()
    subscription.cancel()
    client.cancel(.all)
}

private func loadTogether(_ client: Client) async throws {
    let (goods, cart) = try await Observable.zip(
        client.request(GoodsList(keyword: "tea")), client.get("/cart").decode(Cart.self)
    )
    .value()
    show((goods, cart))
}

private func queueUploadsOfPhotos(_ client: Client, paths: [String]) {
    let uploads = RequestQueue(limit: 2)
    for path in paths {
        client.post("/photos", .file(path)).queued(in: uploads).subscribe(onFailure: { error in show(error) })
    }
}

private func configureTheConnections(currentKey: String, nextKey: String) {
    var configuration = ClientConfiguration()
    var connections = CurlTransport.Configuration()
    connections.proxy = Proxy("http://proxy.example.com:3128", exceptions: ["localhost"])
    connections.tls.pinnedPublicKey = "sha256//\(currentKey);sha256//\(nextKey)"
    let transport = CurlTransport(loop: .shared, configuration: connections)

    let reachability = NetlinkReachability()
    reachability.start()
    configuration.reachability = reachability
    let client = Client(
        baseURL: "https://api.example.com/v1", configuration: configuration, transport: transport)
    show(client)
}

@Test func requestsOfAlamofireInVirtualTime() throws {
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
