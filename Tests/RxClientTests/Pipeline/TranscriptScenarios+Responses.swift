import FoundationEssentials
import HTTPTypes
import RxCache
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting

@testable import RxClient

extension TranscriptScenario {
    typealias Reply = ScriptedTransport.Reply

    static func reply(
        _ text: String, _ cacheControl: String? = nil, tag: String? = nil, after delay: Int = 10
    ) -> Reply {
        var fields = HTTPFields()
        fields[.cacheControl] = cacheControl
        fields[.eTag] = tag.map { "\"\($0)\"" }
        return .json(text, headers: fields, after: .milliseconds(delay))
    }

    private static func cached(
        _ name: String, _ rules: [ScriptedTransport.Rule],
        act: @escaping @Sendable (TranscriptFixture) throws -> Void
    ) -> TranscriptScenario {
        TranscriptScenario(
            name, rules, { configuration, _ in configuration.options.cachePolicy = .http }, act: act)
    }

    /// Starts a request for `/x`, and lets a second pass.
    static func get(
        _ fixture: TranscriptFixture, as name: String, _ options: RequestOptions = RequestOptions(),
        wait: Int = 1000
    ) throws {
        fixture.start(fixture.client.get("/x", options: options), as: name)
        try fixture.advance(wait)
    }

    // MARK: - The cache

    static let caching: [TranscriptScenario] = [
        cached("cache", [.when(.get, "/x", reply("1", "max-age=60"))]) { fixture in
            try get(fixture, as: "miss")
            try get(fixture, as: "hit")
            fixture.start(fixture.client.get("/x").take(1), as: "first value of a hit")
        },
        cached("cache", [.when(.get, "/x", reply("1", "max-age=60"))]) { fixture in
            try get(fixture, as: "miss")
            try get(fixture, as: "hit")
        }.intercepted,
        cached(
            "revalidation",
            [
                .when(
                    .get, "/x", if: { $0.headerFields[.ifNoneMatch] == "\"v1\"" },
                    .status(.notModified, after: .milliseconds(5))),
                .when(.get, "/x", reply("1", "no-cache", tag: "v1")),
            ]
        ) { fixture in
            try get(fixture, as: "miss")
            try get(fixture, as: "confirmed")
        }.intercepted,
        cached(
            "replaced by revalidation",
            [.when(.get, "/x", reply("1", "no-cache", tag: "v1"), reply("2", "no-cache", tag: "v2"))]
        ) { fixture in
            try get(fixture, as: "miss")
            try get(fixture, as: "replaced")
        },
        cached("joined", [.when(.get, "/x", reply("1", "max-age=60"))]) { fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b", wait: 2)
            try get(fixture, as: "c", wait: 2)
            fixture.cancel("b")
        },
        cached("joined", [.when(.get, "/x", reply("1", "max-age=60"))]) { fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b", wait: 2)
        }.intercepted,
        cached("the first of the joined is cancelled", [.when(.get, "/x", reply("1", "max-age=60"))]) {
            fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b", wait: 2)
            fixture.cancel("a")
        },
        cached("the joined fail", [.when(.get, "/x", .status(.notFound, after: .milliseconds(10)))]) {
            fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b", wait: 2)
        },
        cached(
            "the joined are retried",
            [.when(.get, "/x", .failure(.connectionLost, after: .milliseconds(10)), reply("1"))]
        ) { fixture in
            try get(fixture, as: "a", wait: 2)
            try get(fixture, as: "b", wait: 2)
        },
        cached(
            "cache modes",
            [.when(.get, "/x", reply("1", "max-age=60", tag: "v1"), reply("2", "max-age=60", tag: "v2"))]
        ) { fixture in
            try get(fixture, as: "only if cached, empty", RequestOptions(cacheMode: .onlyIfCached))
            try get(fixture, as: "standard")
            for mode: CacheMode in [.onlyIfCached, .forceCache, .noCache, .reload, .noStore] {
                try get(fixture, as: mode.rawValue, RequestOptions(cacheMode: mode))
            }
        },
        cached(
            "a change invalidates",
            [.when(.get, "/x", reply("1", "max-age=60")), .when(.post, "/x", .status(.noContent))]
        ) { fixture in
            try get(fixture, as: "miss")
            fixture.start(fixture.client.post("/x", .json(["a": 1])), as: "POST")
            try fixture.advance(1000)
            try get(fixture, as: "miss again")
        },
        TranscriptScenario(
            "cached search", [.when(.post, "/x", reply("1"))],
            { configuration, _ in configuration.options.cachePolicy = .post(.seconds(10)) }
        ) { fixture in
            for name in ["miss", "hit"] {
                fixture.start(fixture.client.post("/x", .json(["q": "tea"])), as: name)
                try fixture.advance(1000)
            }
        },
        TranscriptScenario(
            "cached typed result", [.when(.get, "/goods", .goods([1]))],
            { configuration, _ in configuration.options.cachePolicy = .time(.seconds(10)) }
        ) { fixture in
            for name in ["miss", "hit"] {
                fixture.start(fixture.client.typedResponse(GoodsList()), as: name)
                try fixture.advance(1000)
            }
            fixture.start(fixture.client.progress(of: GoodsList()), as: "progress")
        },
    ]

