import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import RxWebSocket
import Synchronization
import Testing

@testable import RxClient

/// The events for listeners, and their order.
@Suite struct TrafficTests {
    /// The events of `client.traffic` as one word each.
    private static func word(_ event: TrafficEvent) -> String {
        switch event.kind {
        case .started: "started"
        case .sent: "sent \(event.exchange).\(event.request.attempt)"
        case .transfer(.head(let head)): "\(head.status.code)"
        case .transfer(.chunk(let bytes)): "\(bytes.count)B"
        case .transfer(.finished): "finished"
        case .transfer(.redirected(let next, by: _)): "redirected \(next.url.path)"
        case .transfer: "transfer"
        case .broken(let error): "broken \(error.code.rawValue)"
        case .abandoned: "abandoned"
        case .relogin(let error): "relogin \(error.status?.code ?? 0)"
        case .retry(let delay, let error): "retry \(delay / .milliseconds(1)) \(error.code.rawValue)"
        case .cached(let use, _): "cached \(use.rawValue)"
        case .retryRefused: "retry refused"
        case .queued: "queued"
        case .admitted(let wait): "admitted \(wait)"
        case .hedged(let delay): "hedged \(delay)"
        case .failover(let role, _): "failover \(role)"
        case .webSocket(let message, let isSent): "\(isSent ? "sent" : "received") \(message.count)B"
        case .ended(let summary): "ended " + word(summary)
        }
    }

    private static func word(_ summary: TrafficEvent.Summary) -> String {
        let outcome =
            switch summary.outcome {
            case .succeeded: "succeeded"
            case .failed(let error): "failed \(error.code.rawValue)"
            case .cancelled: "cancelled"
            }
        let status = summary.status.map { " \($0.code)" } ?? ""
        return outcome + status
            + " \(summary.bytesReceived)B \(summary.attempts)x \(Int(summary.duration / .milliseconds(1)))ms"
    }

    private let clock = VirtualScheduler()

