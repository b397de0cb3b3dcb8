#if Tracing
import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxTracing
import RxWebSocket
import Testing
import Tracing

/// The spans of calls and exchanges.
@Suite struct SpanTests {
    @Test func aCallIsASpanWithOneChildForItsExchange() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/users/7", .json("[1]", after: .milliseconds(30)))
        ])
        let answer = Recorder(
            fixture.client.get("/users/{id}", at: ["id": 7], query: ["page": 2]), on: fixture.clock)
        try fixture.clock.run()
        #expect(answer.values.count == 1)
        let call = try #require(fixture.calls.first)
        let exchange = try #require(fixture.exchanges.first)
        #expect(fixture.tracer.finishedSpans.count == 2 && fixture.openCount == 0)
        #expect(call.operationName == "GET /v1/users/{id}")
        #expect(exchange.operationName == "GET /v1/users/{id}")
        #expect(call.parentSpanID == nil)
        #expect(exchange.parentSpanID == call.spanID)
        #expect(exchange.traceID == call.traceID)
        #expect([call.milliseconds, exchange.milliseconds] == [30, 30])
        #expect(exchange["http.request.method"] == "GET")
        #expect(exchange["url.full"] == "https://shop.test/v1/users/7")
        #expect(exchange["url.template"] == "/v1/users/{id}")
        #expect(exchange["server.address"] == "shop.test")
        #expect(exchange["server.port"] == "443")
        #expect(exchange["http.response.status_code"] == "200")
        #expect(exchange["http.request.resend_count"] == nil)
        #expect(exchange["error.type"] == nil && exchange.status == nil && call.status == nil)
        #expect(call["rxnetworking.call.kind"] == "request")
        #expect(call["http.response.status_code"] == "200")
        #expect(exchange.events.map(\.name) == ["first byte"])
    }

    @Test(arguments: [
        ("https://shop.test/v1", "users/7", "/v1/users/7"),
        ("https://shop.test/v1/", "/users", "/v1/users"),
        ("https://shop.test", "/users", "/users"), ("https://shop.test/v1", "", "/v1"),
        ("https://shop.test/v1", "?page=1", "/v1"), ("https://shop.test/v1", "find?\u{301}a", "/v1/find"),
        ("https://shop.test/v1", "HTTPS://shop.test/v1/users?page=1", "/v1/users"),
        ("https://shop.test/v1", "/proxy/https://other.test/7?a=b", "/v1/proxy/https://other.test/7"),
    ])
    func theTemplateIsAPathOfTheServer(base: String, path: String, template: String) throws {
        let fixture = TracingFixture([]) { $0.baseURL = base }
        _ = Recorder(fixture.client.get(path), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.calls.first?["url.template"] == template)
    }

    @Test func theTemplateIsAPathOfTheStandbyServerIfThatIsAsked() throws {
        let fixture = TracingFixture([.when(.get, "/v2/users/7", .json("[]"))]) {
            $0.standbyURL = "https://standby.test/v2"
        }
        var options = RequestOptions()
        options.server = .standby
        let answer = Recorder(
            fixture.client.get("/users/{id}", at: ["id": 7], options: options), on: fixture.clock)
        try fixture.clock.run()
        #expect(answer.values.count == 1)
        #expect(fixture.exchanges.first?["server.address"] == "standby.test")
        #expect(fixture.exchanges.first?["url.template"] == "/v2/users/{id}")
        #expect(fixture.exchanges.first?.operationName == "GET /v2/users/{id}")
        #expect(fixture.calls.first?.operationName == "GET /v1/users/{id}")
    }

    @Test func theTemplateOfARedirectIsAPathOfTheServerThatItLeadsTo() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/users/7", .json("[]")),
            .when(.get, "/v2/users/7", .status(.found, headers: [.location: "https://shop.test/v1/users/7"])),
        ]) { $0.standbyURL = "https://standby.test/v2" }
        var options = RequestOptions()
        options.server = .standby
        _ = Recorder(fixture.client.get("/users/{id}", at: ["id": 7], options: options), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.map { $0["server.address"] } == ["standby.test", "shop.test"])
        #expect(fixture.exchanges.map { $0["url.template"] } == ["/v2/users/{id}", "/v1/users/{id}"])
    }

    @Test func aRetryIsAnEventAndASecondChild() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/goods", .failure(.connectionLost), .status(.serviceUnavailable), .json("[]"))
        ])
        _ = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.run()
        let call = try #require(fixture.calls.first)
        #expect(fixture.exchanges.map { $0["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(fixture.exchanges.map { $0["error.type"] } == ["connectionLost", "503", nil])
        #expect(fixture.exchanges.map { $0.status?.code } == [.error, .error, nil])
        #expect(fixture.exchanges.map(\.errors.count) == [1, 0, 0])
        #expect(Set(fixture.exchanges.map(\.parentSpanID)) == [call.spanID])
        #expect(call.events.map(\.name) == ["retry", "retry"])
        #expect(call.status == nil)
    }

    @Test func aReloginIsAnEvent() throws {
        let session = Session(credential: Credential(token: "old")) {
            .just(Credential(token: "new"))
        }
        let fixture = TracingFixture([.when(.get, "/v1/goods", .status(.unauthorized), .json("[]"))]) {
            $0.session = session
        }
        _ = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.calls.first?.events.map(\.name) == ["relogin"])
        #expect(fixture.exchanges.map { $0["error.type"] } == ["401", nil])
    }

    @Test func theCacheAndJoinedCallsAreEvents() throws {
        let fixture = TracingFixture([.when(.get, "/v1/goods", .json("[]", after: .milliseconds(5)))]) {
            $0.options.cachePolicy = .time(.seconds(60))
        }
        for _ in 0..<2 { _ = Recorder(fixture.client.get("/goods"), on: fixture.clock) }
        try fixture.clock.run()
        _ = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.count == 1)
        let uses = fixture.calls.flatMap(\.events).map { event in
            event.attributes.get("rxnetworking.cache.use")
        }
        #expect(uses == [.string("joined"), .string("fresh")])
        #expect(fixture.calls.allSatisfy { $0.status == nil })
    }

    @Test func exchangesOfACallThatOthersWaitForStayInItsTrace() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/goods", .status(.serviceUnavailable), .json("[]", after: .milliseconds(5)))
        ]) {
            $0.options.cachePolicy = .time(.seconds(60))
        }
        let first = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        let second = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(20))
        first.cancel()
        try fixture.clock.run()
        #expect(second.values.count == 1)
        #expect(fixture.exchanges.count == 2)
        let call = try #require(fixture.calls.first { $0["error.type"] == "cancelled" })
        #expect(fixture.exchanges.allSatisfy { $0.parentSpanID == call.spanID && $0.traceID == call.traceID })
    }

    /// The attributes that most exchanges have in common are kept from one to the next; each still has its own URL and status.
    @Test func eachExchangeHasItsOwnURLAndStatus() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/users/7", .json("7"), .json("7")), .when(.get, "/v1/users/8", .json("8")),
            .when(.get, "/v1/users/9", .status(.notFound)),
        ])
        for id in [7, 8, 9, 7] {
            _ = Recorder(fixture.client.get("/users/{id}", at: ["id": id]), on: fixture.clock)
            try fixture.clock.run()
        }
        #expect(
            fixture.exchanges.map { "\($0["url.full"] ?? "") \($0["http.response.status_code"] ?? "")" } == [
                "https://shop.test/v1/users/7 200", "https://shop.test/v1/users/8 200",
                "https://shop.test/v1/users/9 404", "https://shop.test/v1/users/7 200",
            ])
        #expect(fixture.exchanges.allSatisfy { $0["url.template"] == "/v1/users/{id}" })
        #expect(fixture.calls.map { $0["http.response.status_code"] } == ["200", "200", "404", "200"])
    }

    @Test func eachHopOfARedirectIsAChild() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/old", .status(.found, headers: [.location: "/v1/new"])),
            .when(.get, "/v1/new", .json("[]")),
        ])
        _ = Recorder(fixture.client.get("/old"), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.map { $0["http.response.status_code"] } == ["302", "200"])
        #expect(fixture.exchanges.map { $0["error.type"] } == [nil, nil])
        #expect(
            fixture.exchanges.map { $0["url.full"] } == [
                "https://shop.test/v1/old", "https://shop.test/v1/new",
            ])
        #expect(fixture.exchanges.last?["http.request.resend_count"] == "1")
    }

    @Test func aFailureIsRecordedInBothSpans() throws {
        let fixture = TracingFixture([.when(.get, "/v1/goods", .failure(.connect))]) {
            $0.options.retry = .never
        }
        _ = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.run()
        for span in fixture.tracer.finishedSpans {
            #expect(span["error.type"] == "connect")
            #expect(span.status?.code == .error)
            #expect((span.errors.first?.error as? NetworkError)?.code == .connect)
        }
        #expect(fixture.tracer.finishedSpans.count == 2)
    }

    @Test func aCancelledCallEndsItsSpans() throws {
        let fixture = TracingFixture([.when(.get, "/v1/goods", .stall)])
        let answer = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(7))
        answer.cancel()
        #expect(fixture.tracer.finishedSpans.map { $0["error.type"] } == ["cancelled", "cancelled"])
        #expect(fixture.tracer.finishedSpans.map(\.milliseconds) == [7, 7])
        #expect(fixture.openCount == 0)
    }

    @Test func streamsAndDownloadsAreCalls() throws {
        let fixture = TracingFixture([.when(.get, "/v1/map", .bytes([1, 2, 3], after: .milliseconds(3)))])
        let files = MemoryFileSystem(on: fixture.clock)
        let chunks = Recorder(fixture.client.stream(.get("/map")).chunks(), on: fixture.clock)
        try fixture.clock.run()
        let file = Recorder(fixture.client.download(.get("/map"), to: "/map", in: files), on: fixture.clock)
        try fixture.clock.run()
        #expect(chunks.values == [[1, 2, 3]])
        #expect(file.values.isEmpty == false)
        #expect(fixture.calls.map { $0["rxnetworking.call.kind"] } == ["stream", "download"])
        #expect(fixture.calls.map(\.status) == [nil, nil])
        #expect(fixture.exchanges.map(\.parentSpanID) == fixture.calls.map(\.spanID))
    }

    @Test func leavingAStreamIsNoError() throws {
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        let fixture = TracingFixture([
            .when(.get, "/v1/feed", .steps(.head(head), .chunk(Array("data: 1\n\n".utf8)), .stall)),
            .when(.get, "/v1/chat", .webSocket(.send(.text("hello")))),
        ])
        _ = Recorder(fixture.client.events(.get("/feed")).take(1), on: fixture.clock)
        _ = Recorder(fixture.client.webSocket(.get("/chat")).take(1), on: fixture.clock)
        let early = Recorder(fixture.client.stream(.get("/feed")), on: fixture.clock)
        early.cancel()
        try fixture.clock.run()
        let errors = Set(fixture.calls.map { [$0["rxnetworking.call.kind"], $0["error.type"]] })
        #expect(errors == [["events", nil], ["webSocket", nil], ["stream", "cancelled"]])
        #expect(fixture.openCount == 0)
    }

    @Test func aTimeLimitOfTheCallIsTheErrorOfBothSpans() throws {
        for path in ["/goods", "/chat"] {
            let fixture = TracingFixture([.when(.get, "/v1" + path, .stall)]) {
                $0.options.timeouts = Timeouts(total: .seconds(2))
            }
            if path == "/goods" {
                _ = Recorder(fixture.client.get("/goods"), on: fixture.clock)
            } else {
                _ = Recorder(fixture.client.webSocket(.get("/chat")).take(1), on: fixture.clock)
            }
            try fixture.clock.advance(by: .seconds(2))
            #expect(fixture.exchanges.first?["error.type"] == "totalTimeout")
        }
    }

    @Test func aHandshakeThatTheClientRejectsIsNoSuccess() throws {
        let fixture = TracingFixture([
            .when(
                .get, "/v1/chat",
                .status(
                    .switchingProtocols,
                    headers: [
                        .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: "bad",
                    ]))
        ])
        _ = Recorder(fixture.client.webSocket(.get("/chat")), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.map { $0["error.type"] } == ["invalidResponse"])
        #expect(fixture.openCount == 0)
    }

    @Test func aRedirectToAnotherServiceHasNoTemplate() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/old", .status(.found, headers: [.location: "https://other.test/files/7"])),
            .when(.get, "/files/7", .json("[]")),
        ])
        _ = Recorder(fixture.client.get("/old"), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.map { $0["url.template"] } == ["/v1/old", nil])
    }

    @Test func aWebSocketIsACall() throws {
        let fixture = TracingFixture([
            .when(.get, "/v1/chat", .webSocket(.send(.text("hello")), .close(.normalClosure)))
        ])
        let messages = Recorder(fixture.client.webSocket(.get("/chat")), on: fixture.clock)
        try fixture.clock.run()
        _ = messages
        #expect(fixture.calls.map { $0["rxnetworking.call.kind"] } == ["webSocket"])
        #expect(fixture.exchanges.map { $0["http.response.status_code"] } == ["101"])
        #expect(fixture.tracer.finishedSpans.allSatisfy { $0.status == nil })
        #expect(fixture.openCount == 0)
    }

    @Test func rawRequestsAreCalls() throws {
        let fixture = TracingFixture([.when(nil, "/x", .bytes([1]))])
        let request = Request(
            method: HTTPRequest.Method("PURGE")!, url: URL(string: "https://shop.test/x?secret=s7")!)
        _ = Recorder(fixture.client.exchange(request), on: fixture.clock)
        try fixture.clock.run()
        #expect(fixture.exchanges.map(\.operationName) == ["HTTP"])
        #expect(fixture.exchanges.map { $0["http.request.method"] } == ["_OTHER"])
        #expect(fixture.exchanges.map { $0["http.request.method_original"] } == ["PURGE"])
        #expect(fixture.exchanges.map { $0["url.full"] } == ["https://shop.test/x"])
    }

    @Test func cancellingTheSubscriptionEndsTheTracing() throws {
        let clock = VirtualScheduler()
        let tracer = InMemoryTracer()
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"),
            transport: ScriptedTransport(on: clock, [.when(.get, "/goods", .json("[]"))]))
        client.traceCalls(with: tracer).cancel()
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(tracer.finishedSpans.isEmpty && tracer.performedContextInjections.isEmpty)
    }
}
#endif