    static let staleness: [TranscriptScenario] = [
        cached(
            "stale while revalidate",
            [.when(.get, "/x", reply("1", "max-age=1, stale-while-revalidate=60"), reply("2", "max-age=60"))]
        ) { fixture in
            try get(fixture, as: "miss", wait: 2000)
            try get(fixture, as: "stale")
            try get(fixture, as: "fresh")
        },
        cached(
            "stale if error",
            [
                .when(
                    .get, "/x", reply("1", "max-age=1, stale-if-error=600"), .failure(.connectionLost),
                    .status(.internalServerError), .failure(.connect))
            ]
        ) { fixture in
            try get(fixture, as: "miss", wait: 2000)
            try get(fixture, as: "stale")
            try get(fixture, as: "stale without retries", RequestOptions(retry: .never))
        }.intercepted,
    ]

    // MARK: - Redirects and cookies

    private static func redirect(_ status: HTTPResponse.Status, to target: String) -> Reply {
        .status(status, headers: [.location: target], after: .milliseconds(5))
    }

    static let redirecting: [TranscriptScenario] = [
        TranscriptScenario(
            "redirects",
            [
                .when(.get, "/x", redirect(.found, to: "/y")),
                .when(.get, "/y", redirect(.movedPermanently, to: "/z")), .when(.get, "/z", reply("1")),
            ]
        ) { try get($0, as: "a") }.intercepted,
        TranscriptScenario(
            "redirected POST",
            [
                .when(.post, "/307", redirect(.temporaryRedirect, to: "/x")),
                .when(.post, "/303", redirect(.seeOther, to: "/x")),
                .when(nil, "/x", reply("1")),
            ]
        ) { fixture in
            for path in ["/307", "/303"] {
                fixture.start(fixture.client.post(path, .json(["a": 1])), as: path)
                try fixture.advance(100)
            }
        },
        TranscriptScenario(
            "redirect to another origin",
            [
                .when(.get, "https://shop.test/x", redirect(.found, to: "https://other.test/x")),
                .when(.get, "https://other.test/x", reply("1")),
            ],
            { configuration, setting in
                configuration.session = setting.session()
                configuration.options.headers = ["X-Secret": "s", "X-Place": "p"]
                configuration.secretFields = [HTTPField.Name("X-Secret")!]
            }
        ) { try get($0, as: "a") },
        TranscriptScenario(
            "too many redirects", [.when(.get, "/x", redirect(.found, to: "/x"))],
            { configuration, _ in configuration.redirects = RedirectPolicy(limit: 2) }
        ) {
            try get($0, as: "a")
        },
        TranscriptScenario(
            "redirects not followed", [.when(.get, "/x", redirect(.found, to: "/x"))],
            { configuration, _ in configuration.redirects = .refused }
        ) {
            try get($0, as: "a")
        },
        TranscriptScenario(
            "cookies",
            [
                .when(.get, "/x", .status(.found, headers: [.setCookie: "sid=1", .location: "/y"])),
                .when(.get, "/y", .json("1", headers: [.setCookie: "sid=2"])),
            ],
            { configuration, _ in configuration.cookies = CookieJar(publicSuffixes: .unknown) }
        ) { fixture in
            try get(fixture, as: "a")
            fixture.start(
                fixture.client.get("/y", options: RequestOptions(usesCookies: false)), as: "without")
            try fixture.advance(100)
            fixture.start(fixture.client.stream(.get("/y")), as: "stream")
        }.intercepted,
    ]
}
