import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A stream ends with its last item, not with its connection.
@Suite struct StreamEndTests {
    private let fixture = EventSourceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    @Test(arguments: [
        (true, "[DONE]"), (true, "bye"), (true, "9"), (false, "[DONE]"), (false, "bye"), (false, "9"),
    ])
    func endsWithTheEventAndClosesTheConnection(isDelivered: Bool, mark: String) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer(
                "data: a\n\nid: 9\nevent: bye\ndata: [DONE]\n\ndata: late\n\n", then: .stall),
            until: { [$0.data, $0.type, $0.lastEventID].contains(mark) }, deliversEnd: isDelivered)
        try clock.run()
        #expect(recorder.values == ["open 200", "message a "] + (isDelivered ? ["bye [DONE] 9"] : []))
        #expect(recorder.isFinished)
        #expect(transport.runningCount == 0)
        #expect(transport.exchanges.count == 1)
        #expect(clock.pendingCount == 0)
    }

    @Test func theWholeDataCounts() throws {
        let (recorder, _) = fixture.source(
            EventSourceFixture.answer(
                "data: [DONE] \n\ndata:[DONE]\ndata: x\n\ndata: [DONE]\n\n", then: .stall),
            until: { $0.data == "[DONE]" })
        try clock.run()
        #expect(recorder.values == ["open 200", "message [DONE]  ", "message [DONE]\nx "])
        #expect(recorder.isFinished)
    }

    @Test func aResponseThatEndsBeforeIsBrokenOff() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("id: 1\ndata: a\n\n"), EventSourceFixture.answer("data: [DONE]\n\n"),
            until: { $0.data == "[DONE]" })
        try clock.run()
        #expect(recorder.values == ["open 200", "message a 1", "again in 3000.0: partialBody", "open 200"])
        #expect(recorder.isFinished)
        #expect(transport.exchanges.count == 2)
    }

    @Test(arguments: [StreamResumption<ServerSentEvent>.never, .automatic])
    func withoutResumptionItFails(resumption: StreamResumption<ServerSentEvent>) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\ndata: [DONE]"), call: InlineEndpoint(.post, "/chat"),
            until: { $0.data == "[DONE]" }, resumption: resumption)
        try clock.run()
        #expect(recorder.values == ["open 200", "message a "])
        #expect(transport.exchanges.count == 1)
        let error = try #require(recorder.failure)
        #expect(error.code == .partialBody)
        #expect(error.status == .ok)
        #expect(error.method == .post)
        #expect(error.requestID == transport.requests.first?.id)
        #expect(error.url?.absoluteString == "http://shop.test/chat")
    }

    @Test func theErrorHidesSecrets() throws {
        let (recorder, _) = fixture.source(
            EventSourceFixture.answer(""),
            call: InlineEndpoint(.post, "/chat", query: ["access_token": "canary"]),
            until: { $0.data == "[DONE]" })
        try clock.run()
        let error = try #require(recorder.failure)
        #expect(error.code == .partialBody)
        #expect(!"\(error)".contains("canary"))
        #expect(error.url?.absoluteString.contains("canary") == false)
    }

    @Test func noContentEndsItToo() throws {
        let (recorder, _) = fixture.source(.status(.noContent), until: { $0.data == "[DONE]" })
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.isFinished)
    }

    @Test func theExchangeThatEndsItHasSucceeded() throws {
        let transport = ScriptedTransport(on: clock) { _ in .status(.noContent) }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let traffic = Recorder(client.traffic, on: clock)
        _ = Recorder(client.events(.get("/events")), on: clock)
        try clock.run()
        #expect(!traffic.values.contains { if case .abandoned = $0.kind { true } else { false } })
        let ends = traffic.values.compactMap {
            if case .ended(let summary) = $0.kind { summary.outcome } else { nil }
        }
        #expect(ends.count == 1)
        #expect(ends.allSatisfy { if case .succeeded = $0 { true } else { false } })
    }

    @Test(arguments: [false, true])
    func aSlowReaderGetsEveryEventBeforeTheEnd(isDelivered: Bool) throws {
        let book = Script([
            EventSourceFixture.answer("data: a\n\ndata: b\n\ndata: [DONE]\n\n", then: .stall)
        ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(
            client.events(.get("/"), until: { $0.data == "[DONE]" }, deliversEnd: isDelivered).messages()
                .slowly(.seconds(10), on: clock), on: clock)
        try clock.run()
        #expect(recorder.values.map(\.data) == ["a", "b"] + (isDelivered ? ["[DONE]"] : []))
        #expect(recorder.isFinished)
        #expect(transport.runningCount == 0)
    }
}
