#if Inspector
import Foundation
import HTTPTypes
import RxNetworking
import RxTesting
import Testing

@testable import RxInspector

/// The log of requests keeps a bounded number of bytes.
@Suite struct NetworkLogLimitTests {
    @Test func theOldestRequestsAreDropped() throws {
        var settings = Inspector.Settings()
        settings.memoryLimit = 100_000
        let fixture = LogFixture(
            [.when(.get, "/a", .bytes([UInt8](repeating: 65, count: 20_000)))], settings: settings)
        for _ in 0..<20 { try fixture.run(fixture.client.get("/a")) }
        let ids = fixture.params("requestWillBeSent").compactMap { $0["requestId"]?.string }
        #expect(ids.count == 20)
        #expect(fixture.row(ids[0]) == nil)
        let kept = ids.compactMap { fixture.row($0) }
        #expect((1...4).contains(kept.count))
        #expect(fixture.row(ids[19])?.body.count == 20_000)
        #expect(kept.reduce(0) { $0 + $1.byteCount } <= 100_000)
        #expect(LogFixture.names(fixture.replay()).filter { $0 == "requestWillBeSent" }.count == kept.count)
    }

    /// Rules for redirects from /0 to /9, and then to a response, each with a head of 100 kB.
    static var longWay: [ScriptedTransport.Rule] {
        let long = String(repeating: "h", count: 100_000)
        return (0..<9).map { number in
            .when(
                .get, "/\(number)",
                .status(
                    .found, headers: [.location: "/\(number + 1)", HTTPField.Name("X-Long")!: long]))
        } + [.when(.get, "/9", .status(.ok, headers: [HTTPField.Name("X-Long")!: long]))]
    }

    @Test func headsAndRedirectsCountAsMemory() throws {
        var settings = Inspector.Settings()
        settings.memoryLimit = 20_000_000
        let fixture = LogFixture(Self.longWay, settings: settings)
        for _ in 0..<20 { try fixture.run(fixture.client.get("/0")) }
        let ids = fixture.params("requestWillBeSent").compactMap { $0["requestId"]?.string }
        let kept = Set(ids).compactMap { fixture.row($0) }
        #expect(!kept.isEmpty && kept.count < 20)
        let bytes = kept.reduce(0) { sum, row in
            sum + (row.head?.fieldLines.count ?? 0) + row.responseHeaders.textCount
                + row.replay.reduce(0) { $0 + $1.count }
        }
        #expect(bytes <= settings.memoryLimit)
        #expect(bytes > settings.memoryLimit / 4)
    }

    @Test(.timeLimit(.minutes(1))) func thePageKeepsAsMuchAsTheLimitAllows() async throws {
        var settings = Inspector.Settings()
        settings.memoryLimit = 20_000_000
        let clock = VirtualScheduler()
        let client = Client(
            baseURL: "https://a.test", transport: ScriptedTransport(on: clock, Self.longWay))
        let inspector = try await Inspector.start([client], settings)
        for _ in 0..<20 {
            let recorder = Recorder(client.get("/0"), on: clock)
            try clock.run()
            #expect(recorder.values.count == 1)
        }
        let text = try await Client(baseURL: inspector.pageURL).get("har").value().body
        let entries = try JSONDecoder().decode(HAR.self, from: Data(text)).log.entries
        let bytes = entries.reduce(0) { sum, entry in
            sum + entry.response.headers.reduce(0) { $0 + $1.value.utf8.count }
        }
        #expect(bytes > settings.rowMemoryLimit / 2)
        #expect(bytes <= settings.rowMemoryLimit)
        await inspector.stop()
    }

    @Test func aLargeUploadKeepsItsRow() throws {
        var settings = Inspector.Settings()
        (settings.memoryLimit, settings.bodyLimit) = (100_000, 1000)
        let fixture = LogFixture([.when(.post, "/a", .json("1"))], settings: settings)
        try fixture.run(fixture.client.post("/a", .text(String(repeating: "a", count: 1_000_000))))
        let request = try #require(fixture.params("requestWillBeSent").first)
        #expect(request["request"]?["hasPostData"] == true)
        #expect(request["request"]?["postData"] == nil, "the panel asks for it")
        let row = try #require(fixture.row(request["requestId"]?.string ?? ""))
        #expect(row.byteCount < 10_000)
        #expect(row.shown.postData(limit: .max)?.count == 1000)
    }