    private func client(
        session: Session? = nil, _ rules: [ScriptedTransport.Rule]
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.session = session
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50)))
        return Client(
            configuration: configuration, transport: ScriptedTransport(on: clock, rules))
    }

    private func traffic(of client: Client) -> Recorder<TrafficEvent, Never> {
        Recorder(client.traffic, on: clock)
    }

    @Test func aRequestThatSucceeds() throws {
        let client = client([.when(.get, "/x", .json("[1]", after: .milliseconds(5)))])
        let traffic = traffic(of: client)
        let answer = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "200", "3B", "finished", "ended succeeded 200 3B 1x 5ms",
            ])
        #expect(Set(traffic.values.map(\.request.id)) == [try #require(answer.values.first).request.id])
        #expect(traffic.values.map(\.time).last == .milliseconds(5))
    }

    @Test func theFirstValueIsTheWholeResult() throws {
        let client = client([.when(.get, "/x", .json("[1]"))])
        let traffic = traffic(of: client)
        _ = Recorder(client.get("/x").take(1), on: clock)
        try clock.run()
        #expect(traffic.values.map(Self.word).suffix(2) == ["finished", "ended succeeded 200 3B 1x 0ms"])
    }

    @Test func retriesWithTheirReasonAndWait() throws {
        let client = client([
            .when(
                .get, "/x", .failure(.connectionLost, after: .milliseconds(1)), .status(.serviceUnavailable),
                .json("[]"))
        ])
        let traffic = traffic(of: client)
        _ = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "broken connectionLost", "retry 50.0 connectionLost", "sent 2.2",
                "503",
                "finished", "retry 50.0 status", "sent 3.3", "200", "2B", "finished",
                "ended succeeded 200 2B 3x 101ms",
            ])
    }

    @Test func aRetryThatIsNotMadeIsNotTold() throws {
        let client = client([.when(nil, "/x", .failure(.connectionLost))])
        let traffic = traffic(of: client)
        _ = Recorder(client.request(.get("/x")), on: clock)
        _ = Recorder(client.request(.post("/x")), on: clock)
        try clock.run()
        let words = traffic.values.map(Self.word)
        #expect(words.count { $0.hasPrefix("retry") } == 2)
        #expect(words.count { $0.hasPrefix("ended failed connectionLost") } == 2)
    }

    @Test func eachHopIsAnExchange() throws {
        let client = client([
            .when(.get, "/1", .status(.found, headers: [.location: "/2"])),
            .when(.get, "/2", .bytes([1, 2], status: .found, headers: [.location: "/3"])),
            .when(.get, "/3", .json("[]")),
        ])
        let traffic = traffic(of: client)
        _ = Recorder(client.get("/1"), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "302", "finished", "redirected /2", "sent 2.1", "302", "2B",
                "finished",
                "redirected /3", "sent 3.1", "200", "2B", "finished", "ended succeeded 200 4B 1x 0ms",
            ])
        #expect(
            traffic.values.filter { if case .sent = $0.kind { true } else { false } }.map(\.request.url.path)
                == [
                    "/1", "/2", "/3",
                ])
    }

    @Test func reloginsAndTheirReason() throws {
        let client = client(
            session: Session(credential: Credential(token: "old"), clock: clock) {
                .just(Credential(token: "new")).delay(.milliseconds(10), on: clock)
            }, [.when(.get, "/x", .status(.unauthorized), .json("[]"))])
        let traffic = traffic(of: client)
        _ = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "401", "finished", "relogin 401", "sent 2.2", "200", "2B", "finished",
                "ended succeeded 200 2B 2x 10ms",
            ])
        // The secrets as sent, for listeners that may see them.
        let tokens = traffic.values.compactMap { event in
            if case .sent = event.kind { event.request.headerFields[.authorization] } else { nil }
        }
        #expect(tokens == ["Bearer old", "Bearer new"])
    }

    @Test func cancellingEndsTheExchangeAndTheRequest() throws {
        let client = client([.when(.get, "/x", .stall)])
        let traffic = traffic(of: client)
        let answer = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .milliseconds(7))
        answer.cancel()
        try clock.run()
        let words = traffic.values.map(Self.word)
        #expect(words.prefix(2) == ["started", "sent 1.1"])
        #expect(Set(words.dropFirst(2)) == ["abandoned", "ended cancelled 0B 1x 7ms"])
    }

    @Test func runningOutOfTimeEndsBoth() throws {
        let client = client([.when(.get, "/x", .stall)])
        let traffic = traffic(of: client)
        struct Slow: Endpoint {
            typealias Output = Response
            let path = "/x"
            let method = HTTPRequest.Method.get
            let options = RequestOptions(timeouts: Timeouts(total: .seconds(1)))
        }
        _ = Recorder(client.request(Slow()), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "abandoned", "ended failed totalTimeout 0B 1x 1000ms",
            ])
    }

    @Test func theBareExchangeIsARequestOfItsOwn() throws {
        let client = client([.when(.get, "/x", .status(.internalServerError))])
        let traffic = traffic(of: client)
        _ = Recorder(client.response(.get("/x")).retry(1), on: clock)
        try clock.run()
        let one = ["started", "sent 1.1", "500", "finished", "ended failed status 500 0B 1x 0ms"]
        #expect(traffic.values.map(Self.word) == one + one)
        #expect(Set(traffic.values.map(\.request.id)).count == 2)
    }

    @Test func aStreamIsARequestToo() throws {
        let client = client([
            .when(
                .get, "/x", .status(.serviceUnavailable), .bytes([1, 2, 3], after: .milliseconds(5)), .stall)
        ])
        let traffic = traffic(of: client)
        _ = Recorder(client.stream(.get("/x")), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "503", "finished", "retry 50.0 status", "sent 2.2", "200", "3B",
                "finished",
                "ended succeeded 200 3B 2x 55ms",
            ])
        let left = Recorder(client.stream(.get("/x")), on: clock)
        left.cancel()
        #expect(traffic.values.map(Self.word).last == "ended cancelled 0B 1x 0ms")
    }

    @Test func aRequestMadeByHandToo() throws {
        let client = client([.when(.put, "/x", .status(.notFound))])
        let traffic = traffic(of: client)
        let request = Request(method: .put, url: try #require(URL(string: "https://a.test/x")))
        _ = Recorder(client.exchange(request), on: clock)
        try clock.run()
        #expect(
            traffic.values.map(Self.word) == [
                "started", "sent 1.1", "404", "finished", "ended succeeded 404 0B 1x 0ms",
            ])
    }

    /// Every request ends exactly once, with any outcome.
    @Test(arguments: 0..<10)
    func endsOnce(seed: UInt64) throws {
        let client = client([
            .when(
                .get, "*", .failure(.connectionLost, after: .milliseconds(3)),
                .json("[]", after: .milliseconds(5)),
                .status(.notFound), .status(.badGateway, after: .milliseconds(1)), .stall)
        ])
        let traffic = traffic(of: client)
        var random = SeededRandom(seed)
        var recorders: [Recorder<Response, NetworkError>] = []
        for _ in 0..<50 {
            recorders.append(Recorder(client.get("/x"), on: clock))
            try clock.advance(by: .milliseconds(Int.random(in: 0...3, using: &random)))
            if Bool.random(using: &random) { recorders.randomElement(using: &random)?.cancel() }
        }
        for recorder in recorders { recorder.cancel() }
        try clock.run()
        for (_, events) in Dictionary(grouping: traffic.values, by: \.request.id) {
            let words = events.map(Self.word)
            #expect(words.first == "started")
            #expect(words.count { $0.hasPrefix("ended") } == 1)
            let sent = words.count { $0.hasPrefix("sent") }
            #expect(words.count { $0 == "finished" || $0.hasPrefix("broken") || $0 == "abandoned" } == sent)
        }
    }

    @Test func whoComesLateHearsOfTheNextRequest() throws {
        let client = client([.when(.get, "*", .json("[]", after: .milliseconds(10)))])
        _ = Recorder(client.get("/1"), on: clock)
        try clock.advance(by: .milliseconds(5))
        let traffic = traffic(of: client)
        _ = Recorder(client.get("/2"), on: clock)
        try clock.run()
        #expect(Set(traffic.values.map(\.request.url.path)) == ["/2"])
    }

    @Test func listenersAreCounted() throws {
        let client = client([])
        #expect(!client.trafficHub.isObserved)
        let recorders = [traffic(of: client), traffic(of: client)]
        #expect(client.trafficHub.isObserved)
        for recorder in recorders { recorder.cancel() }
        #expect(!client.trafficHub.isObserved)
    }

    @Test func theTrafficEndsWithTheClientAndKeepsNothing() throws {
        final class Token: Sendable {
            let isReleased: Mutex<Bool>
            init() { isReleased = Mutex(false) }
        }
        weak var weakClient: Client?
        weak var weakToken: Token?
        var late: Observable<TrafficEvent, Never>?
        do {
            let client = client([.when(.get, "*", .json("[]"))])
            let token = Token()
            (weakClient, weakToken, late) = (client, token, client.traffic)
            client.traffic.subscribe(onNext: { _ in token.isReleased.withLock { $0 = false } })
            _ = Recorder(client.get("/1"), on: clock)
            try clock.run()
        }
        #expect(weakClient == nil)
        #expect(weakToken == nil)
        #expect(Recorder(try #require(late), on: clock).isFinished)
    }
}
