import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct EventSourceTests {
    private let bench = EventSourceBench()
    private var clock: VirtualScheduler { bench.clock }

    @Test("Opens, sends, reconnects with the last id, and ends with 204")
    func life() throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\n"),
            EventSourceBench.answer("data: c\n\ndata: half"),
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

    @Test(
        "A first id that no field can carry is an error, and nothing is sent",
        arguments: ["a\r\nX-Evil: 1", "a\rb", "a\nb", "a\0b", "\n", "a\u{1}b", " a", "a\t"])
    func illegalFirstID(id: String) throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("data: a\n\n"), .status(.noContent), lastEventID: id)
        try clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(transport.requests.isEmpty)
    }

    @Test("The server's id is sent back unchanged, in UTF-8; one that no field can carry is ignored")
    func idsOfTheServer() throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("id: grün 🍵\ndata: a\n\n"),
            EventSourceBench.answer("id: a\u{1}b\ndata: b\n\n"),
            .status(.noContent))
        try clock.run()
        #expect(recorder.isFinished)
        let ids = transport.requests.map { $0.headerFields[.init("Last-Event-ID")!] }
        #expect(ids == [nil, "grün 🍵", "grün 🍵"])
    }

    @Test("The server's retry time applies from then on; the minimum wait is 0.1 s")
    func retryField() throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("retry: 500\n\n"), EventSourceBench.answer("data: a\n\n"),
            EventSourceBench.answer("retry: 0\n"),
            .status(.noContent))
        try clock.run()
        #expect(recorder.isFinished)
        #expect(
            transport.exchanges.map(\.startedAt) == [
                .zero, .milliseconds(500), .seconds(1), .milliseconds(1100),
            ])
    }

    @Test("Failed connections are retried with growing waits, up to a minute; an open one resets the wait")
    func backoff() throws {
        let failures = Array(repeating: ScriptedTransport.Reply.failure(.connect), count: 7)
        let book = Script(
            failures + [
                EventSourceBench.answer("", then: .fail(NetworkError(.connectionLost, "cut"))),
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

    @Test(
        "Transient failures are retried",
        arguments: [
            NetworkError.Code.resolve, .connect, .proxy, .connectionLost, .emptyReply, .partialBody,
            .connectTimeout,
            .firstByteTimeout, .idleTimeout, .unreachable, .circuitOpen, .tls,
        ])
    func passing(code: NetworkError.Code) throws {
        let (recorder, _) = bench.source(
            .failure(code), EventSourceBench.answer("data: a\n\n"), .status(.noContent))
        try clock.run()
        #expect(
            recorder.values == [
                "again in 3000.0: \(code.rawValue)", "open 200", "message a ", "again in 3000.0: closed",
            ])
    }

    @Test(
        "Permanent failures end the source",
        arguments: [
            NetworkError.Code.invalidURL, .invalidHeader, .tooManyRedirects, .shutDown, .loginExpired,
        ])
    func lasting(code: NetworkError.Code) throws {
        let (recorder, transport) = bench.source(.failure(code))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == code)
        #expect(transport.exchanges.count == 1)
    }

    /// A TLS handshake that broke off is no reason to end.
    @Test func aRefusedCertificateEndsTheSource() throws {
        var error = NetworkError(.tls, "as scripted")
        error.tlsFailure = .expired
        let (recorder, _) = bench.source(.steps(.fail(error)))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.tlsFailure == .expired)
    }

    @Test(
        "Every status but 200 and 204 ends the source",
        arguments: [201, 202, 205, 206, 304, 401, 404, 500, 503])
    func status(code: Int) throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("data: a\n\n", status: .init(code: code)))
        try clock.run()
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.status?.code == code)
        #expect(recorder.failure?.requestID != nil)
        #expect(transport.exchanges.count == 1)
        #expect(transport.runningCount == 0)
    }

    @Test(
        "A response of another type ends the source",
        arguments: [
            (nil, false), ("text/plain", false), ("text/event-streams", false), ("", false),
            ("x text/event-stream", false), ("text/event-stream; charset=utf-8", true),
            ("Text/Event-Stream", true), ("text/event-stream ;x", true),
        ] as [(String?, Bool)])
    func type(type: String?, isRight: Bool) throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("data: a\n\n", type: type, then: .stall))
        try clock.run()
        #expect(recorder.values == (isRight ? ["open 200", "message a "] : []))
        #expect(recorder.failure?.code == (isRight ? nil : .invalidResponse))
        recorder.cancel()
        #expect(transport.runningCount == 0)
    }

    @Test("It can begin after a known event")
    func beginning() throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("data: a\n\n", then: .stall), lastEventID: "täglich 7")
        try clock.run()
        #expect(recorder.values == ["open 200", "message a täglich 7"])
        #expect(transport.requests[0].headerFields[.init("Last-Event-ID")!] == "täglich 7")
    }

    @Test("An event over the limit ends it")
    func limit() throws {
        let (recorder, _) = bench.source(
            EventSourceBench.answer("data: a\n\ndata: " + String(repeating: "x", count: 50), then: .stall))
        try clock.run()
        #expect(recorder.values == ["open 200", "message a "])
        #expect(recorder.failure?.code == .tooLarge)
    }

    @Test(
        "Quiet connections stay open, regardless of the client's limits; an endpoint's own idle limit applies"
    )
    func timeouts() throws {
        struct Impatient: Endpoint {
            typealias Output = Void
            let path = "/events"
            let method = HTTPRequest.Method.get
            let options = RequestOptions(
                timeouts: Timeouts(idle: .seconds(40), attempt: .seconds(1), total: .seconds(1)))
        }
        let transport = ScriptedTransport(on: clock) { _ in
            EventSourceBench.answer("data: a\n\n", then: .stall)
        }
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.timeouts = Timeouts(attempt: .seconds(1), total: .seconds(1))
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.events(.get("/events")), on: clock)
        let other = Recorder(client.events(Impatient()), on: clock)
        try clock.advance(by: .seconds(39))
        #expect(transport.requests.map(\.timeouts.idle) == [nil, .seconds(40)])
        try clock.advance(by: .seconds(3600))
        #expect(recorder.completion == nil && other.completion == nil)
        #expect(transport.requests.count { $0.timeouts.idle == nil } == 1)
        #expect(transport.requests.count > 2)
        #expect(transport.requests.allSatisfy { $0.timeouts.attempt == nil })
        recorder.cancel()
        other.cancel()
    }

    @Test("Cancelling while connected, and while waiting, ends everything", arguments: [1, 4])
    func cancel(second: Int) throws {
        let (recorder, transport) = bench.source(
            EventSourceBench.answer("", then: .stall))
        _ = recorder
        let (waiting, other) = bench.source(.failure(.connect))
        try clock.advance(by: .seconds(second))
        recorder.cancel()
        waiting.cancel()
        try clock.run()
        #expect(transport.runningCount == 0 && other.runningCount == 0)
        #expect(clock.pendingCount == 0)
        #expect(waiting.completion == nil)
    }

    @Test("A slow subscriber gets each event once, and delays the next connection")
    func brake() throws {
        let book = Script([
            EventSourceBench.answer("id: 1\ndata: a\n\nid: 2\ndata: b\n\n"), .status(.noContent),
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

    @Test("A thousand reconnections leave no timer and no transfer")
    func long() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            EventSourceBench.answer("retry: 1000\ndata: a\n\n")
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
