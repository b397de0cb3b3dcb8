import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

/// Files, streams and forms as they pass through the client.
@Suite struct BodyTests {
    let fixture = RetryFixture()

    private var once: Parameters { .body(.stream(.just([1]))) }
    private var again: Parameters { .body(.stream(.just([1]), isReplayable: true)) }

    /// A body that can be sent only once is neither retried nor redirected by 307; a replayable one is both.
    @Test func replays() throws {
        for (parameters, attempts) in [
            (once, 1), (again, 2), (.file("/a"), 2), (.multipart([.file("f", "/a")]), 2),
        ] {
            let (client, transport) = fixture([.failure(.connectionLost), .status(.ok)])
            let recorder = Recorder(client.put("/x", parameters), on: fixture.clock)
            try fixture.clock.run()
            #expect(transport.requests.count == attempts)
            #expect(recorder.values.count == attempts - 1)
        }
        for (parameters, attempts) in [(once, 1), (again, 2)] {
            let moved = HTTPFields([HTTPField(name: .location, value: "/y")])
            let (client, transport) = fixture([.status(.temporaryRedirect, headers: moved), .status(.ok)])
            _ = Recorder(client.put("/x", parameters), on: fixture.clock)
            try fixture.clock.run()
            #expect(transport.requests.count == attempts)
        }
    }

    /// A body that can be sent only once is not replayed after a login.
    @Test func relogin() throws {
        for (parameters, attempts) in [(once, 1), (again, 2)] {
            let fixture = LoginFixture()
            _ = Recorder(fixture.client.put("/1", parameters), on: fixture.clock)
            try fixture.clock.run()
            #expect(fixture.lines.filter { $0.hasPrefix("PUT") }.count == attempts)
        }
    }

    /// Content types, and their override by the endpoint.
    @Test func contentTypes() throws {
        func type(_ parameters: Parameters, _ headers: Headers = [:]) throws -> String? {
            let (client, transport) = fixture([.status(.ok)])
            _ = Recorder(client.post("/x", parameters, headers: headers), on: fixture.clock)
            try fixture.clock.run()
            return transport.requests.first?.headerFields[.contentType]
        }
        #expect(try type(.file("/a")) == "application/octet-stream")
        #expect(try type(.file("/a", contentType: "image/png")) == "image/png")
        #expect(try type(.file("/a"), ["Content-Type": "text/csv"]) == "text/csv")
        #expect(try type(.body(.bytes([1]))) == nil)
        let form = try #require(
            try type(.multipart([.text("a", "b")]), ["Content-Type": "multipart/form-data"]))
        #expect(form.hasPrefix("multipart/form-data; boundary=form-"))
    }

    /// Added parameters become text parts of a form, and query items beside a file.
    @Test func additions() throws {
        let (client, transport) = fixture([.status(.ok)])
        let parts: [Multipart.Part] = [.text("a", "1"), .text("b", "2"), .text("c", "3")]
        let form = Parameters.multipart(parts).adding(["b": 7, "version": "1.0"]).removing("c")
        _ = Recorder(client.post("/x", form), on: fixture.clock)
        _ = Recorder(client.post("/x", Parameters.file("/a").adding(["version": "1.0"])), on: fixture.clock)
        try fixture.clock.run()
        guard case .bytes(let bytes) = transport.requests[0].body else { Issue.record("no bytes"); return }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("name=\"a\"\r\n\r\n1\r\n"))
        #expect(text.contains("name=\"b\"\r\n\r\n7\r\n"))
        #expect(text.contains("name=\"version\"\r\n\r\n1.0\r\n"))
        #expect(!text.contains("\r\n\r\n2\r\n"))
        #expect(!text.contains("name=\"c\""))
        #expect(transport.requests[1].url.query() == "version=1.0")
    }

    /// A name that cannot be sent fails before anything is sent.
    @Test func hostileName() throws {
        let (client, transport) = fixture([.status(.ok)])
        let recorder = Recorder(client.post("/x", .multipart([.text("a\r\nb", "")])), on: fixture.clock)
        try fixture.clock.run()
        #expect(transport.requests.isEmpty)
        guard case .failed(let error) = recorder.completion else { Issue.record("no failure"); return }
        #expect(error.code == .invalidParameters)
    }

    /// Compression and Expect: the endpoint's setting, else the client's.
    @Test func policies() throws {
        let transport = ScriptedTransport(on: fixture.clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.continuePolicy = .from(5)
        let client = Client(configuration: configuration, transport: transport)
        var call = InlineEndpoint(.post, "/x", .text("x"))
        _ = Recorder(client.request(call), on: fixture.clock)
        call.options.compressesContent = true
        call.options.continuePolicy = .always
        _ = Recorder(client.request(call), on: fixture.clock)
        try fixture.clock.run()
        #expect(transport.requests.map(\.compressesContent) == [false, true])
        #expect(transport.requests.map(\.continuePolicy) == [.from(5), .always])
    }

    /// An endpoint can switch decoding off, and coded bodies are not stored.
    @Test func decoding() throws {
        let transport = ScriptedTransport(on: fixture.clock) { _ in .status(.ok) }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.cachePolicy = .time(.seconds(60))
        let client = Client(configuration: configuration, transport: transport)
        var call = InlineEndpoint(.get, "/x")
        for isDecoded in [true, false, false, true] {
            call.options.decodesContent = isDecoded
            _ = Recorder(client.request(call), on: fixture.clock)
            try fixture.clock.advance(by: .seconds(1))
        }
        #expect(transport.requests.map(\.decodesContent) == [true, false, false])
    }

    /// Events: progress of each attempt, then the typed output.
    @Test func events() throws {
        let (client, _) = fixture([
            .steps(.uploaded(bytes: 1, of: 2), .fail(NetworkError(.connectionLost, ""))),
            .steps(
                .uploaded(bytes: 2, of: 2),
                .head(ResponseHead(status: .ok, headerFields: [.contentLength: "2"])),
                .chunk([UInt8(ascii: "4")]), .wait(.seconds(1)), .chunk([UInt8(ascii: "2")]), .finish),
        ])
        let recorder = Recorder(client.progress(of: Answered(path: "/x")), on: fixture.clock)
        try fixture.clock.run()
        let lines = recorder.values.map { event in
            switch event {
            case .uploaded(let progress): "upload \(progress.bytes) of \(progress.expected ?? -1)"
            case .downloaded(let progress): "download \(progress.bytes) of \(progress.expected ?? -1)"
            case .finished(let answer): "answer \(answer.output)"
            }
        }
        #expect(
            lines == [
                "upload 1 of 2", "upload 2 of 2", "download 0 of 2", "download 2 of 2", "answer 42",
            ])
        guard case .finished = recorder.completion else { Issue.record("no end"); return }
    }
}

private struct Answered: Endpoint {
    typealias Output = Int
    let path: String
    let method = HTTPRequest.Method.put
}
