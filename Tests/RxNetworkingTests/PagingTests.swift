import RxNetworking
import Synchronization
import TestServers
import Testing

/// Pages over real sockets.
@Suite(.timeLimit(.minutes(1))) struct PagingTests {
    private struct Numbers: Endpoint {
        typealias Output = [Int]
        let path = "/numbers"
        let method = HTTPRequest.Method.get
    }

    /// Numbers up to 25, by `offset`, `page` or `cursor`, ten at a time.
    private func server() throws -> RawServer {
        try RawServer { request in
            let query = request.target.split(separator: "?").last.map { String($0) } ?? ""
            let pairs = query.split(separator: "&").map { $0.split(separator: "=").map { String($0) } }
            func value(_ name: String) -> Int? { pairs.first { $0.first == name }?.last.flatMap { Int($0) } }
            let start = value("offset") ?? value("page").map { 10 * ($0 - 1) } ?? value("cursor") ?? 0
            let numbers = (1...25).dropFirst(start).prefix(10).map { "\($0)" }.joined(separator: ",")
            let next = "\(start + 10)"
            if request.target.hasPrefix("/nested") {
                return [.respond(200, body: #"{"data":{"items":[\#(numbers)],"totalRow":25}}"#)]
            }
            if start + 10 < 25 {
                return [
                    .respond(
                        200, ["X-Next": next, "Link": "</numbers?cursor=\(next)>; rel=\"next\""],
                        body: "[\(numbers)]")
                ]
            }
            return [.respond(200, body: "[\(numbers)]")]
        }
    }

    /// Each rule finds all items, in order, with and without prefetching.
    @Test(arguments: [0, 2])
    func rules(ahead: Int) async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let field = try #require(HTTPField.Name("X-Next"))
        for rule in [.numbered(size: 10), .offset(size: 10), .cursor(inHeader: field), PagingRule.link] {
            let all = client.items(Numbers(), rule, options: PagingOptions(ahead: ahead))
            #expect(try await all.collect().value() == Array(1...25))
        }
    }

    /// A loop that is cancelled halfway fails instead of ending like a complete one.
    @Test func cancelled() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let stored = MutableProperty(0)
        let task = Task {
            for try await number in client.items(Numbers(), .offset(size: 10)) {
                stored.value = number
                while number == 12, !Task.isCancelled { await Task.yield() }
            }
        }
        _ = try await stored.observable.filter { $0 == 12 }.value()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    /// Driven by visible items, and back from a saved position.
    @Test func driven() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let commands = Signal<PagingCommand>()
        let pages = client.pages(Numbers(), .offset(size: 10), on: commands.observable).share(replay: 1)
        let subscription = pages.subscribe()
        let first = try await pages.filter { $0.phase == .idle }.value()
        #expect(first.items == Array(1...10))
        commands.send(.visible(8))
        let second = try await pages.filter { $0.phase == .idle && $0.items.count > 10 }.value()
        #expect(second.position == .offset(20))
        subscription.cancel()

        let rest = client.pages(
            Numbers(), .offset(size: 10), options: PagingOptions(start: second.position),
            on: .just(.visible(4)))
        let end = try await rest.filter { $0.phase == .end }.value()
        #expect(end.items == Array(21...25))
        #expect(end.hasPrevious == true)
    }

    private struct Nested: Endpoint {
        struct Output: Decodable, Sendable {
            struct Content: Decodable, Sendable {
                let items: [Int]
                let totalRow: Int
            }
            let data: Content
        }
        let path = "/nested"
        let method = HTTPRequest.Method.get
    }

    /// The endpoint selects the list and the total.
    @Test func content() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let all = client.items(Nested(), .numbered(size: 10)) { Page($0.data.items, total: $0.data.totalRow) }
        #expect(try await all.collect().value() == Array(1...25))
        #expect(server.record.requests.count == 3)
    }

    /// A failed page keeps the list and is retried; a reload starts over.
    @Test func failure() async throws {
        let failures = Mutex(1)
        let server = try RawServer { request in
            let page = request.target.split(separator: "?").last?.split(separator: "&").first ?? ""
            let fails =
                page == "page=2"
                && failures.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
            return [fails ? .respond(500) : .respond(body: page == "page=2" ? "[3]" : "[1,2]")]
        }
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        let next = Signal<Void>(), reload = Signal<Void>()
        let states = client.pages(Numbers(), .numbered(size: 2), next: next, reload: reload)
            .filter { !$0.phase.isLoading }.values(buffering: .unbounded).makeAsyncIterator()
        #expect(await states.next()?.items == [1, 2])
        next.send()
        let failed = await states.next()
        #expect(failed?.phase.error?.status == .internalServerError)
        #expect(failed?.items == [1, 2])
        next.send()
        let end = await states.next()
        #expect(end?.phase == .end)
        #expect(end?.items == [1, 2, 3])
        reload.send()
        #expect(await states.next()?.items == [1, 2])
    }
}
