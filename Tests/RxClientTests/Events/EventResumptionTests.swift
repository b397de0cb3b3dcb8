import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Event streams of requests with a body continue as the caller declares.
@Suite struct EventResumptionTests {
    private let fixture = EventSourceFixture()
    private var clock: VirtualScheduler { fixture.clock }
    private let question = InlineEndpoint(.post, "/chat", ["prompt": "tea"])

    private static func cut(_ text: String) -> ScriptedTransport.Reply {
        EventSourceFixture.answer(text, then: .fail(NetworkError(.connectionLost, "cut")))
    }

    /// A question, and the words of the answer so far.
    private static func question(after words: String) -> InlineEndpoint {
        InlineEndpoint(.post, "/chat", ["prompt": "tea", "prefix": words])
    }

    private static func body(_ request: Request) throws -> [String: String] {
        guard case .bytes(let bytes) = request.body else { return [:] }
        return try JSONDecoder().decode([String: String].self, from: Data(bytes))
    }

    @Test func aClosureBuildsTheNextRequestFromWhatHasArrived() throws {
        let (recorder, transport) = fixture.source(
            Self.cut("data: Hot\n\ndata: water\n\ndata: lost"), Self.cut("data: on\n\n"),
            EventSourceFixture.answer("data: leaves\n\ndata: [DONE]\n\n", then: .stall),
            call: question, until: { $0.data == "[DONE]" },
            resumption: .next { received in
                Self.question(after: received.items.map(\.data).joined(separator: " "))
            })
        try clock.run()
        #expect(
            recorder.values == [
                "open 200", "message Hot ", "message water ", "again in 3000.0: connectionLost", "open 200",
                "message on ", "again in 3000.0: connectionLost", "open 200", "message leaves ",
            ])
        #expect(recorder.isFinished)
        #expect(
            try transport.requests.map { try Self.body($0)["prefix"] } == [nil, "Hot water", "Hot water on"])
        #expect(transport.requests.allSatisfy { $0.method == .post })
        #expect(transport.runningCount == 0)
    }

    @Test func theClosureSeesNumbersIdAndCause() throws {
        let seen = Mutex<[String]>([])
        let (recorder, _) = fixture.source(
            Self.cut("id: 1\ndata: a\n\nid: 2\ndata: b\n\n"), .failure(.connect),
            EventSourceFixture.answer("data: c\n\n"), call: question,
            resumption: .next { received in
                let error = received.error?.code.rawValue ?? "closed"
                seen.withLock {
                    $0.append(
                        "\(received.count) \(received.newCount) \(received.failures) \(received.lastEventID) "
                            + "\(error)")
                }
                return received.count < 3 ? question : nil
            })
        try clock.run()
        #expect(seen.withLock { $0 } == ["2 2 0 2 connectionLost", "2 0 1 2 connect", "3 1 0 2 closed"])
        #expect(recorder.isFinished)
    }

    @Test func onlySoManyItemsAreKept() throws {
        let seen = Mutex<[[String]]>([])
        let many = (1...9).map { "data: \($0)\n\n" }.joined()
        for limit in [0, 1, 4, .max] {
            _ = fixture.source(
                Self.cut(many), .status(.noContent), call: question,
                resumption: .next(keeping: limit) { received in
                    seen.withLock { $0.append(received.items.map(\.data) + ["\(received.count)"]) }
                    return question
                })
            try clock.run()
        }
        let all = (1...9).map { "\($0)" }
        #expect(
            seen.withLock { $0 } == [
                ["9"], ["9", "9"], Array(all.suffix(4)) + ["9"], all + ["9"],
            ])
    }

    @Test func withoutANextEndpointTheStreamEndsAsItsConnectionDid() throws {
        let (broken, transport) = fixture.source(
            Self.cut("data: a\n\n"), call: question, resumption: .next { _ in nil })
        let (ended, _) = fixture.source(
            EventSourceFixture.answer("data: a\n\n"), call: question, resumption: .next { _ in nil })
        let (early, _) = fixture.source(
            EventSourceFixture.answer("data: a\n\n"), call: question, until: { $0.data == "end" },
            resumption: .next { _ in nil })
        try clock.run()
        #expect(broken.failure?.code == .connectionLost)
        #expect(transport.exchanges.count == 1)
        #expect(ended.isFinished)
        #expect(early.failure?.code == .partialBody)
    }

    @Test func connectionsWithoutAnEventWaitLongerAndLonger() throws {
        let book = Script([
            Self.cut(": nothing\n\n"), .failure(.connect), Self.cut("data: a\n\n"), Self.cut(""),
            .status(.noContent),
        ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(client.events(question, resumption: .next { _ in question }), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        // One failure, a second, an event, a failure.
        #expect(transport.exchanges.map { $0.startedAt / .seconds(1) } == [0, 3, 9, 12, 15])
    }

    @Test(arguments: [(429, true), (503, true), (500, true), (400, false), (401, false), (501, false)])
    func temporaryStatusesAreNoEnd(status: Int, passes: Bool) throws {
        let (recorder, transport) = fixture.source(
            .status(.init(code: status), headers: [.retryAfter: "20"]), .status(.noContent),
            call: question, resumption: .next { _ in question })
        try clock.run()
        #expect(recorder.isFinished == passes)
        #expect(transport.exchanges.map(\.startedAt) == (passes ? [.zero, .seconds(20)] : [.zero]))
        // By the standard, a status is final.
        let (standard, _) = fixture.source(.status(.init(code: status)))
        try clock.run()
        #expect(standard.failure?.code == .status)
    }

    @Test func aDeclaredPostContinuesWithTheLastID() throws {
        let (recorder, transport) = fixture.source(
            Self.cut("id: 7\ndata: a\n\n"), .status(.noContent), call: question, resumption: .lastEventID)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map { $0.headerFields[.init("Last-Event-ID")!] } == [nil, "7"])
        #expect(try transport.requests.map { try Self.body($0) } == [["prompt": "tea"], ["prompt": "tea"]])
    }

    @Test func neverMeansOneConnectionOfAnyMethod() throws {
        let (recorder, transport) = fixture.source(Self.cut("data: a\n\n"), resumption: .never)
        let (ended, _) = fixture.source(EventSourceFixture.answer("data: a\n\n"), resumption: .never)
        try clock.run()
        #expect(recorder.failure?.code == .connectionLost)
        #expect(transport.exchanges.count == 1)
        #expect(ended.isFinished)
    }

    @Test func aBodyThatCannotBeSentAgainHasOneConnection() throws {
        let once = InlineEndpoint(
            .post, "/chat", .body(.stream(.just(Array("tea".utf8))), contentType: "text/plain"))
        let (recorder, transport) = fixture.source(
            Self.cut("id: 7\ndata: a\n\n"), call: once, resumption: .lastEventID)
        try clock.run()
        #expect(recorder.failure?.code == .connectionLost)
        #expect(transport.exchanges.count == 1)
    }

    @Test func cancellingWhileItWaitsEndsEverything() throws {
        let (recorder, transport) = fixture.source(
            Self.cut("data: a\n\n"), call: question, resumption: .next { _ in question })
        try clock.advance(by: .seconds(1))
        recorder.cancel()
        try clock.run()
        #expect(transport.exchanges.count == 1)
        #expect(clock.pendingCount == 0)
        #expect(recorder.completion == nil)
    }

    @Test func theStreamMayBeSubscribedToAgain() throws {
        let book = Script([
            Self.cut("data: a\n\n"), .status(.noContent), Self.cut("data: b\n\n"), .status(.noContent),
        ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let events = client.events(
            question,
            resumption: .next { received in Self.question(after: received.items.map(\.data).joined()) })
        for _ in 1...2 {
            _ = Recorder(events, on: clock)
            try clock.run()
        }
        #expect(try transport.requests.map { try Self.body($0)["prefix"] } == [nil, "a", nil, "b"])
    }
}
