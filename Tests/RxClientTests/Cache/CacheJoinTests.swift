import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// Equal requests that are under way at the same time.
@Suite struct CacheJoinTests {
    private let clock = VirtualScheduler()

    private func client(
        _ policy: CachePolicy = .http, session: Session? = nil, _ rules: ScriptedTransport.Rule...
    ) -> (Client, ScriptedTransport) {
        let clock = clock
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.cache = ResponseCache { Date.start + clock.now / .seconds(1) }
        configuration.options.cachePolicy = policy
        configuration.session = session
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        let transport = ScriptedTransport(on: clock, rules)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    @Test func theyAreSentOnce() throws {
        let (client, transport) = client(.http, .when(.get, "/x", .json("[1]", after: .seconds(1))))
        let recorders = (0..<5).map { _ in Recorder(client.request(.get("/x")), on: clock) }
        try clock.run()
        #expect(transport.exchanges.count == 1)
        #expect(recorders.flatMap { $0.values.map(\.text) } == Array(repeating: "[1]", count: 5))
        #expect(recorders.map(\.isFinished) == Array(repeating: true, count: 5))
        #expect(recorders.compactMap { $0.values.first?.cacheUse } == Array(repeating: .joined, count: 4))
        #expect(Set(recorders.compactMap { $0.values.first?.request.id }).count == 5)
        #expect(client.configuration.cache.statistics.joined == 4)
    }

    @Test func whatComesIsStoredOnceAndAfterThatTheServerIsAskedAgain() throws {
        let (client, transport) = client(
            .time(.seconds(10)), .when(.get, "/x", .json("[1]", after: .seconds(1))))
        for _ in 0..<3 { client.request(.get("/x")).subscribe() }
        try clock.run()
        #expect(client.configuration.cache.statistics.stored == 1)
        try clock.advance(by: .seconds(10))
        client.request(.get("/x")).subscribe()
        try clock.run()
        #expect(transport.exchanges.count == 2)
    }

    @Test func anErrorIsSharedAndNotKept() throws {
        let (client, transport) = client(
            .http, .when(.get, "/x", .status(.notFound, after: .seconds(1)), .json("[1]")))
        let recorders = (0..<3).map { _ in Recorder(client.request(.get("/x")), on: clock) }
        try clock.run()
        #expect(recorders.map { $0.failure?.status?.code } == [404, 404, 404])
        #expect(Set(recorders.map { $0.failure?.requestID }).count == 3)
        #expect(transport.exchanges.count == 1)
        let later = Recorder(client.request(.get("/x")), on: clock)
        try clock.run()
        #expect(later.values.map(\.text) == ["[1]"])
    }

    @Test func retriesAreSharedToo() throws {
        let (client, transport) = client(
            .http, .when(.get, "/x", .status(.serviceUnavailable, after: .seconds(1)), .json("[1]")))
        let first = Recorder(client.request(.get("/x")), on: clock)
        try clock.advance(by: .milliseconds(1500))
        let second = Recorder(client.request(.get("/x")), on: clock)
        try clock.run()
        #expect(first.values.map(\.text) == ["[1]"] && second.values.map(\.text) == ["[1]"])
        #expect(transport.exchanges.count == 2)
    }

    @Test func theTransferEndsWithTheLastWhoWaits() throws {
        let (client, transport) = client(.http, .when(.get, "/x"))
        let recorders = (0..<3).map { _ in Recorder(client.request(.get("/x")), on: clock) }
        try clock.advance(by: .seconds(1))
        recorders[0].cancel()
        recorders[2].cancel()
        try clock.advance(by: .seconds(1))
        #expect(transport.runningCount == 1)
        recorders[1].cancel()
        try clock.advance(by: .seconds(1))
        #expect(transport.cancelled.count == 1)
        client.request(.get("/x")).subscribe()
        try clock.advance(by: .seconds(1))
        #expect(transport.exchanges.count == 2)
    }

    @Test func whoStayedKeepsTheAnswerForAll() throws {
        let (client, _) = client(.time(.seconds(10)), .when(.get, "/x", .json("[1]", after: .seconds(1))))
        let first = Recorder(client.request(.get("/x")), on: clock)
        let second = Recorder(client.request(.get("/x")), on: clock)
        try clock.advance(by: .milliseconds(500))
        first.cancel()
        try clock.run()
        #expect(second.values.count == 1)
        #expect(client.configuration.cache.statistics.usage.entries == 1)
    }

    @Test func afterTheFirstHasLeftItsListenersHearNoMore() throws {
        let (client, _) = client(.http, .when(.get, "/x", .json("[1]", after: .seconds(1))))
        let traffic = Recorder(client.traffic, on: clock)
        let first = Recorder(client.request(.get("/x")), on: clock)
        client.request(.get("/x")).subscribe()
        try clock.advance(by: .milliseconds(500))
        first.cancel()
        try clock.run()
        let id = try #require(traffic.values.first?.request.id)
        let words = traffic.values.filter { $0.request.id == id }.map { "\($0)".split(separator: " ")[1] }
        #expect(words == ["started:", "sent:", "abandoned:", "ended:"])
    }

    @Test func othersAreSentByThemselves() throws {
        let (client, transport) = client(
            .http, .when(nil, "*", .json("[1]", after: .seconds(1))))
        var english = InlineEndpoint(.get, "/x", headers: ["Accept-Language": "en"])
        client.request(english).subscribe()
        client.request(.get("/x")).subscribe()
        client.request(.get("/y")).subscribe()
        client.request(.get("/x", query: ["a": 1])).subscribe()
        client.request(.post("/x")).subscribe()
        english.options.cacheMode = .reload
        client.request(english).subscribe()
        english.options.cachePolicy = .never
        client.request(english).subscribe()
        client.progress(of: .get("/x")).subscribe()
        try clock.run()
        #expect(transport.exchanges.count == 8)
    }

    @Test func withoutPolicyEachIsSent() throws {
        let (client, transport) = client(.never, .when(.get, "/x", .json("[1]", after: .seconds(1))))
        for _ in 0..<3 { client.request(.get("/x")).subscribe() }
        try clock.run()
        #expect(transport.exchanges.count == 3)
    }

    /// The login sends the same request as one that waits for the login: it must not join that one.
    @Test func theLoginJoinsNobody() throws {
        let made = MutableProperty<Client?>(nil)
        let session = Session(clock: clock) {
            guard let client = made.value else { return .fail(NetworkError(.connect, "no client")) }
            return client.request(.get("/x")).map { Credential(token: $0.text) }
        }
        let (client, transport) = client(
            .http, session: session,
            .when(.get, "/x", .status(.unauthorized), .json("token"), .json("answer")))
        made.value = client
        let recorder = Recorder(client.request(.get("/x")), on: clock)
        try clock.run()
        #expect(recorder.values.map(\.text) == ["answer"])
        #expect(transport.exchanges.count == 3)
        made.value = nil
    }

    // MARK: - Limits of each request

    private func get(within total: Duration) -> InlineEndpoint {
        .get("/x", options: RequestOptions(timeouts: Timeouts(total: total)))
    }

    @Test func eachHasItsOwnTotalTimeLimit() throws {
        let (client, transport) = client(.http, .when(.get, "/x", .json("[1]", after: .seconds(5))))
        let recorders = [2, 10, 3].map { Recorder(client.request(get(within: .seconds($0))), on: clock) }
        try clock.run()
        #expect(transport.exchanges.count == 1)
        #expect(recorders.map { $0.failure?.code } == [.totalTimeout, nil, .totalTimeout])
        #expect(recorders.map { $0.events.first?.time } == [.seconds(2), .seconds(5), .seconds(3)])
        #expect(recorders[1].values.map(\.text) == ["[1]"])
    }

    /// A request that joined retries for as long as its own time limit allows.
    @Test func retriesWithinTheOwnTimeLimit() throws {
        let (client, transport) = client(
            .http,
            .when(.get, "/x", .status(.serviceUnavailable, after: .milliseconds(2500)), .json("[1]")))
        let first = Recorder(client.request(get(within: .seconds(3))), on: clock)
        try clock.advance(by: .seconds(2))
        let second = Recorder(client.request(get(within: .seconds(3))), on: clock)
        try clock.run()
        #expect(first.failure?.status == .serviceUnavailable)
        #expect(second.values.map(\.text) == ["[1]"])
        #expect(transport.exchanges.count == 2)
        #expect(clock.now == .milliseconds(3500))
    }

    /// The limit of a request that has left does not count for those that stay.
    @Test func retriesAfterTheFirstHasLeft() throws {
        let (client, transport) = client(
            .http, .when(.get, "/x", .status(.serviceUnavailable, after: .seconds(2)), .json("[1]")))
        let first = Recorder(client.request(get(within: .seconds(1))), on: clock)
        let others = [10, 20].map { Recorder(client.request(get(within: .seconds($0))), on: clock) }
        try clock.run()
        #expect(first.failure?.code == .totalTimeout)
        #expect(others.map { $0.values.map(\.text) } == [["[1]"], ["[1]"]])
        // Both wait equally long, and join again.
        #expect(transport.exchanges.count == 2)
    }

    /// A request that joined late has all its retries, and one that joined early has none left.
    @Test func retriesSinceTheJoining() throws {
        let refusal = ScriptedTransport.Reply.status(.serviceUnavailable, after: .seconds(1))
        let (client, transport) = client(
            .http, .when(.get, "/x", refusal, refusal, refusal, refusal, .json("[1]", after: .seconds(1))))
        let first = Recorder(client.request(.get("/x")), on: clock)
        let early = Recorder(client.request(.get("/x")), on: clock)
        try clock.advance(by: .milliseconds(4500))
        let late = Recorder(client.request(.get("/x")), on: clock)
        try clock.run()
        #expect(first.failure?.status == .serviceUnavailable)
        #expect(early.failure?.status == .serviceUnavailable)
        #expect(late.values.map(\.text) == ["[1]"])
        #expect(transport.exchanges.count == 5)
    }

    /// Its retries end like those of any request: after as many as its policy has, and within the budget.
    @Test func retriesHaveAnEnd() throws {
        let refusal = ScriptedTransport.Reply.status(.serviceUnavailable, after: .seconds(1))
        for (floor, count) in [(10.0, 5), (0, 1)] {
            let clock = VirtualScheduler()
            var configuration = ClientConfiguration(baseURL: "http://shop.test")
            configuration.options.cachePolicy = .http
            configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
            configuration.retryBudget = RetryBudget(ratio: 0, floor: floor)
            let transport = ScriptedTransport(on: clock, [.when(.get, "/x", refusal)])
            let client = Client(configuration: configuration, transport: transport)
            let first = Recorder(client.request(.get("/x")), on: clock)
            try clock.advance(by: .milliseconds(floor > 0 ? 4500 : 500))
            let late = Recorder(client.request(.get("/x")), on: clock)
            try clock.run()
            #expect(first.failure?.status == .serviceUnavailable)
            #expect(late.failure?.status == .serviceUnavailable)
            #expect(transport.exchanges.count == count)
        }
    }

    @Test func nothingIsLeftOfARequestThatHasEnded() throws {
        final class Token: Sendable {}
        struct Held: Endpoint {
            typealias Output = Response
            let path = "/x"
            let method = HTTPRequest.Method.get
            let token: Token
        }
        let (client, transport) = client(.http, .when(.get, "/x", .json("[1]"), .json("[2]")))
        weak var token: Token?
        do {
            let made = Token()
            token = made
            client.request(Held(token: made)).subscribe()
            try clock.run()
        }
        #expect(transport.exchanges.count == 1)
        #expect(token == nil)
    }

    @Test func underEightThreads() async throws {
        let (requests, history) = (InFlightRequests(), CacheHistory())
        let request = Request(url: URL(string: "http://shop.test/x")!)
        let id = InFlightRequests.ID(
            key: CacheKey(rules: .http, url: "/x"), account: nil, request: request.shape, mode: .standard,
            lifetime: nil, tags: [], stages: .byHand)
        let source = Observable<Response, NetworkError>.async {
            await Task.yield()
            return Response(head: ResponseHead(status: .ok), body: [1], request: request)
        }
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var answers = 0
                    for _ in 0..<200 {
                        let (_, shared, _) = requests.join(id, since: history.now, in: history, or: source)
                        let response = try await shared.value()
                        answers += response.body.count
                    }
                    return answers
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 1600)
    }
}
