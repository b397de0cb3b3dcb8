import RxNetworking

func together(client: Client, keywords: [String]) async throws {
    let (goods, cart) = try await Observable.zip(
        client.request(GoodsList(keyword: "tea")), client.get("/cart").decode(Cart.self)
    )
    .value()
    show((goods, cart))

    let requests = keywords.map { client.request(GoodsList(keyword: $0)).asResult() }
    let outcomes = try await Observable.zip(requests).value()
    for (keyword, outcome) in zip(keywords, outcomes) {
        switch outcome {
        case .success(let goods): print(keyword, goods.count)
        case .failure(let error): print(keyword, error)
        }
    }
}

func oneAwaitAfterTheOther(client: Client) async throws {
    let login = try await client.post("/login", ["user": user, "password": password])
        .decode(Login.self).value()
    let cart = try await client.get("/cart", headers: ["X-Token": login.token]).decode(Cart.self).value()
    show(cart)
}

func oneAfterTheOther(client: Client) async throws {
    let cart = try await client.post("/login", ["user": user, "password": password]).decode(Login.self)
        .flatMap { login in client.get("/cart", headers: ["X-Token": login.token]).decode(Cart.self) }
        .value()
    show(cart)
}

func again(client: Client) {
    let search = Signal<String>()
    search
        .flatMap(.latest) { keyword in client.request(GoodsList(keyword: keyword)).asResult() }
        .subscribe(onNext: { result in show(result) })
    search.send("t")
    search.send("tea")
}

func queueUploads(client: Client, notes: [String]) {
    let uploads = RequestQueue(limit: 2)
    uploads.activity.isActive.subscribe { isOn in show(isOn) }
    for note in notes {
        client.post("/notes", .text(note)).queued(in: uploads).subscribe(onFailure: { error in show(error) })
    }

    uploads.allComplete.subscribe { show("all there") }
}

func cancelRequests(client: Client, id: RequestID) {
    client.get("/goods", options: RequestOptions(tags: ["search"])).subscribe(onNext: { response in
        show(response)
    })

    client.cancel(.tag("search"))
    client.cancel(.url("/goods"))
    client.cancel(.id(id))
    client.cancel(.all)
}

func learnTheID(client: Client) {
    let search = GoodsList(keyword: "tea").with { options in
        options.willStart = { request in show(request.id) }
    }
    client.request(search).subscribe(onNext: { goods in show(goods) })
}

func trackAScreen(client: Client, next: Signal<Void>, reload: Signal<Void>) {
    let screen = Activity()
    screen.isActive.subscribe { isOn in show(isOn) }
    screen.message.subscribe { text in show(text) }

    client.request(GoodsList(keyword: "tea")).tracked(by: screen, loading: "Loading…")
        .subscribe(onNext: { goods in show(goods) })
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: next, reload: reload)
        .tracked(by: screen, while: { list in list.phase == .loadingFirst })
        .subscribe { list in show(list.items) }
}

func accompany(client: Client) {
    client.activity.isActive.subscribe { isOn in show(isOn) }
    client.errorTips.subscribe { error in show(error.message) }

    var configuration = ClientConfiguration()
    configuration.options.accessories = [
        Accessory(
            willStart: { request in print(request.id, "begins") },
            willStop: { request, outcome in print(request.id, outcome) },
            didStop: { request, _ in print(request.id, "is over") })
    ]
    show(configuration)
}

struct Heartbeat: Endpoint {
    typealias Output = Void
    let path = "/heartbeat"
    let method = HTTPRequest.Method.post
    let options = RequestOptions(presentation: .hidden)
}
