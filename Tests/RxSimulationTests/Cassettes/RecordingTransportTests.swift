import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

@Suite struct RecordingTransportTests {
    private static let slow: [ScriptedTransport.Step] = [
        .uploaded(bytes: 3, of: 10), .wait(.milliseconds(2)), .uploaded(bytes: 10, of: 10),
        .interim(ResponseHead(status: .earlyHints, headerFields: [.contentLanguage: "de"])),
        .wait(.microseconds(1500)),
        .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/plain"], httpVersion: .http2)),
        .chunk(Array("gr".utf8)), .wait(.seconds(3)), .chunk(Array("üße".utf8)), .wait(.nanoseconds(1)),
        .trailers([.contentLocation: "/b"]), .wait(.milliseconds(1)), .finish,
    ]

    /// The events of a transport are replayed one by one, at the same times.
    @Test(
        arguments: [
            slow, [.wait(.milliseconds(7)), .fail(unsent)],
            [
                .head(ResponseHead(status: .ok)), .chunk([1, 2]),
                .fail(NetworkError(.partialBody, "cut off")),
            ],
            [.head(ResponseHead(status: .noContent)), .finish],
            [.head(ResponseHead(status: .ok)), .chunk([0xFF, 0xC3]), .chunk([0xBC]), .finish],
            [.fail(NetworkError(.emptyReply, "nothing"))],
        ] as [[ScriptedTransport.Step]])
    func replaysEveryEvent(steps: [ScriptedTransport.Step]) throws {
        let shop = RecordedShop([.when(.get, "/goods", .init(steps))])
        let request = Request(url: try #require(URL(string: "https://shop.test/goods?a=1")))
        let live = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)

        let clock = VirtualScheduler()
        let replay = ReplayTransport(try shop.cassette(), on: clock)
        #expect(try RecordedShop.events(of: request, by: replay, on: clock) == live)
        #expect(live.count >= 1)
        try replay.verify()
    }

    private static var unsent: NetworkError {
        var error = NetworkError(.connect, "refused")
        error.isUnsent = true
        return error
    }

    /// The phase of a failure is recorded.
    @Test func phases() throws {
        let cut: [ScriptedTransport.Step] = [
            .head(ResponseHead(status: .ok)), .fail(NetworkError(.connectionLost, "")),
        ]
        let shop = RecordedShop([
            .when(.get, "/a", .failure(.connect)), .when(.get, "/b", .failure(.connectionLost)),
            .when(.get, "/c", .init(cut)),
        ])
        for path in ["/a", "/b", "/c"] {
            let request = Request(url: try #require(URL(string: "https://shop.test\(path)")))
            _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        }
        let phases = try shop.cassette().exchanges.map { exchange -> Cassette.Failure.Phase? in
            if case .failed(let failure) = exchange.events.last?.kind { failure.phase } else { nil }
        }
        #expect(phases == [.connect, .request, .response])
    }

    /// A stream that the client leaves is replayed up to there, and stays open.
    @Test func cancelled() throws {
        let shop = RecordedShop([
            .when(
                .get, "/events",
                .steps(
                    .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])),
                    .chunk(Array("data: a\n\n".utf8)), .wait(.seconds(5)), .chunk(Array("data: b\n\n".utf8)),
                    .stall))
        ])
        let url = try #require(URL(string: "https://shop.test/events"))
        let request = Request(url: url, timeouts: .unlimited)
        let live = Recorder(shop.recording.send(request), on: shop.clock)
        try shop.clock.advance(by: .seconds(8))
        live.cancel()

        let cassette = try shop.cassette()
        #expect(cassette.exchanges[0].events.last?.time == .seconds(8))
        let text = String(decoding: cassette.encoded, as: UTF8.self)
        #expect(text.contains(#""eventName": "message""#) && text.contains(#""data": "b""#))

        let clock = VirtualScheduler()
        let transport = ReplayTransport(cassette, on: clock)
        let replay = Recorder(transport.send(request).serverSentEvents().map(\.data), on: clock)
        try clock.advance(by: .seconds(1000))
        #expect(replay.events.map(\.time) == [.zero, .seconds(5)])
        #expect(replay.values == ["a", "b"])
        #expect(replay.completion == nil)
    }

    /// An exchange that is running is recorded as far as it came.
    @Test func running() throws {
        let shop = RecordedShop([
            .when(.get, "/a", .steps(.head(ResponseHead(status: .ok)), .chunk([65]), .stall))
        ])
        let request = Request(url: try #require(URL(string: "https://shop.test/a")), timeouts: .unlimited)
        let live = Recorder(shop.recording.send(request), on: shop.clock)
        try shop.clock.run()
        #expect(try shop.cassette().exchanges.map(\.content) == [[65]])
        live.cancel()
    }

    /// Streamed content is recorded while it is sent, and compared.
    @Test func streamedBodies() throws {
        let clock = VirtualScheduler()
        let body = Body.stream(.sequence([Array("to".utf8), Array("day".utf8)]), isReplayable: true)
        let request = Request(
            method: .post, url: try #require(URL(string: "https://shop.test/a")), body: body)
        let recording = RecordingTransport(Uploading(scheduler: clock, files: MemoryFileSystem(on: clock)))
        _ = try RecordedShop.events(of: request, by: recording, on: clock)
        let cassette = try Cassette(bytes: recording.cassette.encoded)
        #expect(cassette.exchanges.map { String(decoding: $0.body, as: UTF8.self) } == ["today"])

        let files = MemoryFileSystem(on: clock)
        let replay = ReplayTransport(cassette, on: clock, files: files)
        var other = request
        other.body = .stream(.sequence([Array("tomorrow".utf8)]))
        #expect(
            try RecordedShop.events(of: other, by: replay, on: clock).first?.contains("unrecorded") == true)
        #expect(try RecordedShop.events(of: request, by: replay, on: clock).last?.hasSuffix("|") == true)
    }

    /// Sends the content before it responds.
    private struct Uploading: Transport {
        let scheduler: any Scheduler
        let files: any FileSystem

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
            guard case .streamed(let body) = request.body else {
                return .fail(NetworkError(.file, "no body"))
            }
            let done: Observable<TransferEvent, NetworkError> = .sequence([
                .head(ResponseHead(status: .ok)), .finished(TransferMetrics()),
            ])
            return .concat([
                body.open(files).flatMap(.concat) { $0.chunks }.ignoreElements(as: TransferEvent.self), done,
            ])
        }
    }

    /// The same exchanges give the same bytes, before and after a file.
    @Test func isDeterministic() throws {
        let shop = RecordedShop([.when(.get, "/goods", .init(Self.slow))])
        let request = Request(url: try #require(URL(string: "https://shop.test/goods")))
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let once = shop.recording.cassette.encoded
        #expect(try Cassette(bytes: once).encoded == once)
    }
}
