import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// Delivery of stale responses (RFC 5861).
@Suite struct CacheStaleTests {
    private static let hour = ("Cache-Control", "max-age=3600")
    private static let tag = ("ETag", "\"a\"")

    // MARK: - Failures

    private static let staleIfError = ("Cache-Control", "max-age=10, stale-if-error=50")

    static let failures: [(ScriptedTransport.Reply, Bool)] =
        [500, 502, 503, 504].map { (.fields([], status: $0, body: "new"), true) }
        + [400, 404, 501].map { (.fields([], status: $0, body: "new"), false) }
        + [.failure(.connect), .failure(.connectionLost), .failure(.firstByteTimeout), .failure(.resolve)]
        .map { ($0, true) }
        + [.failure(.tls), .failure(.cancelled)].map { ($0, false) }

    @Test(arguments: failures)
    func staleIfError(_ answer: ScriptedTransport.Reply, _ isUsed: Bool) throws {
        let stage = CacheStage([.fields([Self.staleIfError]), answer])
        try stage.send()
        try stage.wait(60)
        let recorder = try stage.send()
        #expect((recorder.values.first?.cacheUse == .stale) == isUsed)
        #expect((recorder.values.first?.text == "old") == isUsed)
        #expect(stage.asked == 2)
        #expect(stage.cache.statistics.staleServed == (isUsed ? 1 : 0))
    }

    @Test(arguments: [
        ("max-age=10, stale-if-error=50", 60.0, "", true), ("max-age=10, stale-if-error=50", 61, "", false),
        ("max-age=10", 11, "", false), ("max-age=10, stale-if-error=x", 11, "", false),
        ("max-age=10, stale-if-error=50, must-revalidate", 11, "", false),
        ("no-cache, stale-if-error=50", 11, "", false), ("max-age=10", 60, "stale-if-error=50", true),
        ("max-age=10", 61, "stale-if-error=50", false),
        ("max-age=10, stale-if-error=50", 11, "no-cache", false),
    ])
    func howLongStaleIfError(_ terms: String, _ wait: Double, _ own: String, _ isUsed: Bool) throws {
        let stage = CacheStage([.fields([("Cache-Control", terms)]), .failure(.connectionLost)])
        try stage.send()
        try stage.wait(wait)
        let recorder = try stage.send(.get, CacheStage.url, own.isEmpty ? [] : [("Cache-Control", own)])
        #expect(recorder.values.map(\.text) == (isUsed ? ["old"] : []))
        #expect((recorder.failure?.code == .connectionLost) == !isUsed)
    }

    @Test func whatBreaksOffIsNotKept() throws {
        let head = ResponseHead(status: .ok, headerFields: [.cacheControl: "max-age=99"])
        let stage = CacheStage([.steps(.head(head), .chunk([1]), .fail(NetworkError(.partialBody, "cut")))])
        #expect(try stage.send().failure?.code == .partialBody)
        #expect(stage.cache.statistics.usage.entries == 0)
    }

    // MARK: - Revalidation in the background

    @Test func staleWhileRevalidate() throws {
        let terms = ("Cache-Control", "max-age=10, stale-while-revalidate=50")
        let stage = CacheStage([
            .fields([terms, Self.tag]), .fields([Self.hour], body: "newer", after: .seconds(5)),
        ])
        try stage.send()
        try stage.wait(60)
        let transport = stage.transport
        let request = Request(url: URL(string: CacheStage.url)!)
        let answers = stage.cache.response(to: request) { transport.send($0).response(to: $0) }
        let (first, second) = (Recorder(answers, on: stage.clock), Recorder(answers, on: stage.clock))
        // Both at once, before the server has responded; it gets one request.
        #expect(first.values.map(\.cacheUse) == [.stale] && second.values.map(\.text) == ["old"])
        try stage.clock.run()
        #expect(stage.asked == 2)
        #expect(stage.transport.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(try stage.send().values.map(\.text) == ["newer"])
        #expect(stage.asked == 2)
    }

    @Test func staleWhileRevalidateHasAnEnd() throws {
        let terms = ("Cache-Control", "max-age=10, stale-while-revalidate=50")
        let stage = CacheStage([.fields([terms])])
        try stage.send()
        try stage.wait(61)
        #expect(try stage.send().values.map(\.text) == ["new"])
    }

    @Test func afterARenewalThatFailedTheNextOneTriesAgain() throws {
        let terms = ("Cache-Control", "max-age=10, stale-while-revalidate=50")
        let stage = CacheStage([.fields([terms]), .failure(.connect), .fields([Self.hour], body: "newer")])
        try stage.send()
        try stage.wait(20)
        #expect(try stage.send().values.map(\.text) == ["old"])
        #expect(try stage.send().values.map(\.text) == ["old"])
        #expect(stage.asked == 3)
        #expect(try stage.send().values.map(\.text) == ["newer"])
    }
}
