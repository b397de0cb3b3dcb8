import RxNetworking

func readLines(_ client: Client) async throws {
    for try await line in client.stream(.get("/log")).lines() {
        print(line)
    }

    for try await goods in client.stream(.get("/goods.jsonl")).jsonLines(Goods.self) {
        print(goods.name)
    }
}

func watchEverything(_ client: Client) async throws {
    for try await event in client.stream(.get("/report")) {
        switch event {
        case .interim(let head): print("on the way:", head.status.code)
        case .head(let head): print(head.status)
        case .trailers(let fields): print(fields)
        default: break
        }
    }
}

func readSlowly(_ client: Client, store: (String) async -> Void) async throws {
    let lines = client.stream(.get("/log")).lines()
    for try await line in lines {
        await store(line)
    }
}

func listen(_ client: Client) {
    client.events(.get("/prices")).subscribe(
        onNext: { update in
            switch update {
            case .open: show("live")
            case .message(let event): show(event.data)
            case .comment: break
            case .reconnecting(let delay, let error): show("again in \(delay): \(error?.message ?? "closed")")
            }
        },
        onFailure: { error in show(error.message) })

    client.events(.get("/prices")).messages().subscribe(onNext: { event in show(event.data) })

    let topics = InlineEndpoint(
        .post, "/events", ["topics": ["tea", "milk"]], options: RequestOptions(isIdempotent: true))
    client.events(topics, lastEventID: "17", limit: 8 << 20, waits: ReconnectionWaits(longest: .seconds(10)))
        .messages().subscribe(onNext: { event in show(event.data) })
}
