import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct RedirectingTests {
    private let clock = VirtualScheduler()

    private func request(_ url: String = "https://a.test/1") throws -> Request {
        try Request(url: #require(URL(string: url)))
    }

    private static func redirect(
        to location: String, body: [Int] = [], then end: ScriptedTransport.Step = .finish
    ) -> ScriptedTransport.Reply {
        let head = ResponseHead(status: .found, headerFields: [.location: location])
        let chunks = body.map { ScriptedTransport.Step.chunk(Array(repeating: 0, count: $0)) }
        return ScriptedTransport.Reply([.wait(.milliseconds(1)), .head(head)] + chunks + [end])
    }

    private func record(
        _ transport: ScriptedTransport, limit: Int = 10
    ) throws -> Recorder<String, NetworkError> {
        let stream = transport.send(try request(), following: RedirectPolicy(limit: limit))
        return Recorder(
            stream.map { event in
                switch event {
                case .uploaded: "uploaded"
                case .interim: "interim"
                case .trailers: "trailers"
                case .redirected(let request, by: let head): "\(head.status.code) → \(request.url.path)"
                case .head(let head): "\(head.status.code)"
                case .chunk(let bytes): "\(bytes.count) bytes"
                case .finished: "finished"
                }
            }, on: clock)
    }

    /// Each new request is announced; the final response's events follow; redirect bodies are not delivered.
    @Test func follows() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/1", Self.redirect(to: "/2", body: [10, 20])),
                .when(.get, "/2", Self.redirect(to: "/3")), .when(.get, "/3", .bytes([1, 2, 3])),
            ])
        let recorder = try record(transport)
        try clock.run()
        #expect(recorder.values == ["302 → /2", "302 → /3", "200", "3 bytes", "finished"])
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.outcome) == [.finished, .finished, .finished])
    }

    /// Informational responses are delivered; a redirect's trailers are not.
    @Test func interim() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .get, "/1",
                    .steps(
                        .interim(ResponseHead(status: .continue)),
                        .head(ResponseHead(status: .found, headerFields: [.location: "/2"])),
                        .trailers([.eTag: "x"]), .finish)),
                .when(
                    .get, "/2", .steps(.head(ResponseHead(status: .ok)), .trailers([.eTag: "y"]), .finish)),
            ])
        let recorder = try record(transport)
        try clock.run()
        #expect(recorder.values == ["interim", "302 → /2", "200", "trailers", "finished"])
    }

    /// Nothing is sent before the subscription, and each subscription sends anew.
    @Test func cold() throws {
        let transport = ScriptedTransport(on: clock) { _ in .bytes([]) }
        let stream = transport.send(try request(), following: RedirectPolicy())
        #expect(transport.exchanges.isEmpty)
        stream.subscribe()
        stream.subscribe()
        try clock.run()
        #expect(transport.exchanges.count == 2)
    }

    /// A redirect's received body is read up to 64 KiB; a larger one is closed.
    @Test func drains() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/1", Self.redirect(to: "/2", body: [32 << 10, 32 << 10])),
                .when(.get, "/2", Self.redirect(to: "/3", body: [64 << 10, 1], then: .stall)),
                .when(.get, "/3", .bytes([])),
            ])
        let recorder = try record(transport)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.outcome) == [.finished, .cancelled, .finished])
    }

    /// A redirect is followed regardless of its body.
    @Test func breaksOff() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .get, "/1",
                    Self.redirect(to: "/2", body: [1], then: .fail(NetworkError(.connectionLost, "gone")))),
                .when(.get, "/2", .bytes([1, 2, 3])),
            ])
        let recorder = try record(transport)
        try clock.run()
        #expect(recorder.values == ["302 → /2", "200", "3 bytes", "finished"])
    }

    /// A body that has not arrived with the head is not waited for.
    @Test(arguments: [nil, "100"])
    func atTheHead(length: String?) throws {
        var fields: HTTPFields = [.location: "/2"]
        fields[.contentLength] = length
        let head = ResponseHead(status: .found, headerFields: fields)
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, "/1", .steps(.head(head), .chunk([1]), .stall)),
                .when(.get, "/2", .bytes([1, 2, 3])),
            ])
        let recorder = try record(transport)
        try clock.advance(by: .zero)
        #expect(recorder.values == ["302 → /2", "200", "3 bytes", "finished"])
        #expect(transport.exchanges.map(\.outcome) == [.cancelled, .finished])
    }

    /// The announcement has the redirect's head.
    @Test func announcedHead() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .get, "/1",
                    .steps(
                        .head(ResponseHead(status: .seeOther, headerFields: [.location: "/2", .eTag: "x"])),
                        .finish)
                ),
                .when(.get, "/2", .bytes([])),
            ])
        let recorder = Recorder(transport.send(try request(), following: RedirectPolicy()), on: clock)
        try clock.run()
        guard case .redirected(let request, by: let head) = recorder.values.first else {
            Issue.record("no announcement")
            return
        }
        #expect(request.url.path == "/2")
        #expect(head.status == .seeOther)
        #expect(head[.eTag] == "x")
    }

    /// A refused redirect ends the exchange.
    @Test func refused() throws {
        let transport = ScriptedTransport(on: clock) { _ in Self.redirect(to: "ftp://x/", then: .stall) }
        let recorder = try record(transport)
        try clock.run()
        #expect(recorder.failure?.code == .invalidRedirect)
        #expect(transport.exchanges.map(\.outcome) == [.cancelled])
    }

    /// A circle ends at the limit.
    @Test func circle() throws {
        let transport = ScriptedTransport(on: clock) { _ in Self.redirect(to: "/1") }
        let recorder = try record(transport, limit: 3)
        try clock.run()
        #expect(recorder.values == ["302 → /1", "302 → /1", "302 → /1"])
        #expect(recorder.failure?.code == .tooManyRedirects)
        #expect(transport.exchanges.count == 4)
        #expect(transport.runningCount == 0)
    }

    /// With a limit of 0 the redirect is the response.
    @Test func limitZero() throws {
        let transport = ScriptedTransport(on: clock) { _ in Self.redirect(to: "/2", body: [5]) }
        let recorder = try record(transport, limit: 0)
        try clock.run()
        #expect(recorder.values == ["302", "5 bytes", "finished"])
    }

    /// Cancelling midway cancels the running hop, and nothing more is sent.
    @Test(arguments: [0, 1, 2])
    func cancel(millisecond: Int) throws {
        let transport = ScriptedTransport(on: clock) { _ in
            .steps(
                .wait(.milliseconds(1)), .head(ResponseHead(status: .found, headerFields: [.location: "/2"])),
                .finish)
        }
        let recorder = try record(transport)
        try clock.advance(by: .milliseconds(millisecond))
        recorder.cancel()
        try clock.run()
        #expect(transport.exchanges.count == millisecond + 1)
        #expect(transport.exchanges.last?.outcome == .cancelled)
        #expect(transport.runningCount == 0)
        #expect(recorder.completion == nil)
    }

    /// Cancelling from within the announcement sends nothing more.
    @Test func cancelInside() throws {
        let transport = ScriptedTransport(on: clock) { _ in Self.redirect(to: "/2") }
        let recorder = Recorder(
            transport.send(try request(), following: RedirectPolicy()).take(1), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
        #expect(transport.exchanges.count == 1)
    }

    /// The response names the last request.
    @Test func response() throws {
        let transport = ScriptedTransport(
            on: clock,
            [.when(.get, "/1", Self.redirect(to: "https://b.test/2")), .when(.get, "/2", .bytes([7]))])
        let sent = try request()
        let recorder = Recorder(
            transport.send(sent, following: RedirectPolicy()).response(to: sent), on: clock)
        try clock.run()
        let response = try #require(recorder.values.first)
        #expect(response.url.absoluteString == "https://b.test/2")
        #expect(response.request.id == sent.id)
        #expect(response.request.isCredentialFree)
        #expect(response.body == [7])
    }
}
