import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import RxWebSocket

@testable import RxClient

extension TranscriptScenario {
    static let all =
        kinds + kinds.map(\.intercepted) + contents + logins + retries + deadlines + cancels + caching
        + staleness + redirecting + servers + limits + interceptors + combinations + surroundings

    // MARK: - The kinds of calls

    static let chunks: [ScriptedTransport.Step] = [
        .uploaded(bytes: 2, of: 2), .wait(.milliseconds(5)), .interim(ResponseHead(status: .init(code: 103))),
        .head(
            ResponseHead(status: .ok, headerFields: [.contentType: "application/json", .contentLength: "21"])),
        .wait(.milliseconds(5)), .chunk(Array(#"[{"id":1,"#.utf8)), .wait(.milliseconds(5)),
        .chunk(Array(#""name":"a"}]"#.utf8)), .finish,
    ]

    static let events: ScriptedTransport.Reply = .bytes(
        Array("retry: 2000\nid: 7\ndata: one\n\n: note\nevent: two\ndata: 2\n\n".utf8),
        headers: [.contentType: "text/event-stream"], after: .milliseconds(5))

    private static let kinds: [TranscriptScenario] = [
        TranscriptScenario("request", [.when(.get, "/goods", .goods([1]))]) {
            $0.start($0.client.request(GoodsList()))
        },
        TranscriptScenario("progress", [.when(.post, "/goods", .init(chunks))]) {
            $0.start($0.client.progress(of: GoodsList(method: .post)))
        },
        TranscriptScenario("response", [.when(.get, "/goods", .goods([1]))]) {
            $0.start($0.client.response(GoodsList()))
        },
        TranscriptScenario("stream", [.when(.get, "/goods", .init(chunks))]) {
            $0.start($0.client.stream(GoodsList()))
        },
        TranscriptScenario("download", [.when(.get, "/goods", .init(chunks))]) {
            $0.start($0.client.download(GoodsList(), to: "/f"))
        },
        TranscriptScenario("events", [.when(.get, "/goods", events, events, .status(.noContent))]) {
            $0.start($0.client.events(GoodsList()))
        },
        TranscriptScenario(
            "web socket",
            [.when(.get, "/live", .webSocket(.receive, .send(.text("hello")), .close(.normalClosure)))]
        ) { fixture in
            let sink = WebSocketSink()
            fixture.start(sink.send("hi"), as: "sink")
            fixture.start(fixture.client.webSocket("/live", sending: sink))
            try fixture.advance(10)
            fixture.cancel()
        },
        TranscriptScenario("exchange", [.when(.get, "/goods", .goods([1]))]) {
            $0.start($0.client.exchange(Request(url: URL(string: "https://shop.test/goods")!)))
        },
        TranscriptScenario("first value of a request", [.when(.get, "/goods", .goods([1]))]) {
            $0.start($0.client.request(GoodsList()).take(1))
        },
        TranscriptScenario("paused stream", [.when(.get, "/goods", .init(chunks))]) { fixture in
            fixture.start(fixture.client.stream(GoodsList()))
            try fixture.advance(6)
            fixture.pause()
            try fixture.advance(100)
            fixture.resume()
        },
    ]

    // MARK: - Contents and statuses

    static let envelope = Envelope(
        success: 0, loginExpired: 11010, noContent: 404, retryLater: 503, retryDelay: "wait")

    private static let contents: [TranscriptScenario] = [
        TranscriptScenario(
            "envelope",
            [
                .when(.get, "/goods", .json(#"{"code":0,"message":"ok","data":[{"id":1,"name":"a"}]}"#)),
                .when(.get, "/failed", .json(#"{"code":9,"message":"sold out"}"#)),
                .when(.get, "/empty", .json(#"{"code":404,"message":"nothing here"}"#)),
                .when(
                    .get, "/later", .json(#"{"code":503,"message":"busy","wait":2}"#),
                    .json(#"{"code":0,"data":[]}"#)),
            ], { configuration, _ in configuration.options.envelope = envelope }
        ) { fixture in
            for path in ["/goods", "/failed", "/empty", "/later"] {
                fixture.start(fixture.client.request(GoodsList(path: path)), as: path)
                try fixture.advance(5000)
            }
        },
        TranscriptScenario(
            "contents that do not fit",
            [
                .when(.get, "/html", .bytes(Array("<p>".utf8), headers: [.contentType: "text/html"])),
                .when(.get, "/other", .json(#"[{"id":"one"}]"#)), .when(.get, "/broken", .json("[{")),
                .when(.get, "/empty", .json("")), .when(.get, "/none", .status(.noContent)),
            ]
        ) { fixture in
            for path in ["/html", "/other", "/broken", "/empty", "/none"] {
                fixture.start(fixture.client.request(GoodsList(path: path)), as: path)
                try fixture.advance(10)
            }
            fixture.start(fixture.client.get("/none"), as: "untyped")
        },
        TranscriptScenario(
            "error statuses",
            [
                .when(.get, "/403", .json(#"{"message":"not yours"}"#, status: .forbidden)),
                .when(.get, "/404", .json(#"{"error":{"message":"no tea"}}"#, status: .notFound)),
                .when(.get, "/500", .bytes(Array("crashed".utf8), status: .internalServerError)),
            ]
        ) { fixture in
            for path in ["/403", "/404", "/500"] {
                fixture.start(fixture.client.request(GoodsList(path: path)), as: path)
                fixture.start(fixture.client.stream(GoodsList(path: path)), as: path + " stream")
                fixture.start(
                    fixture.client.download(GoodsList(path: path), to: "/f"), as: path + " download")
                try fixture.advance(10)
            }
        },
        TranscriptScenario(
            "requests that cannot be made", [],
            { configuration, _ in
                configuration.rewriteParameters = { _ throws(NetworkError) in
                    throw NetworkError(.invalidParameters, "no parameters")
                }
            }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList()), as: "parameters")
            fixture.start(fixture.client.stream(GoodsList(path: "https://other.test/x")), as: "origin")
        },
        TranscriptScenario("parameters that cannot be encoded", []) { fixture in
            fixture.start(fixture.client.post("/x", .json(["a": Double.nan])))
            fixture.start(fixture.client.stream(.post("/x", .json(["a": Double.nan]))), as: "stream")
        },
    ]

    // MARK: - Sessions

    static let goodsForTheNew = ScriptedTransport.Rule.when(
        .get, "/goods", if: { $0.headerFields[.authorization] == "Bearer new" }, .goods([1]))
    static let unauthorized = ScriptedTransport.Rule.when(
        .get, "/goods", .json(#"{"message":"expired"}"#, status: .unauthorized, after: .milliseconds(5)))
    static let login = ScriptedTransport.Rule.when(
        .post, "/login", .json(#"{"token":"new"}"#, after: .milliseconds(20)))
    static let withSession: @Sendable (inout ClientConfiguration, TranscriptSetting) -> Void = {
        $0.session = $1.session()
    }

    private static let logins: [TranscriptScenario] = [
        TranscriptScenario("login expired", [goodsForTheNew, unauthorized, login], withSession) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            try fixture.advance(100)
            fixture.start(fixture.client.request(GoodsList()), as: "b")
        },
        TranscriptScenario("login expired", [goodsForTheNew, unauthorized, login], withSession) {
            $0.start($0.client.stream(GoodsList()))
        }.intercepted,
        TranscriptScenario("login refused a second time", [unauthorized, login], withSession) {
            $0.start($0.client.request(GoodsList()))
        },
        TranscriptScenario("one login for three", [goodsForTheNew, unauthorized, login], withSession) {
            fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.request(GoodsList()), as: name) }
            try fixture.advance(10)
            fixture.start(fixture.client.request(GoodsList()), as: "c")
        },
        TranscriptScenario(
            "renewal",
            [
                goodsForTheNew, unauthorized,
                .when(.post, "/renew", .json(#"{"token":"new"}"#, after: .milliseconds(20))),
            ], { $0.session = $1.session(refreshToken: "r0") }
        ) { $0.start($0.client.request(GoodsList())) },
        TranscriptScenario(
            "renewal refused, then a login",
            [goodsForTheNew, unauthorized, login, .when(.post, "/renew", .status(.badRequest))],
            { $0.session = $1.session(refreshToken: "r0") }
        ) { $0.start($0.client.request(GoodsList())) },
        TranscriptScenario(
            "failed login",
            [unauthorized, .when(.post, "/login", .status(.forbidden, after: .milliseconds(20)))], withSession
        ) { fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.request(GoodsList()), as: name) }
        },
        TranscriptScenario(
            "login first", [goodsForTheNew, login], { $0.session = $1.session(nil, requiresLogin: true) }
        ) { $0.start($0.client.request(GoodsList())) },
    ]

    // MARK: - Retries

    static let unavailable = ScriptedTransport.Reply.status(
        .serviceUnavailable, headers: [.retryAfter: "3"], after: .milliseconds(5))
    static let lost = ScriptedTransport.Reply.failure(.connectionLost, after: .milliseconds(5))
    static let unconnected = ScriptedTransport.Reply.failure(.connect, after: .milliseconds(5))

    private static let retries: [TranscriptScenario] = [
        TranscriptScenario(
            "retry after the server's delay", [.when(.get, "/goods", unavailable, .goods([1]))]
        ) {
            $0.start($0.client.request(GoodsList()))
        }.intercepted,
        TranscriptScenario(
            "a delay beyond the deadline", [.when(.get, "/goods", unavailable, .goods([1]))],
            { configuration, _ in configuration.options.timeouts = Timeouts(total: .seconds(2)) }
        ) { $0.start($0.client.request(GoodsList())) },
        TranscriptScenario("retries with backoff", [.when(.get, "/goods", lost, unconnected, .goods([1]))]) {
            $0.start($0.client.request(GoodsList()))
        },
        TranscriptScenario("retries exhausted", [.when(.get, "/goods", lost, unconnected, unavailable)]) {
            $0.start($0.client.request(GoodsList()))
        },
        TranscriptScenario(
            "retries of every kind",
            [
                .when(.get, "/goods", lost, .goods([1])),
                .when(.get, "/events", lost, events, .status(.noContent)),
            ]
        ) { fixture in
            fixture.start(fixture.client.progress(of: GoodsList()), as: "progress")
            try fixture.advance(1000)
            fixture.start(fixture.client.events(GoodsList(path: "/events")), as: "events")
        },
        TranscriptScenario("retry of a stream", [.when(.get, "/goods", lost, .init(chunks))]) {
            $0.start($0.client.stream(GoodsList()))
        },
        TranscriptScenario(
            "no retry of a stream that has begun",
            [
                .when(
                    .get, "/goods",
                    .steps(
                        .head(ResponseHead(status: .ok)), .wait(.milliseconds(5)),
                        .fail(NetworkError(.connectionLost, "broken"))),
                    .goods([1]))
            ]
        ) { $0.start($0.client.stream(GoodsList())) },
        TranscriptScenario("retry of a download", [.when(.get, "/goods", lost, .init(chunks))]) {
            $0.start($0.client.download(GoodsList(), to: "/f"))
        },
        TranscriptScenario(
            "POST",
            [.when(.post, "/goods", lost, .goods([1])), .when(.post, "/unsent", unconnected, .goods([2]))]
        ) {
            fixture in
            fixture.start(fixture.client.request(GoodsList(method: .post)), as: "lost")
            fixture.start(fixture.client.request(GoodsList(path: "/unsent", method: .post)), as: "unsent")
        },
        TranscriptScenario(
            "idempotent POST",
            [.when(.post, "/goods", lost, .goods([1])), .when(.post, "/keyed", lost, .goods([2]))],
            { configuration, _ in configuration.options.interceptors.call = [.idempotencyKeys()] }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList(method: .post)), as: "key")
            fixture.start(
                fixture.client.post("/keyed", .json(["a": 1]), options: RequestOptions(isIdempotent: true)),
                as: "declared")
        },
        TranscriptScenario(
            "retry budget", [.when(.get, "/goods", lost)],
            { configuration, _ in configuration.retryBudget = RetryBudget(ratio: 0, floor: 0.1) }
        ) { $0.start($0.client.request(GoodsList())) },
    ]

    // MARK: - Time limits

    private static let total = { @Sendable (time: Duration) in
        { @Sendable (configuration: inout ClientConfiguration, _: TranscriptSetting) in
            configuration.options.timeouts = Timeouts(total: time)
        }
    }

    private static let deadlines: [TranscriptScenario] = [
        TranscriptScenario("deadline in an attempt", [.when(.get, "/goods", .stall)], total(.seconds(2))) {
            $0.start($0.client.request(GoodsList()))
        }.intercepted,
        TranscriptScenario(
            "deadline in a second attempt", [.when(.get, "/goods", lost, .stall)], total(.seconds(2))
        ) { $0.start($0.client.request(GoodsList())) },
        TranscriptScenario(
            "deadline in a login", [unauthorized, .when(.post, "/login", .stall)],
            { configuration, setting in
                configuration.session = setting.session()
                configuration.options.timeouts = Timeouts(total: .seconds(2))
            }
        ) { $0.start($0.client.request(GoodsList())) },
        TranscriptScenario(
            "deadline in a stream", [.when(.get, "/goods", .steps(.head(ResponseHead(status: .ok)), .stall))],
            total(.seconds(2))
        ) {
            $0.start($0.client.stream(GoodsList()))
        },
        TranscriptScenario(
            "deadline in the queue",
            [.when(.get, "/slow", .json("[]", after: .seconds(5))), .when(.get, "/goods", .goods([1]))],
            { configuration, _ in
                configuration.limits = RequestLimits(concurrency: 1)
            }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList(path: "/slow")), as: "slow")
            fixture.start(
                fixture.client.request(GoodsList().with { $0.timeouts = Timeouts(total: .seconds(2)) }),
                as: "total")
            fixture.start(
                fixture.client.request(GoodsList().with { $0.timeouts = Timeouts(queue: .seconds(1)) }),
                as: "queue")
        },
        TranscriptScenario(
            "time limits of attempts", [.when(nil, "/goods", .stall)],
            { configuration, _ in configuration.options.timeouts = Timeouts(attempt: .seconds(1)) }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.request(GoodsList(method: .post)), as: "POST")
        },
    ]

    // MARK: - Cancelling

    private static let cancels: [TranscriptScenario] = [
        TranscriptScenario("cancel before anything is sent", [.when(.get, "/goods", .goods([1]))]) {
            fixture in
            let client = fixture.client
            fixture.start(
                client.request(GoodsList().with { $0.willStart = { client.cancel(.id($0.id)) } }),
                as: "willStart")
            fixture.start(client.request(GoodsList()), as: "at once")
            fixture.cancel("at once")
        },
        TranscriptScenario("cancel in flight", [.when(.get, "/goods", .goods([1]))]) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            try fixture.advance(5)
            fixture.cancel()
        }.intercepted,
        TranscriptScenario("cancel through the client", [.when(.get, "/goods", .goods([1]))]) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.stream(GoodsList()), as: "b")
            fixture.start(fixture.client.events(GoodsList()), as: "c")
            try fixture.advance(5)
            fixture.client.cancel(.all)
        }.intercepted,
        TranscriptScenario("cancel in a retry's wait", [.when(.get, "/goods", unavailable)]) {
            fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.request(GoodsList()), as: "b")
            try fixture.advance(100)
            fixture.cancel()
            fixture.client.cancel(.all)
        },
        TranscriptScenario("cancel in a login", [goodsForTheNew, unauthorized, login], withSession) {
            fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.request(GoodsList()), as: "b")
            try fixture.advance(10)
            fixture.cancel()
        },
        TranscriptScenario(
            "cancel in the queue", [.when(.get, "/goods", .goods([1]))],
            { configuration, _ in configuration.limits = RequestLimits(concurrency: 1) }
        ) { fixture in
            for name in ["a", "b", "c"] { fixture.start(fixture.client.request(GoodsList()), as: name) }
            try fixture.advance(5)
            fixture.cancel("b")
        },
        TranscriptScenario("cancel in a stream", [.when(.get, "/goods", .init(chunks))]) { fixture in
            fixture.start(fixture.client.stream(GoodsList()))
            fixture.start(fixture.client.stream(GoodsList()).take(2), as: "two events")
            try fixture.advance(12)
            fixture.cancel()
        }.intercepted,
        TranscriptScenario("cancel in a download", [.when(.get, "/goods", .init(chunks))]) { fixture in
            fixture.start(fixture.client.download(GoodsList(), to: "/f"))
            try fixture.advance(12)
            fixture.cancel()
        },
    ]
}
