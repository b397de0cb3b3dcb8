import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// An endpoint defines the request of an event source; comments are delivered, and failures waited out.
@Suite struct EventSourceRequestTests {
    private let fixture = EventSourceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// A request that may be sent only once has one connection, with its body; its end is the stream's end.
    @Test func post() throws {
        let call = InlineEndpoint(.post, "/events", ["prompt": "tea"])
        let (recorder, transport) = fixture.source(EventSourceFixture.answer("data: a\n\n"), call: call)
        try clock.run()
        #expect(recorder.values == ["open 200", "message a "])
        #expect(recorder.isFinished)
        #expect(transport.requests.map(\.method) == [.post])
        #expect(transport.requests.first?.body.isEmpty == false)
        let (broken, other) = fixture.source(
            EventSourceFixture.answer("data: a\n\n", then: .fail(NetworkError(.connectionLost, "cut"))),
            call: call)
        try clock.run()
        #expect(broken.failure?.code == .connectionLost)
        #expect(other.exchanges.count == 1)
    }

    /// A POST that may be sent twice is sent again, with its body and the last id.
    @Test func idempotentPost() throws {
        var call = InlineEndpoint(.post, "/events", ["topic": "tea"])
        call.options.isIdempotent = true
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("id: 1\ndata: a\n\n"), .status(.noContent), call: call)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map(\.method) == [.post, .post])
        #expect(transport.requests.allSatisfy { !$0.body.isEmpty })
        #expect(transport.requests.last?.headerFields[.init("Last-Event-ID")!] == "1")
    }

    /// The endpoint's own fields take precedence.
    @Test func ownFields() throws {
        let call = InlineEndpoint(
            .get, "/events", headers: ["Cache-Control": "no-store", "Accept": "text/event-stream, */*"])
        let (_, transport) = fixture.source(.status(.noContent), call: call)
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cacheControl] } == ["no-store"])
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["text/event-stream, */*"])
    }

    /// Comments are delivered in their place.
    @Test func comments() throws {
        let (recorder, _) = fixture.source(
            EventSourceFixture.answer(": keep\ndata: a\n:\n\n:alive\n", then: .stall))
        try clock.advance(by: .seconds(9))
        #expect(recorder.values == ["open 200", "comment keep", "comment ", "message a ", "comment alive"])
    }

    /// The waits can be set.
    @Test func waits() throws {
        let book = Script([.failure(.connect), .failure(.connect), .failure(.connect), .status(.noContent)])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(2))
        let recorder = Recorder(client.events(.get("/"), backoff: backoff), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(1), .seconds(3), .seconds(5)])
    }

    /// It waits while a circuit is open and while the network is down.
    @Test func patience() throws {
        let book = Script([.failure(.connect), EventSourceFixture.answer("data: a\n\n", then: .stall)])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let reachability = ScriptedReachability()
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.circuitBreaker = .init(
            failureRatio: 0.5, minimumRequests: 1, window: .seconds(10), openDuration: .seconds(30))
        configuration.reachability = reachability
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.events(.get("/events")), on: clock)
        try clock.advance(by: .seconds(29))
        #expect(transport.exchanges.count == 1)
        try clock.advance(by: .seconds(2))
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(30)])
        #expect(recorder.completion == nil)
        // The probe ends with the head.
        #expect(client.circuitBreaker()?.state.value == .closed)
        recorder.cancel()
        reachability.set(.unreachable)
        let offline = Recorder(client.events(.get("/events")), on: clock)
        try clock.advance(by: .seconds(2))
        #expect(offline.completion == nil)
        reachability.set(.wifi)
        try clock.advance(by: .seconds(2))
        #expect(transport.exchanges.count == 3)
        offline.cancel()
    }
}
