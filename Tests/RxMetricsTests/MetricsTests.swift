#if Metrics
import CoreMetrics
import Foundation
import HTTPTypes
import MetricsTestKit
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxMetrics
import RxParameters
import RxTesting
import Testing

/// The metrics of calls, by names and attributes of the conventions.
@Suite struct MetricsTests {
    private let clock = VirtualScheduler()
    private let metrics = TestMetrics()

    private struct Goods: Endpoint {
        typealias Output = [Int]
        let path = "/goods"
    }

    private func client(
        _ rules: [ScriptedTransport.Rule],
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://shop.test/v1")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50)))
        configure(&configuration)
        let client = Client(
            configuration: configuration, transport: ScriptedTransport(on: clock, rules))
        client.recordMetrics(in: metrics)
        return client
    }

    /// The attributes of requests with this method and template.
    private func attributes(
        _ method: String, _ template: String?, _ more: (String, String)...
    ) -> [(String, String)] {
        [
            ("http.request.method", method), ("server.address", "shop.test"),
            ("server.port", "443"), ("url.scheme", "https"),
        ] + (template.map { [("url.template", "/v1" + $0)] } ?? []) + more
    }

    @Test func anExchangeIsRecordedByTheConventions() throws {
        let client = client([
            .when(.post, "/v1/users/7/orders", .json("[1, 2]", after: .milliseconds(30)))
        ])
        let answer = Recorder(
            client.post("/users/{id}/orders", at: ["id": 7], .text("12345")), on: clock)
        let active = try metrics.value(
            of: "http.client.active_requests", attributes("POST", "/users/{id}/orders"))
        #expect(active == 1)
        try clock.run()
        #expect(answer.values.count == 1)
        #expect(
            try metrics.value(
                of: "http.client.active_requests", attributes("POST", "/users/{id}/orders")) == 0)
        let outcome = attributes(
            "POST", "/users/{id}/orders", ("http.response.status_code", "200"))
        let duration = try #require(
            metrics.timers(label: "http.client.request.duration", dimensions: outcome).first)
        #expect(duration.values == [30_000_000])
        #expect(duration.displayUnit == .seconds)
        let sizes = metrics.recorders(label: "http.client.response.body.size", dimensions: outcome)
        #expect(sizes.map(\.values.count) == [1])
        #expect(metrics.recorders(label: "http.client.request.body.size").map(\.values.count) == [1])
    }

    @Test func theTemplateIsAPathOfTheStandbyServerIfThatIsAsked() throws {
        let client = client([.when(.get, "/v2/users/7", .json("[]"))]) {
            $0.standbyURL = "https://standby.test/v2"
        }
        var options = RequestOptions()
        options.server = .standby
        let answer = Recorder(client.get("/users/{id}", at: ["id": 7], options: options), on: clock)
        try clock.run()
        #expect(answer.values.count == 1)
        let timer = try #require(metrics.timers(label: "http.client.request.duration").first)
        #expect(timer.dimensions.contains { $0 == ("server.address", "standby.test") })
        #expect(timer.dimensions.contains { $0 == ("url.template", "/v2/users/{id}") })
    }

    @Test func failuresAndStatusesAreErrors() throws {
        let client = client([
            .when(.get, "/v1/missing", .status(.notFound)),
            .when(.get, "/v1/broken", .failure(.connectionLost, after: .milliseconds(5))),
        ]) { $0.options.retry = .never }
        _ = Recorder(client.get("/missing"), on: clock)
        _ = Recorder(client.get("/broken"), on: clock)
        try clock.run()
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes(
                    "GET", "/missing", ("http.response.status_code", "404"), ("error.type", "404"))
            ).values.count == 1)
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes("GET", "/broken", ("error.type", "connectionLost"))
            ).values == [5_000_000])
    }

    @Test func aCancelledRequestIsNoLongerActive() throws {
        let client = client([.when(.get, "/v1/goods", .stall)])
        let answer = Recorder(client.get("/goods"), on: clock)
        try clock.advance(by: .milliseconds(7))
        answer.cancel()
        #expect(
            try metrics.value(of: "http.client.active_requests", attributes("GET", "/goods")) == 0)
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration", attributes("GET", "/goods", ("error.type", "cancelled"))
            ).values == [7_000_000])
    }

    @Test func aTimeLimitOfTheCallIsItsOwnError() throws {
        let client = client([.when(.get, "/v1/goods", .stall), .when(.get, "/v1/chat", .stall)]) {
            $0.options.timeouts = Timeouts(total: .seconds(2))
        }
        let answer = Recorder(client.get("/goods"), on: clock)
        let chat = Recorder(client.webSocket(.get("/chat")).take(1), on: clock)
        try clock.advance(by: .seconds(3))
        _ = (answer, chat)
        for path in ["/goods", "/chat"] {
            #expect(
                try metrics.expectTimer(
                    "http.client.request.duration",
                    attributes("GET", path, ("error.type", "totalTimeout"))
                ).values.first == 2_000_000_000)
            #expect(
                metrics.timers(
                    label: "http.client.request.duration",
                    dimensions: attributes("GET", path, ("error.type", "cancelled"))
                ).isEmpty)
        }
    }

    @Test func aHandshakeThatTheClientRejectsIsNoSuccess() throws {
        let client = client([
            .when(
                .get, "/v1/chat",
                .status(
                    .switchingProtocols,
                    headers: [
                        .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: "bad",
                    ]))
        ])
        let chat = Recorder(client.webSocket(.get("/chat")), on: clock)
        try clock.run()
        _ = chat
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes(
                    "GET", "/chat", ("http.response.status_code", "101"), ("error.type", "invalidResponse"))
            ).values.count == 1)
    }

    @Test func aRedirectToAnotherServiceHasNoTemplate() throws {
        let client = client([
            .when(.get, "/v1/old", .status(.found, headers: [.location: "https://other.test/files/7"])),
            .when(.get, "/files/7", .json("[]")),
        ])
        _ = Recorder(client.get("/old"), on: clock)
        try clock.run()
        let templates = metrics.timers(label: "http.client.request.duration").map { timer in
            timer.dimensions.first { $0.0 == "url.template" }?.1
        }
        #expect(Set(templates) == ["/v1/old", nil])
    }

    @Test func leavingAStreamIsNoError() throws {
        let client = client([
            .when(
                .get, "/v1/feed",
                .steps(
                    .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])),
                    .chunk(Array("data: 1\n\n".utf8)), .stall))
        ])
        let events = Recorder(client.events(.get("/feed")).take(1), on: clock)
        try clock.run()
        #expect(events.isFinished)
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes("GET", "/feed", ("http.response.status_code", "200"))
            ).values.count == 1)
    }

    @Test func eachAttemptAndEachHopCounts() throws {
        let client = client([
            .when(.get, "/v1/goods", .status(.serviceUnavailable), .json("[]")),
            .when(.get, "/v1/old", .status(.found, headers: [.location: "/v1/goods"])),
        ])
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(metrics.timers(label: "http.client.request.duration").map(\.values.count) == [1, 1])
        #expect(
            metrics.counterTotal(
                label: "rxnetworking.client.retries",
                dimensions: attributes("GET", "/goods", ("error.type", "503"))) == 1)
        _ = Recorder(client.get("/old"), on: clock)
        try clock.run()
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes("GET", "/old", ("http.response.status_code", "302"))
            ).values.count == 1)
        #expect(
            try metrics.expectTimer(
                "http.client.request.duration",
                attributes("GET", "/old", ("http.response.status_code", "200"))
            ).values.count == 1)
    }

    @Test func loginsAreCounted() throws {
        let session = Session(credential: Credential(token: "old")) {
            .just(Credential(token: "new"))
        }
        let client = client([
            .when(.get, "/v1/goods", .status(.unauthorized), .json("[]"))
        ]) { $0.session = session }
        let answer = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(answer.values.count == 1)
        #expect(metrics.counterTotal(label: "rxnetworking.client.relogins") == 1)
    }

    @Test func cacheAndJoinedRequestsAreCounted() throws {
        let client = client([
            .when(
                .get, "/v1/goods",
                .json("[]", headers: [.cacheControl: "max-age=60"], after: .milliseconds(5)))
        ]) { $0.options.cachePolicy = .time(.seconds(60)) }
        let answers = (0..<3).map { _ in Recorder(client.get("/goods"), on: clock) }
        try clock.run()
        let later = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect((answers + [later]).map(\.values.count) == [1, 1, 1, 1])
        #expect(metrics.counterTotal(label: "rxnetworking.client.joined") == 2)
        #expect(
            metrics.counterTotal(
                label: "rxnetworking.client.cache.responses",
                dimensions: attributes("GET", "/goods", ("rxnetworking.cache.use", "fresh"))) == 1)
        #expect(metrics.timers(label: "http.client.request.duration").map(\.values.count) == [1])
    }

    @Test func waitsAreRecorded() throws {
        let client = client([.when(.get, "/v1/goods", .json("[]", after: .milliseconds(20)))]) {
            $0.limits.concurrency = 1
        }
        _ = Recorder(client.get("/goods"), on: clock)
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(
            try metrics.expectTimer(
                "rxnetworking.client.queue.duration",
                attributes("GET", "/goods", ("rxnetworking.queue", "limits"))
            ).values == [20_000_000])
    }

    @Test func theCircuitIsShown() throws {
        let client = client([.when(.get, "/v1/goods", .failure(.connect))]) {
            $0.options.retry = .never
            $0.circuitBreaker = .init(minimumRequests: 2, openDuration: .seconds(30))
        }
        for _ in 0..<3 {
            _ = Recorder(client.get("/goods"), on: clock)
            try clock.advance(by: .milliseconds(1))
        }
        #expect(metrics.meters(label: "rxnetworking.client.circuit.state").map(\.values) == [[0, 2]])
        try clock.advance(by: .seconds(31))
        _ = Recorder(client.get("/goods"), on: clock)
        #expect(
            metrics.meters(label: "rxnetworking.client.circuit.state").map(\.values.last) == [1])
    }

    @Test func theCircuitIsNotShownWhereARedirectLeads() throws {
        let moved = ScriptedTransport.Reply.status(.found, headers: [.location: "https://cdn.test/a"])
        let all: [ScriptedTransport.Rule] = [.when(.get, "/v1/goods", moved), .when(.get, "/a", .json("1"))]
        let client = client(all) { $0.circuitBreaker = .init() }
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(metrics.meters(label: "rxnetworking.client.circuit.state").count == 1)
        #expect(metrics.meters(label: "http.client.active_requests").count == 2)
    }

    @Test func pagesAreCounted() throws {
        let client = client([.when(.get, "/v1/goods", .json("[1, 2]"), .json("[3]"))])
        let goods = Recorder(client.items(Goods(), .numbered(size: 2)), on: clock)
        try clock.run()
        #expect(goods.values == [1, 2, 3])
        #expect(metrics.counterTotal(label: "rxnetworking.client.pages") == 2)
    }

    @Test func rawRequestsHaveNoTemplate() throws {
        let client = client([.when(.get, "/x", .bytes([1]))])
        let request = Request(method: .init("PURGE")!, url: URL(string: "https://shop.test/x")!)
        _ = Recorder(client.exchange(request), on: clock)
        try clock.run()
        #expect(
            try metrics.value(of: "http.client.active_requests", attributes("_OTHER", nil)) == 0)
    }

    @Test func cancellingTheSubscriptionEndsTheRecording() throws {
        let transport = ScriptedTransport(on: clock, [.when(.get, "/goods", .json("[]"))])
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
        let recording = client.recordMetrics(in: metrics)
        recording.cancel()
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(metrics.timers.isEmpty && metrics.meters.isEmpty)
    }

    @Test func theNumberOfOriginsIsLimited() throws {
        // A server that redirects to ever new hosts.
        let transport = ScriptedTransport(on: clock) { request in
            let number = request.url.host().flatMap { Int($0.dropFirst()) } ?? 0
            return number < 600
                ? .status(.found, headers: [.location: "https://h\(number + 1)/"]) : .json("[]")
        }
        var configuration = ClientConfiguration(baseURL: "https://h0")
        configuration.redirects = .init(limit: 1000)
        let client = Client(configuration: configuration, transport: transport)
        client.recordMetrics(in: metrics)
        _ = Recorder(client.get("/"), on: clock)
        try clock.run()
        #expect(transport.requests.count == 601)
        let timers = metrics.timers(label: "http.client.request.duration").map { timer in
            (timer.dimensions.first { $0.0 == "server.address" }?.1, timer.values.count)
        }
        #expect(timers.count { $0.0 != nil } == 500)
        // With and without the last response.
        #expect(timers.filter { $0.0 == nil }.map(\.1).sorted() == [1, 100])
    }

    @Test func theNumberOfTemplatesIsLimited() throws {
        let transport = ScriptedTransport(on: clock) { _ in .json("[]") }
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
        client.recordMetrics(in: metrics, templateLimit: 3)
        for number in 0..<10 { _ = Recorder(client.get("/goods/\(number)"), on: clock) }
        try clock.run()
        let templates = metrics.timers(label: "http.client.request.duration").map { timer in
            timer.dimensions.first { $0.0 == "url.template" }?.1 ?? "-"
        }
        #expect(templates.sorted() == ["-", "/goods/0", "/goods/1", "/goods/2"])
    }
}
#endif
