import RxNetworking
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

    @Test("Each rule finds everything, in order, ahead or not", arguments: [0, 2])
    func rules(ahead: Int) async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let field = try #require(HTTPField.Name("X-Next"))
        for rule in [.numbered(size: 10), .offset(size: 10), .cursor(inHeader: field), PagingRule.link] {
            let all = client.items(Numbers(), rule, options: PagingOptions(ahead: ahead))
            #expect(try await all.collect().first() == Array(1...25))
        }
    }

    @Test("Driven by what is visible, and back from a saved position")
    func driven() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let commands = Signal<PagingCommand>()
        let pages = client.pages(Numbers(), .offset(size: 10), on: commands.observable).share(replay: 1)
        let subscription = pages.subscribe()
        let first = await pages.filter { $0.phase == .idle }.first()
        #expect(first?.items == Array(1...10))
        commands.send(.visible(8))
        let second = await pages.filter { $0.phase == .idle && $0.items.count > 10 }.first()
        #expect(second?.position == .offset(20))
        subscription.cancel()

        let rest = client.pages(
            Numbers(), .offset(size: 10), options: PagingOptions(start: second?.position),
            on: .just(.previous).delay(.milliseconds(1)))
        let end = await rest.filter { $0.phase == .end }.first()
        #expect(end?.items == Array(21...25))
        #expect(end?.hasPrevious == true)
    }
}
