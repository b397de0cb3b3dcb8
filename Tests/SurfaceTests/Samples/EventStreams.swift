import RxNetworking

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
    client.events(
        topics, lastEventID: "17", limit: 8 << 20, backoff: .exponential(base: .seconds(3), cap: .seconds(10))
    )
    .messages().subscribe(onNext: { event in show(event.data) })
}

private struct Delta: Decodable { let text: String }
private struct Usage: Decodable { let tokens: Int }

func listenForValues(_ client: Client) async throws {
    for try await price in client.events(.get("/prices")).messages(of: Price.self, named: "price") {
        print(price.euro)
    }

    enum Piece { case delta(Delta), usage(Usage) }

    let pieces = client.events(.get("/answers/7")).messages(by: [
        "delta": .json(Piece.delta), "usage": .json(Piece.usage),
    ])
    for try await piece in pieces {
        switch piece {
        case .delta(let delta): print(delta.text)
        case .usage(let usage): print(usage.tokens)
        }
    }
}

func ask(_ client: Client) async throws {
    struct Answer: Endpoint {
        typealias Output = Void
        let prompt: String
        var beginning = ""
        let path = "/answers"
        let method = HTTPRequest.Method.post
        var parameters: Parameters { .json(["prompt": prompt, "beginning": beginning]) }
        var options: RequestOptions { RequestOptions(timeouts: Timeouts(idle: .seconds(30))) }
    }

    let answer = client.events(
        Answer(prompt: "Which tea?"), until: { $0.data == "[DONE]" },
        resumption: .next { received in
            guard received.failures < 5 else { return nil }
            return Answer(prompt: "Which tea?", beginning: received.items.map(\.data).joined())
        })
    for try await event in answer.messages() { print(event.data, terminator: "") }
}
