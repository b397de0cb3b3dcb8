import FoundationEssentials
import HTTPTypes
import RxCache
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import RxWebSocket

@testable import RxClient

extension TranscriptScenario {
    // MARK: - Servers

    private static let standby = {
        @Sendable (configuration: inout ClientConfiguration, _: TranscriptSetting) in
        configuration.standbyURL = "https://standby.test/v1"
        configuration.failoverProbeInterval = .seconds(30)
    }
    private static let hedging = {
        @Sendable (configuration: inout ClientConfiguration, _: TranscriptSetting) in
        configuration.options.hedging = .after(.milliseconds(100))
        configuration.options.retry = .never
    }

    static let servers: [TranscriptScenario] = [
        TranscriptScenario(
            "failover",
            [
                .when(
                    .get, "https://shop.test/x", .failure(.connect, after: .milliseconds(5)),
                    .status(.serviceUnavailable), reply("main")),
                .when(.get, "https://standby.test/v1/x", reply("standby")),
            ], standby
        ) { fixture in
            try get(fixture, as: "a")
            try get(fixture, as: "b", wait: 40_000)
            try get(fixture, as: "after the interval")
        }.intercepted,
        TranscriptScenario(
            "both servers fail", [.when(.get, "*", .failure(.connect, after: .milliseconds(5)))], standby
        ) { try get($0, as: "a") },
        TranscriptScenario(
            "hedging, the second wins", [.when(.get, "/x", reply("1", after: 500), reply("2", after: 50))],
            hedging
        ) {
            try get($0, as: "a")
        }.intercepted,
        TranscriptScenario(
            "hedging, the first wins", [.when(.get, "/x", reply("1", after: 120), reply("2", after: 50))],
            hedging
        ) {
            try get($0, as: "a")
        },
        TranscriptScenario("hedging, not needed", [.when(.get, "/x", reply("1", after: 99))], hedging) {
            try get($0, as: "a")
        },
        TranscriptScenario(
            "hedging, both fail",
            [
                .when(
                    .get, "/x", .failure(.connectionLost, after: .milliseconds(200)),
                    .failure(.emptyReply, after: .milliseconds(50)))
            ], hedging
        ) { try get($0, as: "a") },
        TranscriptScenario("hedging, cancelled", [.when(.get, "/x", reply("1", after: 500))], hedging) {
            fixture in
            try get(fixture, as: "a", wait: 150)
            fixture.cancel()
        },
        TranscriptScenario(
            "circuit breaker",
            [
                .when(
                    .get, "/x", .failure(.connectionLost, after: .milliseconds(5)), .failure(.connectionLost),
                    reply("1"))
            ],
            { configuration, _ in
                configuration.options.retry = .never
                configuration.circuitBreaker = CircuitBreaker.Policy(
                    minimumRequests: 2, openDuration: .seconds(10))
            }
        ) { fixture in
            for name in ["a", "b", "open"] { try get(fixture, as: name) }
            try get(
                fixture, as: "not retried",
                RequestOptions(retry: .exponentialBackoff(backoff: .constant(.seconds(20)))), wait: 10_000)
            try get(fixture, as: "half-open")
            try get(fixture, as: "closed")
        }.intercepted,
    ]

    // MARK: - Limits

