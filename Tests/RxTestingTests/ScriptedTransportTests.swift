import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct ScriptedTransportTests {
    private let clock = VirtualScheduler()
    private let log = Log<String>()

    private func request(_ url: String, method: HTTPRequest.Method = .get) throws -> Request {
        try Request(method: method, url: #require(URL(string: url)))
    }

    @discardableResult
    private func start(_ transport: ScriptedTransport, _ request: Request) -> Subscription {
        transport.send(request).subscribe(
            onNext: { [log] event in
                switch event {
                case .uploaded(let bytes, let total): log.add("uploaded \(bytes)/\(total ?? -1)")
                case .interim(let head): log.add("interim \(head.status.code)")
                case .trailers(let fields): log.add("trailers \(fields.count)")
                case .redirected(let request, by: _): log.add("redirected \(request.url.absoluteString)")
                case .head(let head): log.add("head \(head.status.code)")
                case .chunk(let bytes): log.add(String(decoding: bytes, as: UTF8.self))
                case .finished(let metrics): log.add("finished \(metrics.total)")
                }
            },
            onEnd: { [log] completion in
                switch completion {
                case .finished: log.add("|")
                case .failed(let error): log.add("\(error.code.rawValue): \(error.message)")
                }
            })
    }

    @Test(arguments: ["", "https://a.test"])
    func aSlashAtTheEndOfAPathCounts(origin: String) throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(.get, origin + "/items/", .bytes(Array("with".utf8))),
                .when(.get, origin + "/items", .bytes(Array("without".utf8))),
            ])
        for path in ["/items/", "/items", "/items/?page=2"] {
            start(transport, try request("https://a.test" + path))
        }
        try clock.run()
        #expect(log.entries.filter { $0.hasPrefix("with") } == ["with", "without", "with"])
    }

    @Test func rulesAnswerInTurnAndTheLastRepeats() throws {
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .get, "/goods", .failure(.connect), .json("[1]", after: .milliseconds(30)),
                    .status(.noContent))
            ])
        for _ in 0..<4 {
            start(transport, try request("http://shop.test/goods?page=1"))
            try clock.run()
        }
        #expect(
            log.entries == [
                "connect: as scripted", "head 200", "[1]", "finished 0.03 seconds", "|",
                "head 204", "finished 0.0 seconds", "|", "head 204", "finished 0.0 seconds", "|",
            ])
        #expect(transport.exchanges.map(\.outcome) == [.failed(.connect), .finished, .finished, .finished])
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .zero, .milliseconds(30), .milliseconds(30)])
    }

    @Test func informationalAnswersAndTrailersComeInTheirPlaces() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            .steps(
                .uploaded(bytes: 1, of: nil), .interim(ResponseHead(status: .continue)),
                .head(ResponseHead(status: .ok)), .trailers([.eTag: "x"]), .finish)
        }
        start(transport, try request("http://shop.test/"))
        try clock.run()
        #expect(
            log.entries == [
                "uploaded 1/-1", "interim 100", "head 200", "trailers 1", "finished 0.0 seconds", "|",
            ])
    }

    @Test(
        arguments: [
            ("/goods", "http://shop.test/goods?x=1", true), ("/goods", "http://shop.test/goods/1", false),
            ("/goods/*", "http://shop.test/goods/1", true), ("*", "https://a.test:81/", true),
            ("https://a.test:81/x", "https://a.test:81/x", true),
            ("https://a.test/x", "http://a.test/x", false),
            ("http://a.test*", "http://a.test/x/y", true),
            ("/goods/{id}", "http://a.test/goods/7", true), ("/goods/{id}", "http://a.test/goods/", false),
            ("/goods/{id}", "http://a.test/goods/7/parts", false),
            ("/goods/{id}", "http://a.test/goods", false),
            ("/goods/{id}", "http://a.test/goods/a%2Fb", true),
            ("/{a}/{b}-{c}.json", "http://a.test/x/1-2.json", true),
            ("/{a}/{b}-{c}.json", "http://a.test/x/1-.json", false),
            ("/{a}/{b}-{c}.json", "http://a.test/x/1-2-3.json", true),
            ("/{a}/{b}-{c}.json", "http://a.test/x/1-2.jsons", false),
            ("/{a}{b}", "http://a.test/xy", true), ("/{a}{b}", "http://a.test/x", false),
            ("/é {a}", "http://a.test/%C3%A9%20+", true), ("/{a", "http://a.test/%7Ba", true),
            ("/goods/{id}*", "http://a.test/goods/7/parts/8", true), ("/{a}/*", "http://a.test/x", false),
            ("/{a}/*", "http://a.test/x/", true), ("/{a}/b*", "http://a.test/x/by/c", true),
            ("https://a.test:81/{x}", "https://a.test:81/7", true),
            ("https://a.test/{x}", "http://a.test/7", false),
        ])
    func pathsMatch(path: String, url: String, matches: Bool) throws {
        let transport = ScriptedTransport(on: clock, [.when(nil, path, .status(.ok))])
        start(transport, try request(url))
        try clock.run()
        #expect(transport.exchanges.map(\.outcome) == [matches ? .finished : .failed(.unscripted)])
    }

    @Test func nothingIsAnsweredInsideTheSubscribingCall() throws {
        let transport = ScriptedTransport(on: clock) { _ in .json("{}") }
        start(transport, try request("http://a.test/"))
        #expect(log.entries.isEmpty)
        #expect(transport.runningCount == 1)
    }

    @Test func cancellingEndsTheExchangeAtOnceAndSilently() throws {
        let transport = ScriptedTransport(on: clock) { _ in .json("{}", after: .seconds(1)) }
        let subscription = start(transport, try request("http://a.test/"))
        try clock.advance(by: .milliseconds(10))
        subscription.cancel()
        #expect(transport.cancelled.map(\.endedAt) == [.milliseconds(10)])
        #expect(clock.pendingCount == 0)
        try clock.run()
        #expect(log.entries.isEmpty)
    }

    @Test func backpressureStopsTheScriptAndTimePassesMeanwhile() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            .steps(.head(ResponseHead(status: .ok)), .wait(.seconds(1)), .chunk([97]), .chunk([98]), .finish)
        }
        let subscription = start(transport, try request("http://a.test/"))
        try clock.advance(by: .zero)
        subscription.pause()
        try clock.advance(by: .seconds(5))
        #expect(log.entries == ["head 200"])
        subscription.resume()
        #expect(log.entries == ["head 200", "a", "b", "finished 5.0 seconds", "|"])
    }

    @Test func aStallWithoutLimitsIsForEverAndAScriptWithoutAnEndIsAnError() throws {
        let transport = ScriptedTransport(
            on: clock,
            [.when(nil, "/stall"), .when(nil, "/short", .steps(.head(ResponseHead(status: .ok))))])
        var stalled = try request("http://a.test/stall")
        stalled.timeouts = .unlimited
        start(transport, stalled)
        start(transport, try request("http://a.test/short"))
        try clock.run()
        #expect(transport.exchanges.map(\.outcome) == [.running, .failed(.unscripted)])
    }

    @Test func failuresTellAboutTheRequest() throws {
        let transport = ScriptedTransport(on: clock) { _ in .failure(.resolve, "no such host") }
        let asked = try request("http://u:p@a.test/x?token=secret", method: .post)
        let recorded = Log<NetworkError>()
        transport.send(asked).subscribe(onFailure: { recorded.add($0) })
        try clock.run()
        let error = try #require(recorded.entries.first)
        #expect(error.requestID == asked.id)
        #expect(error.isUnsent && !error.isIdempotent)
        #expect(error.description == "resolve POST http://a.test/x \(asked.id): no such host")
    }
}
