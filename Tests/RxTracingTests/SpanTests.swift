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
        let bench = TracingBench([
            .when(.get, "/v1/users/7", .json("[1]", after: .milliseconds(30)))
        ])
        let answer = Recorder(
            bench.client.get("/users/{id}", at: ["id": 7], query: ["page": 2]), on: bench.clock)
        try bench.clock.run()
        #expect(answer.values.count == 1)
        let call = try #require(bench.calls.first)
        let exchange = try #require(bench.exchanges.first)
        #expect(bench.tracer.finishedSpans.count == 2 && bench.openCount == 0)
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
        ("https://shop.test/v1", "?page=1", "/v1"),
        ("https://shop.test/v1", "HTTPS://shop.test/v1/users?page=1", "/v1/users"),
        ("https://shop.test/v1", "/proxy/https://other.test/7?a=b", "/v1/proxy/https://other.test/7"),
    ])
    func theTemplateIsAPathOfTheServer(base: String, path: String, template: String) throws {
        let bench = TracingBench([]) { $0.baseURL = base }
        _ = Recorder(bench.client.get(path), on: bench.clock)
        try bench.clock.run()
        #expect(bench.calls.first?["url.template"] == template)
    }

    @Test func theTemplateIsAPathOfTheStandbyServerIfThatIsAsked() throws {
        let bench = TracingBench([.when(.get, "/v2/users/7", .json("[]"))]) {
            $0.standbyURL = "https://standby.test/v2"
        }
        var options = RequestOptions()
        options.server = .standby
        let answer = Recorder(
            bench.client.get("/users/{id}", at: ["id": 7], options: options), on: bench.clock)
        try bench.clock.run()
        #expect(answer.values.count == 1)
        #expect(bench.exchanges.first?["server.address"] == "standby.test")
        #expect(bench.exchanges.first?["url.template"] == "/v2/users/{id}")
        #expect(bench.exchanges.first?.operationName == "GET /v2/users/{id}")
        #expect(bench.calls.first?.operationName == "GET /v1/users/{id}")
    }

    @Test func theTemplateOfARedirectIsAPathOfTheServerThatItLeadsTo() throws {
        let bench = TracingBench([
            .when(.get, "/v1/users/7", .json("[]")),
            .when(.get, "/v2/users/7", .status(.found, headers: [.location: "https://shop.test/v1/users/7"])),
        ]) { $0.standbyURL = "https://standby.test/v2" }
        var options = RequestOptions()
        options.server = .standby
        _ = Recorder(bench.client.get("/users/{id}", at: ["id": 7], options: options), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.map { $0["server.address"] } == ["standby.test", "shop.test"])
        #expect(bench.exchanges.map { $0["url.template"] } == ["/v2/users/{id}", "/v1/users/{id}"])
    }

    @Test func aRetryIsAnEventAndASecondChild() throws {
        let bench = TracingBench([
            .when(.get, "/v1/goods", .failure(.connectionLost), .status(.serviceUnavailable), .json("[]"))
        ])
        _ = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.run()
        let call = try #require(bench.calls.first)
        #expect(bench.exchanges.map { $0["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(bench.exchanges.map { $0["error.type"] } == ["connectionLost", "503", nil])
        #expect(bench.exchanges.map { $0.status?.code } == [.error, .error, nil])
        #expect(bench.exchanges.map(\.errors.count) == [1, 0, 0])
        #expect(Set(bench.exchanges.map(\.parentSpanID)) == [call.spanID])
        #expect(call.events.map(\.name) == ["retry", "retry"])
        #expect(call.status == nil)
    }

    @Test func aReloginIsAnEvent() throws {
        let session = Session(credential: Credential(token: "old")) {
            .just(Credential(token: "new"))
        }
        let bench = TracingBench([.when(.get, "/v1/goods", .status(.unauthorized), .json("[]"))]) {
            $0.session = session
        }
        _ = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.run()
        #expect(bench.calls.first?.events.map(\.name) == ["relogin"])
        #expect(bench.exchanges.map { $0["error.type"] } == ["401", nil])
    }

    @Test func theCacheAndJoinedCallsAreEvents() throws {
        let bench = TracingBench([.when(.get, "/v1/goods", .json("[]", after: .milliseconds(5)))]) {
            $0.options.cachePolicy = .time(.seconds(60))
        }
        for _ in 0..<2 { _ = Recorder(bench.client.get("/goods"), on: bench.clock) }
        try bench.clock.run()
        _ = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.count == 1)
        let uses = bench.calls.flatMap(\.events).map { event in
            event.attributes.get("rxnetworking.cache.use")
        }
        #expect(uses == [.string("joined"), .string("fresh")])
        #expect(bench.calls.allSatisfy { $0.status == nil })
    }

    @Test func exchangesOfACallThatOthersWaitForStayInItsTrace() throws {
        let bench = TracingBench([
            .when(.get, "/v1/goods", .status(.serviceUnavailable), .json("[]", after: .milliseconds(5)))
        ]) {
            $0.options.cachePolicy = .time(.seconds(60))
        }
        let first = Recorder(bench.client.get("/goods"), on: bench.clock)
        let second = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(20))
        first.cancel()
        try bench.clock.run()
        #expect(second.values.count == 1)
        #expect(bench.exchanges.count == 2)
        let call = try #require(bench.calls.first { $0["error.type"] == "cancelled" })
        #expect(bench.exchanges.allSatisfy { $0.parentSpanID == call.spanID && $0.traceID == call.traceID })
    }

    @Test func eachHopOfARedirectIsAChild() throws {
        let bench = TracingBench([
            .when(.get, "/v1/old", .status(.found, headers: [.location: "/v1/new"])),
            .when(.get, "/v1/new", .json("[]")),
        ])
        _ = Recorder(bench.client.get("/old"), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.map { $0["http.response.status_code"] } == ["302", "200"])
        #expect(bench.exchanges.map { $0["error.type"] } == [nil, nil])
        #expect(
            bench.exchanges.map { $0["url.full"] } == [
                "https://shop.test/v1/old", "https://shop.test/v1/new",
            ])
        #expect(bench.exchanges.last?["http.request.resend_count"] == "1")
    }

    @Test func aFailureIsRecordedInBothSpans() throws {
        let bench = TracingBench([.when(.get, "/v1/goods", .failure(.connect))]) {
            $0.options.retry = .never
        }
        _ = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.run()
        for span in bench.tracer.finishedSpans {
            #expect(span["error.type"] == "connect")
            #expect(span.status?.code == .error)
            #expect((span.errors.first?.error as? NetworkError)?.code == .connect)
        }
        #expect(bench.tracer.finishedSpans.count == 2)
    }

    @Test func aCancelledCallEndsItsSpans() throws {
        let bench = TracingBench([.when(.get, "/v1/goods", .stall)])
        let answer = Recorder(bench.client.get("/goods"), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(7))
        answer.cancel()
        #expect(bench.tracer.finishedSpans.map { $0["error.type"] } == ["cancelled", "cancelled"])
        #expect(bench.tracer.finishedSpans.map(\.milliseconds) == [7, 7])
        #expect(bench.openCount == 0)
    }

    @Test func streamsAndDownloadsAreCalls() throws {
        let bench = TracingBench([.when(.get, "/v1/map", .bytes([1, 2, 3], after: .milliseconds(3)))])
        let files = MemoryFileSystem(on: bench.clock)
        let chunks = Recorder(bench.client.stream(.get("/map")).chunks(), on: bench.clock)
        try bench.clock.run()
        let file = Recorder(bench.client.download(.get("/map"), to: "/map", in: files), on: bench.clock)
        try bench.clock.run()
        #expect(chunks.values == [[1, 2, 3]])
        #expect(file.values.isEmpty == false)
        #expect(bench.calls.map { $0["rxnetworking.call.kind"] } == ["stream", "download"])
        #expect(bench.calls.map(\.status) == [nil, nil])
        #expect(bench.exchanges.map(\.parentSpanID) == bench.calls.map(\.spanID))
    }

    @Test func leavingAStreamIsNoError() throws {
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        let bench = TracingBench([
            .when(.get, "/v1/feed", .steps(.head(head), .chunk(Array("data: 1\n\n".utf8)), .stall)),
            .when(.get, "/v1/chat", .webSocket(.send(.text("hello")))),
        ])
        _ = Recorder(bench.client.events(.get("/feed")).take(1), on: bench.clock)
        _ = Recorder(bench.client.webSocket(.get("/chat")).take(1), on: bench.clock)
        let early = Recorder(bench.client.stream(.get("/feed")), on: bench.clock)
        early.cancel()
        try bench.clock.run()
        let errors = Set(bench.calls.map { [$0["rxnetworking.call.kind"], $0["error.type"]] })
        #expect(errors == [["events", nil], ["webSocket", nil], ["stream", "cancelled"]])
        #expect(bench.openCount == 0)
    }

    @Test func aTimeLimitOfTheCallIsTheErrorOfBothSpans() throws {
        for path in ["/goods", "/chat"] {
            let bench = TracingBench([.when(.get, "/v1" + path, .stall)]) {
                $0.options.timeouts = Timeouts(total: .seconds(2))
            }
            if path == "/goods" {
                _ = Recorder(bench.client.get("/goods"), on: bench.clock)
            } else {
                _ = Recorder(bench.client.webSocket(.get("/chat")).take(1), on: bench.clock)
            }
            try bench.clock.advance(by: .seconds(2))
            #expect(bench.exchanges.first?["error.type"] == "totalTimeout")
        }
    }

    @Test func aHandshakeThatTheClientRejectsIsNoSuccess() throws {
        let bench = TracingBench([
            .when(
                .get, "/v1/chat",
                .status(
                    .switchingProtocols,
                    headers: [
                        .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: "bad",
                    ]))
        ])
        _ = Recorder(bench.client.webSocket(.get("/chat")), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.map { $0["error.type"] } == ["invalidResponse"])
        #expect(bench.openCount == 0)
    }

    @Test func aRedirectToAnotherServiceHasNoTemplate() throws {
        let bench = TracingBench([
            .when(.get, "/v1/old", .status(.found, headers: [.location: "https://other.test/files/7"])),
            .when(.get, "/files/7", .json("[]")),
        ])
        _ = Recorder(bench.client.get("/old"), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.map { $0["url.template"] } == ["/v1/old", nil])
    }

    @Test func aWebSocketIsACall() throws {
        let bench = TracingBench([
            .when(.get, "/v1/chat", .webSocket(.send(.text("hello")), .close(.normalClosure)))
        ])
        let messages = Recorder(bench.client.webSocket(.get("/chat")), on: bench.clock)
        try bench.clock.run()
        _ = messages
        #expect(bench.calls.map { $0["rxnetworking.call.kind"] } == ["webSocket"])
        #expect(bench.exchanges.map { $0["http.response.status_code"] } == ["101"])
        #expect(bench.tracer.finishedSpans.allSatisfy { $0.status == nil })
        #expect(bench.openCount == 0)
    }

    @Test func handmadeRequestsAreCalls() throws {
        let bench = TracingBench([.when(nil, "/x", .bytes([1]))])
        let request = Request(
            method: HTTPRequest.Method("PURGE")!, url: URL(string: "https://shop.test/x?secret=s7")!)
        _ = Recorder(bench.client.exchange(request), on: bench.clock)
        try bench.clock.run()
        #expect(bench.exchanges.map(\.operationName) == ["HTTP"])
        #expect(bench.exchanges.map { $0["http.request.method"] } == ["_OTHER"])
        #expect(bench.exchanges.map { $0["http.request.method_original"] } == ["PURGE"])
        #expect(bench.exchanges.map { $0["url.full"] } == ["https://shop.test/x"])
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