    static let limits: [TranscriptScenario] = [
        TranscriptScenario(
            "one at a time", [.when(.get, "/x", reply("1"))],
            { configuration, _ in configuration.limits = RequestLimits(concurrency: 1) }
        ) { fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.get("/x"), as: name) }
            fixture.start(fixture.client.stream(.get("/x")), as: "stream")
        }.intercepted,
        TranscriptScenario(
            "one a second to a host", [.when(.get, "/x", .failure(.connectionLost), reply("1"))],
            { configuration, _ in configuration.hostLimits = RequestLimits(rate: .perSecond(1, burst: 1)) }
        ) { fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.get("/x"), as: name) }
        },
    ]

    // MARK: - Interceptors

    private static func intercepting(
        _ name: String, _ rules: [ScriptedTransport.Rule], _ interceptor: Intercepting
    ) -> [TranscriptScenario] {
        let places: [(String, any WritableKeyPath<Interceptors, [any Interceptor]> & Sendable)] = [
            ("call", \.call), ("attempt", \.attempt), ("exchange", \.exchange),
        ]
        return places.map { place, path in
            TranscriptScenario(
                "\(name) at \(place)", rules,
                { configuration, setting in
                    configuration.session = setting.session()
                    configuration.options.retry = .never
                    configuration.options.interceptors[keyPath: path] = [interceptor]
                }
            ) { fixture in
                fixture.start(fixture.client.request(GoodsList()))
                try fixture.advance(5000)
                fixture.start(fixture.client.stream(GoodsList()), as: "stream")
            }.intercepted
        }
    }

    static let interceptors =
        intercepting(
            "own retry",
            [
                .when(
                    .get, "/goods", .failure(.connectionLost), .goods([1]), .failure(.connectionLost),
                    .goods([2]))
            ],
            Intercepting { request, _, next in next(request).catch { _ in next(request) } })
        + intercepting(
            "own response", [],
            Intercepting { request, _, next in
                let head = ResponseHead(status: .ok, headerFields: [.contentType: "application/json"])
                return next.respond(
                    with: Response(
                        head: head, body: Array(#"[{"id":9,"name":"own"}]"#.utf8), request: request))
            })
        + intercepting(
            "another origin", [.when(.get, "https://other.test/goods", .goods([1]))],
            Intercepting { request, _, next in
                var request = request
                request.url = URL(string: "https://other.test/goods")!
                return next(request)
            })
        + intercepting(
            "waiting, then twice",
            [.when(.get, "/goods", .goods([1]), .goods([2]), .goods([3]), .goods([4]))],
            Intercepting { request, call, next in
                Observable<Void, NetworkError>.timer(.milliseconds(50), on: call.scheduler)
                    .flatMap(.concat) { .concat([next(request), next(request)]) }
            })
        + intercepting(
            "failure", [.when(.get, "/goods", .goods([1]))],
            Intercepting { request, _, _ in .fail(NetworkError(.noContent, "closed", request: request)) })

    // MARK: - Several stages together

    private struct Checked: Endpoint {
        typealias Output = [Goods]
        let path = "/goods"

        func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
            if response.output.isEmpty { throw NetworkError(.noContent, "no goods") }
        }
    }

    static let combinations: [TranscriptScenario] = [
        TranscriptScenario(
            "everything",
            [
                .when(.post, "/login", .json(#"{"token":"new"}"#, after: .milliseconds(20))),
                .when(
                    .get, "https://shop.test/x", .failure(.connect, after: .milliseconds(5)),
                    reply("main", after: 10)),
                .when(
                    .get, "https://standby.test/v1/x",
                    if: { $0.headerFields[.authorization] == "Bearer new" },
                    .status(.found, headers: [.location: "/v1/y", .setCookie: "sid=1"]),
                    reply("slow", after: 500), reply("standby", "max-age=60", tag: "v1", after: 50)),
                .when(.get, "https://standby.test/v1/x", .status(.unauthorized, after: .milliseconds(5))),
                .when(.get, "https://standby.test/v1/y", .failure(.connectionLost, after: .milliseconds(5))),
            ],
            { configuration, setting in
                standby(&configuration, setting)
                configuration.session = setting.session()
                configuration.cookies = CookieJar(publicSuffixes: .unknown)
                configuration.limits = RequestLimits(concurrency: 2)
                configuration.circuitBreaker = CircuitBreaker.Policy()
                configuration.signature = .headers { ["X-Sign": $0.request.method.rawValue] }
                configuration.options.hedging = .after(.milliseconds(100))
                configuration.options.cachePolicy = .http
                configuration.options.timeouts = Timeouts(total: .seconds(5))
            }
        ) { fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b")
            try get(fixture, as: "c")
        }.intercepted,
        TranscriptScenario(
            "login by an envelope",
            [
                login,
                .when(
                    .get, "/goods", .json(#"{"code":11010,"message":"expired"}"#),
                    .json(#"{"code":0,"data":[{"id":1,"name":"a"}]}"#)),
            ],
            { configuration, setting in
                configuration.session = setting.session()
                configuration.options.envelope = envelope
            }
        ) { $0.start($0.client.progress(of: GoodsList())) }.intercepted,
        TranscriptScenario(
            "login of the joined", [goodsForTheNew, unauthorized, login],
            { configuration, setting in
                configuration.session = setting.session()
                configuration.options.cachePolicy = .time(.seconds(60))
            }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            try fixture.advance(2)
            fixture.start(fixture.client.request(GoodsList()), as: "b")
            try fixture.advance(8)
            fixture.cancel()
        },
        TranscriptScenario(
            "places in a limit are given back",
            [goodsForTheNew, unauthorized, login, .when(.get, "/x", lost, reply("1"))],
            { configuration, setting in
                configuration.session = setting.session()
                configuration.limits = RequestLimits(concurrency: 1)
            }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.get("/x"), as: "b")
        },
        TranscriptScenario(
            "host limit after a 429",
            [.when(.get, "/x", .status(.tooManyRequests, headers: [.retryAfter: "2"]), reply("1"))],
            { configuration, _ in configuration.hostLimits = RequestLimits(concurrency: 4) }
        ) { fixture in
            try get(fixture, as: "a")
            try get(fixture, as: "b")
        },
        TranscriptScenario(
            "refused by a validator", [.when(.get, "/goods", .goods([]))],
            { configuration, _ in configuration.options.cachePolicy = .time(.seconds(60)) }
        ) { fixture in
            for name in ["a", "b"] {
                fixture.start(fixture.client.request(Checked()), as: name)
                try fixture.advance(100)
            }
        }.intercepted,
        TranscriptScenario(
            "larger than allowed", [.when(.get, "/goods", .init(chunks))],
            { configuration, _ in configuration.bodyLimit = 12 }
        ) { fixture in
            fixture.start(fixture.client.request(GoodsList()))
            fixture.start(fixture.client.stream(GoodsList()), as: "stream")
        },
        TranscriptScenario("one request after the other", [.when(.get, "/goods", .goods([1]))]) { fixture in
            let client = fixture.client
            fixture.start(
                client.request(GoodsList()).flatMap(.concat) { _ in client.request(GoodsList(keyword: "tea"))
                })
        },
        TranscriptScenario("two downloads to a file", [.when(.get, "/goods", .init(chunks))]) { fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.download(GoodsList(), to: "/f"), as: name) }
            try fixture.advance(1000)
            fixture.start(fixture.client.download(GoodsList(), to: "/f"), as: "again")
        },
        TranscriptScenario("paused before the head", [.when(.get, "/goods", lost, .goods([1]))]) { fixture in
            for name in ["a", "b"] { fixture.start(fixture.client.request(GoodsList()), as: name) }
            try fixture.advance(2)
            for name in ["a", "b"] { fixture.pause(name) }
            try fixture.advance(1000)
            fixture.cancel("b")
            fixture.resume()
        },
        TranscriptScenario(
            "web socket with a session",
            [
                login,
                .when(
                    .get, "/live", if: { $0.headerFields[.authorization] == "Bearer new" },
                    .webSocket(.send(.text("one")), .wait(.milliseconds(50)), .end),
                    .webSocket(.send(.text("two")))),
                .when(.get, "/live", .status(.unauthorized, after: .milliseconds(5))),
            ], withSession
        ) { fixture in
            fixture.start(fixture.client.webSocket("/live"))
            try fixture.advance(5000)
            fixture.cancel()
        }.intercepted,
        TranscriptScenario("web socket refused", [.when(.get, "/live", .status(.forbidden))]) {
            $0.start($0.client.webSocket("/live"))
        },
        TranscriptScenario("response by hand", [goodsForTheNew, unauthorized, login], withSession) {
            $0.start($0.client.response(GoodsList()))
        }.intercepted,
    ]

    // MARK: - The rest of a client

    static let surroundings: [TranscriptScenario] = [
        TranscriptScenario(
            "signature", [.when(.get, "/x", .failure(.connectionLost), reply("1"))],
            { configuration, _ in
                configuration.signature = .headers { content in
                    ["X-Sign": "\(content.request.method.rawValue) \(content.canonicalQuery)"]
                }
            }
        ) { fixture in
            fixture.start(fixture.client.get("/x", query: ["b": 2, "a": 1]))
        }.intercepted,
        TranscriptScenario(
            "no network", [],
            { configuration, _ in configuration.reachability = ScriptedReachability(.unreachable) }
        ) { fixture in
            try get(fixture, as: "a")
            fixture.start(fixture.client.stream(.get("/x")), as: "stream")
        }.intercepted,
        TranscriptScenario(
            "pages",
            [
                .when(.get, "/goods", query: ["page": "1"], .goods([1, 2])),
                .when(.get, "/goods", query: ["page": "2"], .status(.notFound), .goods([3])),
            ]
        ) { fixture in
            fixture.start(fixture.client.pages(GoodsList(), .numbered(size: 2), next: fixture.next))
            for _ in 1...3 {
                try fixture.advance(100)
                fixture.transcript.note("a", "wants more")
                fixture.next.send()
            }
            try fixture.advance(100)
            fixture.cancel()
        },
        TranscriptScenario(
            "hidden", [.when(.get, "/x", reply("1"), .failure(.noContent))],
            { configuration, _ in configuration.options.presentation = .hidden }
        ) { fixture in
            try get(fixture, as: "a")
            try get(fixture, as: "failed")
        },
        TranscriptScenario(
            "raw exchange that fails",
            [
                .when(.get, "/x", .status(.found, headers: [.location: "/y"])),
                .when(.get, "/y", .failure(.connectionLost)),
            ]
        ) {
            $0.start($0.client.exchange(Request(url: URL(string: "https://shop.test/x")!)))
        }.intercepted,
        TranscriptScenario("shutdown", [.when(.get, "/x", reply("1"))]) { fixture in
            try get(fixture, as: "running", wait: 5)
            fixture.start(fixture.client.shutDown(within: .seconds(1)), as: "shutdown")
            try get(fixture, as: "late")
            fixture.start(fixture.client.stream(.get("/x")), as: "stream")
            fixture.start(
                fixture.client.exchange(Request(url: URL(string: "https://shop.test/x")!)), as: "exchange")
        },
        TranscriptScenario("shutdown that cancels", [.when(.get, "/x", .stall)]) { fixture in
            try get(fixture, as: "running", wait: 5)
            fixture.start(fixture.client.shutDown(within: .seconds(1)), as: "shutdown")
        },
    ]
}