    @Test func aChattyWebSocketKeepsItsRow() throws {
        var settings = Inspector.Settings()
        settings.memoryLimit = 6 << 20
        let message = WebSocketMessage.text(String(repeating: "a", count: 1_000_000))
        let frames = [ScriptedWebSocket.Step](repeating: .send(message), count: 20)
        let fixture = LogFixture(
            [.when(.get, "/live", .webSocket(ScriptedWebSocket(frames)))], settings: settings)
        let recorder = Recorder(fixture.client.webSocket("/live"), on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        let id = try #require(fixture.params("webSocketCreated").first?["requestId"]?.string)
        let row = try #require(fixture.row(id))
        #expect(!row.hasEnded)
        #expect((1...4).contains(row.stream.count))
        #expect(row.byteCount < 6 << 20)
        recorder.cancel()
    }

    @Test func aReplayHasTheNewestRequests() throws {
        let fixture = LogFixture([.when(.get, "/a", .json("1"))])
        for _ in 0..<3 { try fixture.run(fixture.client.get("/a")) }
        let all = fixture.replay()
        let limit = all.reduce(0) { $0 + $1.bytes.count } - 1
        let ids = fixture.params("requestWillBeSent").map { $0["requestId"] }
        let shown = fixture.replay(limit: limit).filter { $0["method"] == "Network.requestWillBeSent" }
        #expect(shown.map { $0["params"]?["requestId"] } == Array(ids.dropFirst()))
    }

    @Test func bytesThatAreLeftOutAreNoPartOfTheBody() async throws {
        let fixture = LogFixture([.when(.get, "/a", .bytes([UInt8](repeating: 65, count: 100)))])
        let inbox = TrafficInbox(RequestSampling(nil), byteLimit: 10)
        let subscription = fixture.client.traffic.subscribe(onNext: { inbox.append($0) })
        try fixture.run(fixture.client.get("/a"))
        subscription.cancel()
        let items = inbox.takeAll()
        let late = LogFixture([])
        late.take(items)
        let id = try #require(late.params("requestWillBeSent").first?["requestId"]?.string)
        #expect(late.params("dataReceived").map { $0["dataLength"] } == [100])
        #expect(
            late.names.firstIndex(of: "responseReceived") ?? .max < late.names.firstIndex(of: "dataReceived")
                ?? 0)
        let row = try #require(late.row(id))
        #expect((row.bodyCount, row.body) == (100, []))
    }

    @Test func requestsAreLeftOutWhileTheRecorderIsBehind() throws {
        let sampling = RequestSampling(nil)
        let inbox = TrafficInbox(sampling, itemLimit: 20)
        let fixture = LogFixture([.when(.get, "/a", .json("1"))])
        let subscription = fixture.client.traffic(sampling).subscribe(onNext: { inbox.append($0) })
        for _ in 0..<10 { try fixture.run(fixture.client.get("/a")) }
        // Each request has six events, and the fourth is complete.
        #expect(sampling.omittedCount == 6)
        #expect(inbox.takeAll().count <= 24)
        try fixture.run(fixture.client.get("/a"))
        #expect(sampling.omittedCount == 6)
        #expect(!inbox.takeAll().isEmpty)
        subscription.cancel()
    }

    @Test func bodiesAreKeptUpToTheLimit() throws {
        var settings = Inspector.Settings()
        settings.bodyLimit = 10
        let fixture = LogFixture(
            [.when(.get, "/a", .bytes([UInt8](repeating: 65, count: 100)))], settings: settings)
        try fixture.run(fixture.client.get("/a"))
        let id = try #require(fixture.params("requestWillBeSent").first?["requestId"]?.string)
        #expect(fixture.row(id)?.body.count == 10)
        #expect(fixture.row(id)?.bodyCount == 100)
    }
}
#endif
