import RxNetworking

// The samples of the comments on streams, events and WebSockets.

private enum Resumed {
    struct Goods: Decodable, Sendable {
        let id: Int
    }

    @Statements static func stream(_ client: Client) -> [Any] {
        client.stream(
            .get("/goods.jsonl"),
            resumption: .next(keeping: 1) { received in
                .get("/goods.jsonl", query: ["after": received.items.last?.id])
            }, reading: { $0.jsonLines(Goods.self) })
    }
}

private struct Delta: Decodable, Sendable {
    let text: String
}

private struct Usage: Decodable, Sendable {
    let count: Int
}

private struct Answer: Endpoint {
    typealias Output = Response
    let path = "/answer"
    let method = HTTPRequest.Method.post
    let parameters: Parameters

    init(to prompt: String, continuing prefix: String = "") {
        parameters = ["prompt": prompt, "prefix": prefix]
    }
}

@Statements func streams(_ client: Client, prompt: String) -> [Any] {
    let answer = Answer(to: prompt)
    client.events(answer, until: { $0.data == "[DONE]" })

    client.events(.get("/prices")).messages()
        .subscribe(onNext: { event in show(event.data) })

    client.events(
        .post("/chat", ["prompt": "tea?"]), until: { $0.data == "[DONE]" },
        resumption: .next { received in
            .post("/chat", ["prompt": "tea?", "prefix": received.items.map(\.data).joined()])
        })

    client.events(answer).messages(of: Delta.self, named: "delta")

    client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])

    client.events(
        Answer(to: prompt), until: { $0.data == "[DONE]" },
        resumption: .next { received in
            Answer(to: prompt, continuing: received.items.map(\.data).joined())
        })
}

private enum Piece { case delta(Delta), usage(Usage) }

func namedEvents(_ client: Client) -> Any {
    let answer = Answer(to: "tea?")
    enum Piece { case delta(Delta), usage(Usage) }

    let all = client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])
    return all
}

func webSockets(_ client: Client) async throws {
    for try await text in client.webSocket("/live").texts() { print(text) }

    let sink = WebSocketSink()
    for try await line in client.webSocket("/chat", sending: sink).texts() {
        try await sink.send("You said: \(line)").value()
    }

    for try await price in client.webSocket("/prices").messages(of: Price.self) { show(price) }
}

@Statements func bodies(_ client: Client, _ digest: Digest, _ batch: Parameters, _ files: any FileSystem)
    -> [Any]
{
    client.stream(.get("/log")).lines().subscribe(onNext: { line in print(line) })

    client.stream(.post("/chat", .json(["prompt": "tea?"]))).serverSentEvents()
        .subscribe(onNext: { event in print(event.data) })

    client.stream(.get("/export")).chunks()
        .subscribe(onNext: { bytes in digest.update(bytes) })

    client.stream(.post("/report", .json(["year": 2026]))).file(at: "/tmp/report.pdf", in: files)
        .subscribe(onFinish: { print("saved") })

    client.stream(.post("/batch", batch)).parts()
        .subscribe(onNext: { part in print(part.headerFields[.contentType] ?? "", part.body.count) })
}

final class Digest: Sendable {
    func update(_: [UInt8]) {}
}
