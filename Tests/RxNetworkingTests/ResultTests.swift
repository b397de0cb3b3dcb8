import FoundationEssentials
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Results of responses, and the ways to receive them.
@Suite(.timeLimit(.minutes(1))) struct ResultTests {
    private struct Goods: Codable, Equatable, Sendable {
        var id = 7
        var name = "tea"
    }

    private struct Get<Content: Decodable & Sendable>: Endpoint {
        typealias Output = Content
        var path = "/goods"
        let method = HTTPRequest.Method.get
    }

    private struct Touch: Endpoint {
        typealias Output = Void
        var path = "/goods"
        let method = HTTPRequest.Method.post
    }

    private static let goods = #"{"id":7,"name":"tea"}"#

    private func server() throws -> RawServer {
        try RawServer { request in
            switch request.target {
            case "/list": [.respond(body: "[\(Self.goods),\(Self.goods)]")]
            case "/number": [.respond(body: "12")]
            case "/empty": [.respond(204)]
            case "/stall": [.stall]
            case "/missing": [.respond(404, body: "no such thing")]
            default: [.respond(body: Self.goods)]
            }
        }
    }

    /// An object, a list or a number at the top level, no content, bytes, text.
    @Test func types() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        #expect(try await client.request(Get<Goods>()).value() == Goods())
        #expect(try await client.request(Get<[Goods]>(path: "/list")).value() == [Goods(), Goods()])
        #expect(try await client.request(Get<Int>(path: "/number")).value() == 12)
        try await client.request(Touch()).value()
        try await client.request(Touch(path: "/empty")).value()
        #expect(try await client.get("/goods").value().body == Array(Self.goods.utf8))
        #expect(try await client.get("/goods").value().text == Self.goods)
        #expect(try await client.get("/goods").decode(Goods.self).value() == Goods())
        let answer = try await client.typedResponse(Get<Goods>()).value()
        #expect(answer.output == Goods())
        #expect(answer.response.text == Self.goods)
    }

    /// The same request by callbacks, with await and in a loop; each sends its own request.
    @Test func ways() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let request = client.request(Get<Goods>())
        #expect(server.record.requests.isEmpty)

        let events = Mutex<[String]>([])
        await withCheckedContinuation { continuation in
            request.subscribe(
                onNext: { goods in events.withLock { $0.append(goods.name) } },
                onFailure: { error in events.withLock { $0.append("\(error)") } },
                onFinish: {
                    events.withLock { $0.append("end") }
                    continuation.resume()
                })
        }
        #expect(events.withLock { $0 } == ["tea", "end"])

        #expect(try await request.value() == Goods())

        var looped: [Goods] = []
        for try await goods in request.values(buffering: .unbounded) { looped.append(goods) }
        #expect(looped == [Goods()])
        #expect(server.record.requests.count == 3)
    }

    /// Results arrive where the subscriber asks for them: on the main actor, on a separate loop.
    @Test func places() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let request = client.request(Get<Goods>())
        await withCheckedContinuation { continuation in
            request.subscribe(isolatedTo: MainActor.self) { _ in
                // Traps on any other thread.
                MainActor.preconditionIsolated()
                continuation.resume()
            }
        }
        let loop = EventLoop(name: "results")
        let isOnLoop = await withCheckedContinuation { continuation in
            request.observe(on: loop).subscribe(onNext: { _ in
                continuation.resume(returning: loop.ownsCurrentThread)
            })
        }
        loop.shutDown()
        #expect(isOnLoop)
    }

    /// Accessories are called once each, in order, on success, failure and cancel.
    @Test func accessories() async throws {
        let server = try server()
        let journal = Board<[String]>([])
        let note: @Sendable (String, RequestOutcome?) -> Void = { event, outcome in
            let text =
                switch outcome {
                case nil: event
                case .succeeded: "\(event) succeeded"
                case .failed(let error): "\(event) \(error.code.rawValue)"
                case .cancelled: "\(event) cancelled"
                }
            journal.update { $0.append(text) }
        }
        var configuration = ClientConfiguration()
        configuration.options.accessories = [
            Accessory(
                willStart: { note("will start \($0.url.path)", nil) }, willStop: { note("will stop", $1) },
                didStop: { note("did stop", $1) })
        ]
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        for (path, outcome) in [("/goods", "succeeded"), ("/missing", "status"), ("/stall", "cancelled")] {
            let subscription = client.get(path).subscribe()
            if path == "/stall" {
                _ = try await server.until { $0.requests.last?.target == "/stall" ? true : nil }
                #expect(client.activity.count.value == 1)
                subscription.cancel()
            }
            _ = try await journal.until { $0.last?.hasPrefix("did stop") == true ? true : nil }
            let lines = journal.update { lines in
                defer { lines = [] }
                return lines
            }
            #expect(lines == ["will start \(path)", "will stop \(outcome)", "did stop \(outcome)"])
        }
        while client.activity.count.value > 0 { await Task.yield() }
    }

    /// Loading again cancels the previous load, whose response is never delivered.
    @Test func again() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let paths = Signal<String>()
        let texts = paths.observable.flatMap(.latest) { client.get($0).map(\.text).asResult() }
            .values(buffering: .unbounded).makeAsyncIterator()
        paths.send("/stall")
        _ = try await server.until { $0.requests.isEmpty ? nil : true }
        paths.send("/goods")
        #expect(try await texts.next()?.get() == Self.goods)
        #expect(try await server.connectionEnded(0) == .clientClosed)
    }

    /// Progress in both directions, up to the whole size, and then the result.
    @Test func progress() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let content = [UInt8](repeating: 1, count: 300_000)
        var sent: TransferProgress?
        var received: TransferProgress?
        var answers: [String] = []
        for try await event in client.progress(of: .put("/goods", .body(.bytes(content)))).values(
            buffering: .unbounded)
        {
            switch event {
            case .uploaded(let progress): sent = progress
            case .downloaded(let progress): received = progress
            case .finished(let answer): answers.append(answer.output.text)
            }
        }
        #expect(sent == TransferProgress(bytes: 300_000, expected: 300_000))
        #expect(received?.bytes == Int64(Self.goods.utf8.count))
        #expect(received?.fraction == 1)
        #expect(answers == [Self.goods])
        #expect(server.record.requests.first?.body == content)
    }

    /// Counts the requests that pass through it.
    private final class CountingTransport: Transport {
        let count = Atomic(0)
        private let inner: CurlTransport

        init(_ inner: CurlTransport) { self.inner = inner }

        var scheduler: any Scheduler { inner.scheduler }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            inner.send(request).handleEvents(onSubscribe: { self.count.add(1, ordering: .relaxed) })
        }
    }

    /// Another transport is another value; the layers above stay the same.
    @Test func anotherTransport() async throws {
        let server = try server()
        let transport = CountingTransport(.shared)
        let client = Client(
            configuration: ClientConfiguration(baseURL: server.baseURL), transport: transport)
        #expect(try await client.request(Get<Goods>()).value() == Goods())
        #expect(transport.count.load(ordering: .relaxed) == 1)
    }

    /// The methods of a service are requests of the client that it extends.
    @Test func services() async throws {
        let server = try server()
        var configuration = ClientConfiguration()
        configuration.options.headers = ["X-App": "shop"]
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        #expect(try await client.shelf.goods().value().text == Self.goods)
        #expect(server.record.requests.first?.field("X-App") == "shop")
    }
}

/// A service of an API.
private struct Shelf: Sendable {
    let client: Client

    func goods() -> Observable<Response, NetworkError> { client.get("/goods") }
}

extension Client {
    fileprivate var shelf: Shelf { Shelf(client: self) }
}
