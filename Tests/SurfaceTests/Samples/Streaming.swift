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

func continueStreams(_ client: Client) async throws {
    let stream = client.stream(
        .get("/goods.jsonl"),
        resumption: .next(keeping: 1) { received in
            .get("/goods.jsonl", query: ["after": received.items.last?.name])
        },
        reading: { $0.jsonLines(Goods.self) })
    for try await item in stream { print(item.name) }

    let log = client.stream(
        .get("/log"), until: { line in line == "end of log" },
        resumption: .next(keeping: 0) { received in
            received.failures < 5 ? .get("/log", query: ["skip": received.count]) : nil
        },
        reading: { $0.lines() })
    for try await line in log { print(line) }

    for try await part in client.stream(.get("/camera")).parts() {
        print(part.headerFields[.contentType] ?? "text/plain", part.body.count)
    }
}
