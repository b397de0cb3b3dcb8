import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct EventSourceTests {
    private let fixture = EventSourceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// Opens, sends, reconnects with the last id, and ends with 204.
    @Test func life() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\n"),
            EventSourceFixture.answer("data: c\n\ndata: half"),
            .status(.noContent))
        try clock.run()
        #expect(
            recorder.values == [
                "open 200", "message a 1", "message b 1", "again in 3000.0: closed", "open 200",
                "message c 2", "again in 3000.0: closed",
            ])
        #expect(recorder.isFinished)
        #expect(transport.requests.map { $0.headerFields[.init("Last-Event-ID")!] } == [nil, "2", "2"])
        #expect(transport.requests.allSatisfy { $0.headerFields[.accept] == "text/event-stream" })
        #expect(transport.requests.allSatisfy { $0.headerFields[.cacheControl] == "no-cache" })
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(3), .seconds(6)])
    }

    /// A first id that no field can carry is an error, and nothing is sent.
    @Test(arguments: ["a\r\nX-Evil: 1", "a\rb", "a\nb", "a\0b", "\n", "a\u{1}b", " a", "a\t"])
    func illegalFirstID(id: String) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\n"), .status(.noContent), lastEventID: id)
        try clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(transport.requests.isEmpty)
    }

    /// The server's id is sent back unchanged, in UTF-8; one that no field can carry is ignored.
    @Test func idsOfTheServer() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("id: grün 🍵\ndata: a\n\n"),
            EventSourceFixture.answer("id: a\u{1}b\ndata: b\n\n"),
            .status(.noContent))
        try clock.run()
        #expect(recorder.isFinished)
        let ids = transport.requests.map { $0.headerFields[.init("Last-Event-ID")!] }
        #expect(ids == [nil, "grün 🍵", "grün 🍵"])
    }

    /// The server's retry time applies from then on; the minimum wait is 0.1 s.
    @Test func retryField() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("retry: 500\n\n"), EventSourceFixture.answer("data: a\n\n"),
            EventSourceFixture.answer("retry: 0\n"),
            .status(.noContent))
        try clock.run()
        #expect(recorder.isFinished)
        #expect(
            transport.exchanges.map(\.startedAt) == [
                .zero, .milliseconds(500), .seconds(1), .milliseconds(1100),
            ])
    }

    /// Failed connections are retried with growing waits, up to a minute; an open one resets the wait.
    @Test func backoff() throws {
        let failures = Array(repeating: ScriptedTransport.Reply.failure(.connect), count: 7)
        let book = Script(
            failures + [
                EventSourceFixture.answer("", then: .fail(NetworkError(.connectionLost, "cut"))),
                .status(.noContent),
            ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(client.events(.get("/")), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        let starts = transport.exchanges.map { $0.startedAt / .seconds(1) }
        #expect(zip(starts, starts.dropFirst()).map { $1 - $0 } == [3, 6, 12, 24, 48, 60, 60, 3])
    }

    /// Each wait may depend on the one before, but not on those before a connection that opened.
    @Test func waitsBeginAnewAfterAnOpenConnection() throws {
        let failure = ScriptedTransport.Reply.failure(.connect)
        let book = Script([
            failure, failure, failure, EventSourceFixture.answer("data: a\n\n"), failure, .status(.noContent),
        ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let backoff = Backoff { history, _ in max(.seconds(1), history.lastDelay * 10) }
        let recorder = Recorder(client.events(.get("/"), backoff: backoff), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        let starts = transport.exchanges.map { $0.startedAt / .seconds(1) }
        #expect(zip(starts, starts.dropFirst()).map { $1 - $0 } == [1, 10, 100, 1, 1])
    }

    /// Transient failures are retried.
    @Test(arguments: [
        NetworkError.Code.resolve, .connect, .proxy, .connectionLost, .emptyReply, .partialBody,
        .connectTimeout,
        .firstByteTimeout, .idleTimeout, .unreachable, .circuitOpen, .tls,
    ])
    func passing(code: NetworkError.Code) throws {
        let (recorder, _) = fixture.source(
            .failure(code), EventSourceFixture.answer("data: a\n\n"), .status(.noContent))
        try clock.run()
        #expect(
            recorder.values == [
                "again in 3000.0: \(code.rawValue)", "open 200", "message a ", "again in 3000.0: closed",
            ])
    }

    /// Permanent failures end the source.
    @Test(arguments: [
        NetworkError.Code.invalidURL, .invalidHeader, .tooManyRedirects, .shutDown, .loginExpired,
    ])
    func lasting(code: NetworkError.Code) throws {
        let (recorder, transport) = fixture.source(.failure(code))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == code)
        #expect(transport.exchanges.count == 1)
    }

    /// A TLS handshake that broke off is no reason to end.
    @Test func aRefusedCertificateEndsTheSource() throws {
        var error = NetworkError(.tls, "as scripted")
        error.tlsFailure = .expired
        let (recorder, _) = fixture.source(.steps(.fail(error)))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.tlsFailure == .expired)
    }

    /// Every status but 200 and 204 ends the source.
    @Test(arguments: [201, 202, 205, 206, 304, 401, 404, 500, 503])
    func status(code: Int) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\n", status: .init(code: code)))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.status?.code == code)
        #expect(recorder.failure?.requestID != nil)
        #expect(transport.exchanges.count == 1)
        #expect(transport.runningCount == 0)
    }

    /// A response of another type ends the source.
    @Test(
        arguments: [
            (nil, false), ("text/plain", false), ("text/event-streams", false), ("", false),
            ("x text/event-stream", false), ("text/event-stream; charset=utf-8", true),
            ("Text/Event-Stream", true), ("text/event-stream ;x", true),
        ] as [(String?, Bool)])
    func type(type: String?, isRight: Bool) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\n", type: type, then: .stall))
        try clock.advance(by: .seconds(9))
        #expect(recorder.values == (isRight ? ["open 200", "message a "] : []))
        #expect(recorder.failure?.code == (isRight ? nil : .invalidResponse))
        recorder.cancel()
        #expect(transport.runningCount == 0)
    }

    /// It can begin after a known event.
    @Test func beginning() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\n", then: .stall), lastEventID: "täglich 7")
        try clock.advance(by: .seconds(9))
        #expect(recorder.values == ["open 200", "message a täglich 7"])
        #expect(transport.requests[0].headerFields[.init("Last-Event-ID")!] == "täglich 7")
    }

    /// An event over the limit ends it.
    @Test func limit() throws {
        let (recorder, _) = fixture.source(
            EventSourceFixture.answer("data: a\n\ndata: " + String(repeating: "x", count: 50), then: .stall))
        try clock.run()
        #expect(recorder.values == ["open 200", "message a "])
        #expect(recorder.failure?.code == .tooLarge)
    }

    /// A connection that is silent for a minute is replaced by one that names the last event.
    @Test func silence() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("id: 7\ndata: a\n\n", then: .stall),
            .steps(
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])),
                .wait(.seconds(59)), .chunk(Array(":\n".utf8)), .wait(.seconds(59)),
                .chunk(Array("data: b\n\n".utf8)), .stall),
            .status(.noContent))
        try clock.run()
        #expect(
            recorder.values == [
                "open 200", "message a 7", "again in 3000.0: idleTimeout", "open 200", "comment ",
                "message b 7",
                "again in 3000.0: idleTimeout",
            ])
        #expect(recorder.isFinished)
        #expect(transport.requests.map { $0.headerFields[.init("Last-Event-ID")!] } == [nil, "7", "7"])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(63), .seconds(244)])
    }

    /// A silent stream that must not be sent again fails with the time limit.
    @Test func silenceOfAPost() throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("data: a\n\n", then: .stall), call: InlineEndpoint(.post, "/events"))
        try clock.run()
        #expect(recorder.failure?.code == .idleTimeout)
        #expect(recorder.events.last?.time == .seconds(60))
        #expect(transport.exchanges.count == 1)
    }

    /// The limits of the client and of the endpoint, and the limit of silence that follows.
    /// The time of silence is 60 s unless the endpoint's limits or a changed limit of the client say
    /// otherwise.
    @Test(
        arguments: [
            (nil, nil, .seconds(60)), (Timeouts(), nil, .seconds(60)),
            (Timeouts(attempt: .seconds(1), total: .seconds(1)), nil, .seconds(60)),
            (Timeouts(idle: .seconds(90)), nil, .seconds(90)), (Timeouts.unlimited, nil, nil),
            (nil, Timeouts(), .seconds(20)), (Timeouts(idle: .seconds(90)), Timeouts(), .seconds(20)),
            (nil, Timeouts(idle: .seconds(40), attempt: .seconds(1), total: .seconds(1)), .seconds(40)),
            (Timeouts(idle: .seconds(9)), Timeouts.unlimited, nil),
        ] as [(Timeouts?, Timeouts?, Duration?)])
    func timeouts(clients: Timeouts?, own: Timeouts?, idle: Duration?) throws {
        let transport = ScriptedTransport(on: clock) { _ in
            EventSourceFixture.answer("data: a\n\n", then: .stall)
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.timeouts = clients
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(
            client.events(InlineEndpoint(.get, "/events", options: RequestOptions(timeouts: own))), on: clock)
        try clock.advance(by: .seconds(3600))
        #expect(recorder.completion == nil)
        #expect(transport.requests.allSatisfy { $0.timeouts.idle == idle && $0.timeouts.attempt == nil })
        #expect(transport.exchanges.dropFirst().first?.startedAt == idle.map { $0 + .seconds(3) })
        recorder.cancel()
    }

    /// Cancelling while connected, and while waiting, ends everything.
    @Test(arguments: [1, 4])
    func cancel(second: Int) throws {
        let (recorder, transport) = fixture.source(
            EventSourceFixture.answer("", then: .stall))
        _ = recorder
        let (waiting, other) = fixture.source(.failure(.connect))
        try clock.advance(by: .seconds(second))
        recorder.cancel()
        waiting.cancel()
        try clock.run()
        #expect(transport.runningCount == 0 && other.runningCount == 0)
        #expect(clock.pendingCount == 0)
        #expect(waiting.completion == nil)
    }

    /// A slow subscriber gets each event once, and delays the next connection.
    @Test func backpressure() throws {
        let book = Script([
            EventSourceFixture.answer("id: 1\ndata: a\n\nid: 2\ndata: b\n\n"), .status(.noContent),
        ])
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(
            client.events(.get("/")).messages().slowly(.seconds(10), on: clock), on: clock)
        try clock.run()
        #expect(recorder.values.map(\.data) == ["a", "b"])
        #expect(recorder.isFinished)
        #expect(transport.requests.last?.headerFields[.init("Last-Event-ID")!] == "2")
    }

    /// A thousand reconnections leave no timer and no transfer.
    @Test func long() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            EventSourceFixture.answer("retry: 1000\ndata: a\n\n")
        }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "http://shop.test"), transport: transport)
        let recorder = Recorder(client.events(.get("/")).messages().take(1000), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1000)
        #expect(transport.runningCount == 0)
        #expect(clock.pendingCount == 0)
    }
}
