#if Inspector
import Foundation
import RxNetworking
import RxTesting
import Testing

@testable import RxInspector

/// The rows of the Network panel, as messages of the protocol.
@Suite struct NetworkLogTests {
    @Test(arguments: [false, true])
    func aRequestFromItsBeginningToItsEnd(isBatched: Bool) throws {
        let fixture = LogFixture(
            [.when(.post, "/goods", .json("[1, 2]", after: .milliseconds(30)))], isBatched: isBatched)
        try fixture.run(fixture.client.post("/goods", ["name": "tea"], query: ["page": 2]))
        #expect(
            fixture.names == [
                "requestWillBeSent", "requestWillBeSentExtraInfo", "responseReceivedExtraInfo",
                "responseReceived", "dataReceived", "loadingFinished",
            ])
        let request = try #require(fixture.params("requestWillBeSent").first)
        #expect(request["request"]?["url"] == "https://a.test/goods?page=2")
        #expect(request["request"]?["method"] == "POST")
        #expect(request["request"]?["postData"] == #"{"name":"tea"}"#)
        #expect(request["type"] == "Fetch")
        let frames = request["initiator"]?["stack"]?["callFrames"]?.elements ?? []
        #expect(frames.map { $0["url"] } == ["POST /goods"])
        #expect(request["frameId"] == .string(NetworkMessage.frameID))
        let response = try #require(fixture.params("responseReceived").last)
        #expect(response["requestId"] == request["requestId"])
        #expect(response["response"]?["status"] == 200)
        #expect(response["response"]?["mimeType"] == "application/json")
        #expect(response["response"]?["securityState"] == "secure")
        #expect(fixture.params("dataReceived").first?["dataLength"] == 6)
        let id = try #require(request["requestId"]?.string)
        #expect(fixture.row(id)?.body == Array("[1, 2]".utf8))
    }

    /// The panel asserts that each request has one response.
    @Test func aResponseIsToldOnce() throws {
        let chunks = (0..<30).map { _ in ScriptedTransport.Step.chunk([65]) }
        let fixture = LogFixture([
            .when(
                .get, "/a", ScriptedTransport.Reply([.head(ResponseHead(status: .ok))] + chunks + [.finish])),
            .when(.get, "/moved", .status(.found, headers: [.location: "/a"])),
            .when(
                .get, "/broken",
                .steps(.head(ResponseHead(status: .ok)), .fail(NetworkError(.partialBody, "x")))),
        ])
        for path in ["/a", "/moved", "/broken"] { try fixture.run(fixture.client.get(path)) }
        let told = fixture.params("responseReceived").compactMap { $0["requestId"]?.string }
        #expect(told.count == 3)
        #expect(Set(told).count == 3)
        // A response that takes long is not held back until its end.
        let first = try #require(fixture.names.firstIndex(of: "responseReceived"))
        #expect(first < fixture.names.firstIndex(of: "loadingFinished") ?? 0)
        #expect(fixture.names[first...].filter { $0 == "dataReceived" }.count > 10)
    }

    @Test func thePhasesFollowEachOther() throws {
        let fixture = LogFixture([.when(.get, "/a", .json("1"))])
        try fixture.run(fixture.client.get("/a"))
        let known = try #require(fixture.params("requestWillBeSent").first?["requestId"]?.string)
        let exchange = try #require(fixture.row(known)?.exchange)
        let metrics = TransferMetrics(
            queued: .milliseconds(5), resolved: .milliseconds(10), connected: .milliseconds(30),
            secured: .milliseconds(60), sent: .milliseconds(61), firstByte: .milliseconds(90),
            total: .milliseconds(100))
        let url = try #require(URL(string: "https://a.test/"))
        let shown = ShownExchange(Request(url: url), Inspector.Settings())
        let row = NetworkRow(id: "1", shown, exchange: exchange, .fetch, [:], sentAt: .zero)
        let timing = ResourceTiming(row, metrics).document
        #expect(timing["requestTime"] == 0.005)
        for (name, time) in [
            ("dnsStart", 0.001), ("dnsEnd", 10), ("connectStart", 10), ("connectEnd", 60), ("sslStart", 30),
            ("sslEnd", 60), ("sendStart", 60), ("sendEnd", 61), ("receiveHeadersEnd", 90),
        ] {
            #expect(timing[name]?.number == time, "\(name)")
        }
    }

    @Test func theInitiatorHasTheLineOfTheStreamThatLedToIt() throws {
        StreamLog.shared.attach()
        defer { StreamLog.shared.detach() }
        let fixture = LogFixture([.when(.get, "/a", .json("1"))])
        let words = Observable<String, NetworkError>.just("a").inspected(
            "search", fileID: "App/Shop.swift", line: 7)
        try fixture.run(words.flatMap { fixture.client.get("/\($0)?b=c") })
        let initiator = try #require(fixture.params("requestWillBeSent").first?["initiator"])
        #expect(initiator["url"] == "GET /a Shop.swift")
        #expect(initiator["lineNumber"] == 6, "the panel adds one")
        #expect(initiator["stack"]?["callFrames"]?.elements?.first?["lineNumber"] == 6)
    }

    @Test func theInitiatorHasNoUserInfo() throws {
        let fixture = LogFixture([.when(.get, "/a", .json("1"))])
        try fixture.run(fixture.client.get("https://ada:canary7@a.test/a"))
        let shown = fixture.messages.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(fixture.params("requestWillBeSent").first?["initiator"]?["url"] == "GET /a")
        #expect(!shown.contains("canary7"))
    }

    @Test func eachAttemptIsARow() throws {
        let fixture = LogFixture([
            .when(.get, "/a", .failure(.connectionLost), .status(.serviceUnavailable), .json("1"))
        ]) { $0.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50))) }
        try fixture.run(fixture.client.get("/a"))
        let requests = fixture.params("requestWillBeSent")
        #expect(requests.count == 3)
        #expect(Set(requests.compactMap { $0["requestId"]?.string }).count == 3)
        let failure = try #require(fixture.params("loadingFailed").first)
        #expect(failure["requestId"] == requests[0]["requestId"])
        #expect(failure["errorText"]?.string?.hasPrefix("connectionLost GET https://a.test/a") == true)
        #expect(failure["canceled"] == false)
        #expect(failure["blockedReason"] == nil)
        #expect(
            fixture.params("loadingFinished").map { $0["requestId"] }
                == requests[1...].map { $0["requestId"] })
    }

    @Test func aRedirectContinuesItsRow() throws {
        let fixture = LogFixture([
            .when(.get, "/old", .status(.found, headers: [.location: "/new"])),
            .when(.get, "/new", .json("1")),
        ])
        try fixture.run(fixture.client.get("/old"))
        let requests = fixture.params("requestWillBeSent")
        #expect(requests.map { $0["request"]?["url"] } == ["https://a.test/old", "https://a.test/new"])
        #expect(requests[0]["requestId"] == requests[1]["requestId"])
        #expect(requests[0]["redirectResponse"] == nil)
        #expect(requests[1]["redirectResponse"]?["status"] == 302)
        #expect(requests[1]["redirectHasExtraInfo"] == true)
        #expect(fixture.params("requestWillBeSentExtraInfo").count == 2)
        #expect(fixture.params("responseReceivedExtraInfo").map { $0["statusCode"] } == [302, 200])
        #expect(requests[1]["redirectResponse"]?["url"] == "https://a.test/old")
        #expect(fixture.params("responseReceived").allSatisfy { $0["response"]?["status"] == 200 })
        #expect(fixture.params("loadingFinished").count == 1)
        #expect(fixture.params("loadingFailed").isEmpty)
    }

    @Test func aRedirectThatIsNotFollowedIsAResponse() throws {
        let fixture = LogFixture([.when(.get, "/old", .status(.found, headers: [.location: "/new"]))]) {
            $0.redirects = .manual
        }
        let url = try #require(URL(string: "https://a.test/old"))
        try fixture.run(fixture.client.exchange(Request(url: url)))
        #expect(fixture.params("responseReceived").last?["response"]?["status"] == 302)
        #expect(fixture.params("loadingFinished").count == 1)
    }

    @Test func aStoredResponseIsFromTheCache() throws {
        let fixture = LogFixture([.when(.get, "/a", .json("[7]", headers: [.cacheControl: "max-age=60"]))]) {
            $0.options.cachePolicy = .http
        }
        try fixture.run(fixture.client.get("/a"))
        try fixture.run(fixture.client.get("/a"))
        let cached = try #require(fixture.params("requestServedFromCache").first?["requestId"]?.string)
        #expect(fixture.params("requestServedFromCache").count == 1)
        #expect(fixture.params("requestWillBeSent").count == 2)
        #expect(fixture.params("requestWillBeSent").last?["requestId"] == .string(cached))
        #expect(fixture.row(cached)?.body == Array("[7]".utf8))
    }

    @Test func aDisabledCacheIsNotAsked() throws {
        let fixture = LogFixture([
            .when(.get, "/a", .json("[7]", headers: [.cacheControl: "max-age=60"]), .json("[8]"))
        ]) { $0.options.cachePolicy = .http }
        try fixture.run(fixture.client.get("/a"))
        fixture.client.apply(DeveloperTools(isCacheDisabled: true), of: fixture)
        try fixture.run(fixture.client.get("/a"))
        #expect(fixture.params("requestServedFromCache").isEmpty)
        #expect(fixture.params("responseReceivedExtraInfo").count == 2)
    }

    @Test func aCallThatIsNeverSentIsBlocked() throws {
        let fixture = LogFixture([]) { $0.options.interceptors = Interceptors(call: [Refusal()]) }
        try fixture.run(fixture.client.get("/a"))
        let failure = try #require(fixture.params("loadingFailed").first)
        #expect(failure["blockedReason"] == "other")
        #expect(failure["errorText"]?.string?.contains("unreachable") == true)
        #expect(fixture.params("requestWillBeSent").count == 1)
    }

    private struct Refusal: Interceptor {
        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> {
            .fail(NetworkError(.unreachable, "not today", request: request))
        }
    }

    @Test func anOfflineNetworkFails() throws {
        let fixture = LogFixture([]) { $0.reachability = nil }
        fixture.client.apply(DeveloperTools(network: EmulatedNetwork(isOffline: true)), of: fixture)
        try fixture.run(fixture.client.get("/a"))
        let failure = try #require(fixture.params("loadingFailed").first)
        #expect(failure["errorText"]?.string?.contains("unreachable") == true)
    }

    @Test func aCancelledCallIsCancelled() throws {
        let fixture = LogFixture([.when(.get, "/a", .stall)])
        try fixture.run(fixture.client.get("/a", options: RequestOptions(timeouts: .unlimited)))
        #expect(fixture.params("loadingFailed").first?["canceled"] == true)
    }

    @Test func aWebSocketAndItsFrames() throws {
        let fixture = LogFixture([
            .when(
                .get, "/live",
                .webSocket(
                    .send(.text(#"{"password":"7"}"#)), .send(.binary([1, 2])), .close(.normalClosure)))
        ])
        try fixture.run(fixture.client.webSocket("/live"))
        #expect(
            fixture.names == [
                "webSocketCreated", "webSocketWillSendHandshakeRequest", "webSocketHandshakeResponseReceived",
                "webSocketFrameReceived", "webSocketFrameReceived", "webSocketClosed",
            ])
        #expect(fixture.params("webSocketCreated").first?["url"] == "wss://a.test/live")
        let frames = fixture.params("webSocketFrameReceived").compactMap { $0["response"] }
        #expect(frames.map { $0["opcode"] } == [1, 2])
        #expect(frames.map { $0["payloadData"] } == [#"{"password":"…"}"#, "AQI="])
        #expect(frames.allSatisfy { $0["mask"] == false })
    }

    @Test func theEventsOfAStream() throws {
        let text = "event: price\nid: 7\ndata: {\"cents\":1}\n\ndata: two\n\n"
        let fixture = LogFixture([
            .when(.get, "/prices", .bytes(Array(text.utf8), headers: [.contentType: "text/event-stream"]))
        ])
        try fixture.run(fixture.client.stream(.get("/prices")))
        let events = fixture.params("eventSourceMessageReceived")
        #expect(events.map { $0["eventName"] } == ["price", "message"])
        #expect(events.map { $0["eventId"] } == ["7", "7"])
        #expect(events.map { $0["data"] } == [#"{"cents":1}"#, "two"])
        #expect(fixture.params("responseReceived").last?["type"] == "EventSource")
    }

    // MARK: - Secrets

    @Test(arguments: [false, true])
    func secretsAreShownByChoice(showsSecrets: Bool) throws {
        var settings = Inspector.Settings()
        settings.showsSecrets = showsSecrets
        let canary = "canary7"
        let fixture = LogFixture(
            [
                .when(
                    .post, "/login",
                    .json(#"{"token":"canary7"}"#, headers: [.setCookie: "sid=canary7; Path=/; HttpOnly"]))
            ], settings: settings)
        let request = fixture.client.post(
            "/login", ["password": "canary7"], query: ["api_key": "canary7"],
            headers: ["Authorization": "Bearer canary7", "Cookie": "a=canary7; b=canary7"])
        try fixture.run(request)
        let shown = fixture.messages.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        #expect(shown.contains(canary) == showsSecrets)
        let id = try #require(fixture.params("requestWillBeSent").first?["requestId"]?.string)
        let row = try #require(fixture.row(id))
        let body = row.shown.body(row.body, type: "application/json")
        #expect(body["body"]?.string?.contains(canary) == showsSecrets)
        for type in ["text/plain", nil] {
            let untyped = row.shown.body(row.body, type: type)
            #expect(untyped["body"]?.string?.contains(canary) == showsSecrets)
        }
        #expect(row.shown.postData(limit: 1000)?.contains(canary) == showsSecrets)
        let cookies = fixture.params("requestWillBeSentExtraInfo").first?["associatedCookies"]?.elements ?? []
        #expect(cookies.map { $0["cookie"]?["name"] } == ["a", "b"])
        let field = fixture.params("responseReceivedExtraInfo").first?["headers"]?["Set-Cookie"]?.string
        #expect(field == "sid=\(showsSecrets ? canary : "…"); Path=/; HttpOnly")
    }

    /// Cookies are cut by bytes, as servers cut them: U+0600 and U+0301 make one `Character` of two, and U+037E equals a
    /// semicolon.
    @Test(arguments: [
        ("sid=\u{301}canary7==", "sid=…"), ("sid\u{600}=canary7==", "sid\u{600}=…"),
        ("sid=a\u{37E}canary7", "sid=…"), ("canary7", "…"),
    ])
    func valuesOfCookiesAreHidden(cookie: String, hidden: String) throws {
        let request = Request(
            url: try #require(URL(string: "https://a.test/")), headerFields: [.cookie: "a=1; \(cookie)"])
        let shown = ShownExchange(request, Inspector.Settings())
        let head = ResponseHead(status: .ok, headerFields: [.setCookie: "\(cookie); Path=/"])
        let set = shown.headers(of: head)
        #expect(set.bytes == JSON.object([("Set-Cookie", .string("\(hidden); Path=/"))]).bytes)
        for json in [set, shown.requestHeaders, shown.cookies] {
            #expect(!String(decoding: json.bytes, as: UTF8.self).contains("canary7"))
        }
    }

    @Test func aFrontEndThatComesLaterIsToldTheSame() throws {
        let fixture = LogFixture([.when(.get, "/a", .json("[1]"))], isBatched: true)
        try fixture.run(fixture.client.get("/a"))
        #expect(Set(LogFixture.names(fixture.replay())) == Set(fixture.names))
        #expect(LogFixture.names(fixture.replay()).last == "loadingFinished")
    }

    // MARK: - Throttling

    @Test func anEmulatedNetworkIsSlow() throws {
        let fixture = LogFixture([.when(.post, "/a", .bytes([UInt8](repeating: 65, count: 1000)))])
        fixture.client.apply(
            DeveloperTools(
                network: EmulatedNetwork(latency: .milliseconds(100), downloadRate: 1000, uploadRate: 100)),
            of: fixture)
        let recorder = Recorder(
            fixture.client.post("/a", .text(String(repeating: "a", count: 50))), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values.count == 1)
        #expect(fixture.clock.now == .milliseconds(100 + 500 + 1000))
    }
}
#endif
