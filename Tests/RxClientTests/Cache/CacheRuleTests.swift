import RxCache
import RxClient
import Testing

/// Reuse of a response, rule by rule (RFC 9111, RFC 5861, the Fetch standard). Each rule runs over the whole
/// cache.
@Suite struct CacheRuleTests {
    private static let hour = ("Cache-Control", "max-age=3600")

    static let freshness: [CacheRule] = [
        CacheRule("nothing is said", [], gives: .asked),
        CacheRule("max-age", [hour], after: 3599, gives: .kept),
        CacheRule("max-age, over", [hour], after: 3600, gives: .asked),
        CacheRule("max-age=0", [("Cache-Control", "max-age=0")], gives: .asked),
        CacheRule("max-age in any case", [("cache-control", "MaX-aGe=3600")], after: 10, gives: .kept),
        CacheRule("max-age, quoted", [("Cache-Control", "max-age=\"3600\"")], after: 10, gives: .kept),
        CacheRule("max-age, in single quotes", [("Cache-Control", "max-age='3600'")], gives: .asked),
        CacheRule(
            "max-age with leading zeros", [("Cache-Control", "max-age=003600")], after: 10, gives: .kept),
        CacheRule("max-age with a fraction", [("Cache-Control", "max-age=3600.5")], gives: .asked),
        CacheRule("max-age with letters", [("Cache-Control", "max-age=3600a")], gives: .asked),
        CacheRule("max-age below zero", [("Cache-Control", "max-age=-3600")], gives: .asked),
        CacheRule("max-age without a number", [("Cache-Control", "max-age")], gives: .asked),
        CacheRule("space before the equals sign", [("Cache-Control", "max-age =3600")], gives: .asked),
        CacheRule("space after the equals sign", [("Cache-Control", "max-age= 3600")], gives: .asked),
        CacheRule(
            "max-age above 2³¹", [("Cache-Control", "max-age=99999999999999999999")], after: 1e9, gives: .kept
        ),
        CacheRule(
            "max-age in a quoted string", [("Cache-Control", "x=\"max-age=9, \", max-age=1")], after: 5,
            gives: .asked),
        CacheRule(
            "max-age after an unknown directive", [("Cache-Control", "x, y=1, max-age=9")], after: 5,
            gives: .kept),
        CacheRule("empty elements", [("Cache-Control", ", ,max-age=9,,")], after: 5, gives: .kept),
        CacheRule(
            "twice: the first counts", [("Cache-Control", "max-age=9, max-age=1")], after: 5, gives: .kept),
        CacheRule(
            "on two lines", [("Cache-Control", "max-age=1"), ("Cache-Control", "max-age=9")], after: 5,
            gives: .asked),
        CacheRule("s-maxage is for others", [("Cache-Control", "s-maxage=3600")], gives: .asked),
        CacheRule(
            "max-age over s-maxage", [("Cache-Control", "s-maxage=0, max-age=9")], after: 5, gives: .kept),
        CacheRule(
            "max-age over Expires", [hour, ("Expires", at(-9)), ("Date", at(0))], after: 5, gives: .kept),
        CacheRule("max-age over a broken Expires", [hour, ("Expires", "0")], after: 5, gives: .kept),
        CacheRule(
            "max-age=0 over Expires", [("Cache-Control", "max-age=0"), ("Expires", at(99))], gives: .asked),
        CacheRule("Expires", [("Expires", at(60)), ("Date", at(0))], after: 59, gives: .kept),
        CacheRule("Expires, over", [("Expires", at(60)), ("Date", at(0))], after: 60, gives: .asked),
        CacheRule(
            "Expires without Date counts from when it came", [("Expires", at(60))], after: 59, gives: .kept),
        CacheRule(
            "Expires counts from Date", [("Expires", at(60)), ("Date", at(30))], after: 31, gives: .asked),
        CacheRule("Expires before Date", [("Expires", at(60)), ("Date", at(61))], gives: .asked),
        CacheRule("Expires: 0", [("Expires", "0"), ("Date", at(0))], gives: .asked),
        CacheRule("Expires that is not a date", [("Expires", "tomorrow"), ("Date", at(0))], gives: .asked),
        CacheRule(
            "Expires in an older form", [("Expires", "Tuesday, 14-Nov-23 22:15:20 GMT")], after: 60,
            gives: .kept),
    ]

    static let age: [CacheRule] = [
        CacheRule("Age counts", [hour, ("Age", "3000")], after: 599, gives: .kept),
        CacheRule("Age counts, over", [hour, ("Age", "3000")], after: 600, gives: .asked),
        CacheRule("Age above max-age", [hour, ("Age", "7200")], gives: .asked),
        CacheRule("Age that is not a number", [hour, ("Age", "abc")], after: 9, gives: .kept),
        CacheRule("Age below zero", [hour, ("Age", "-7200")], after: 9, gives: .kept),
        CacheRule("Age with a fraction", [hour, ("Age", "7200.0")], after: 9, gives: .kept),
        CacheRule("the first of several counts, old", [hour, ("Age", "7200, 0")], gives: .asked),
        CacheRule(
            "the first of several counts, new", [hour, ("Age", "0"), ("Age", "7200")], after: 9, gives: .kept),
        CacheRule("Date in the past is age", [hour, ("Date", at(-3000))], after: 599, gives: .kept),
        CacheRule("Date in the past is age, over", [hour, ("Date", at(-3000))], after: 600, gives: .asked),
        CacheRule("Date in the future is ignored", [hour, ("Date", at(3000))], after: 3599, gives: .kept),
        CacheRule(
            "the larger of both counts", [hour, ("Date", at(-10)), ("Age", "3000")], after: 600, gives: .asked
        ),
    ]

    static let heuristics: [CacheRule] =
        [
            CacheRule("a tenth", [("Last-Modified", at(-1000)), ("Date", at(0))], after: 99, gives: .kept),
            CacheRule(
                "a tenth, over", [("Last-Modified", at(-1000)), ("Date", at(0))], after: 100,
                gives: .revalidated),
            CacheRule(
                "not with a query", [("Last-Modified", at(-1000))], url: CacheStage.url + "?a=1",
                gives: .revalidated),
            CacheRule("not in the future", [("Last-Modified", at(10))], gives: .revalidated),
            CacheRule("not from an invalid date", [("Last-Modified", "once")], gives: .asked),
            CacheRule(
                "not beside Expires", [("Last-Modified", at(-1000)), ("Expires", "0")], gives: .revalidated),
            CacheRule(
                "not beside max-age", [("Last-Modified", at(-9e5)), ("Cache-Control", "max-age=0")],
                gives: .revalidated),
            CacheRule(
                "of an unusual status with public",
                [("Last-Modified", at(-1000)), ("Cache-Control", "public")],
                status: 299, after: 99, gives: .kept),
        ]

    static let heuristicStatuses: [CacheRule] =
        statuses([203, 204, 300, 404, 405, 410, 414, 501], [("Last-Modified", at(-1000))], gives: .kept)
        + statuses([201, 202, 403, 502, 599], [("Last-Modified", at(-1000))], gives: .asked)

    private static func statuses(
        _ statuses: [Int], _ fields: CacheStage.Fields, gives outcome: CacheRule.Outcome
    ) -> [CacheRule] {
        statuses.map { CacheRule("\($0)", fields, status: $0, after: 99, gives: outcome) }
    }

    static let storing: [CacheRule] =
        [
            CacheRule("no-store", [("Cache-Control", "no-store, max-age=99")], gives: .asked),
            CacheRule("no-store in any case", [("Cache-Control", "max-age=99, No-StOrE")], gives: .asked),
            CacheRule(
                "no-store with an argument", [("Cache-Control", "max-age=99, no-store=x")], gives: .asked),
            CacheRule("private", [("Cache-Control", "private, max-age=99")], after: 9, gives: .kept),
            CacheRule(
                "private for some fields", [("Cache-Control", "private=\"a\", max-age=99")], after: 9,
                gives: .kept),
            CacheRule(
                "must-understand", [("Cache-Control", "must-understand, no-store, max-age=99")], after: 9,
                gives: .kept),
            CacheRule(
                "must-understand of an unknown status", [("Cache-Control", "must-understand, max-age=99")],
                status: 299, gives: .asked),
            CacheRule(
                "a request with no-store", [hour], first: [("Cache-Control", "no-store")], gives: .asked),
            CacheRule("a request with a range", [hour], first: [("Range", "bytes=0-9")], gives: .asked),
            CacheRule(
                "a request with a condition", [hour], first: [("If-None-Match", "\"x\"")], gives: .asked),
            CacheRule("206", [hour], status: 206, gives: .asked),
            CacheRule("304 to an unconditional request", [hour], status: 304, gives: .asked),
            CacheRule("shorter than announced", [hour, ("Content-Length", "99")], gives: .asked),
            CacheRule("as long as announced", [hour, ("Content-Length", "3")], after: 9, gives: .kept),
            CacheRule(
                "decoded to another length", [hour, ("Content-Length", "99"), ("Content-Encoding", "gzip")],
                after: 9, gives: .kept),
            CacheRule("with a cookie", [hour, ("Set-Cookie", "a=b")], after: 9, gives: .kept),
        ]

    static let explicitStatuses: [CacheRule] = statuses(
        [200, 203, 204, 299, 301, 302, 400, 404, 410, 499, 500, 503, 599], [hour], gives: .kept)

    static let directives: [CacheRule] = [
        CacheRule(
            "no-cache", [("Cache-Control", "no-cache, max-age=99"), ("ETag", "\"a\"")], gives: .revalidated),
        CacheRule("no-cache alone", [("Cache-Control", "no-cache"), ("ETag", "\"a\"")], gives: .revalidated),
        CacheRule(
            "no-cache for some fields", [("Cache-Control", "no-cache=\"a\", max-age=99")], after: 9,
            gives: .kept),
        CacheRule(
            "must-revalidate while fresh", [("Cache-Control", "max-age=9, must-revalidate")], after: 5,
            gives: .kept),
        CacheRule(
            "must-revalidate over max-stale", [("Cache-Control", "max-age=9, must-revalidate")], after: 10,
            [("Cache-Control", "max-stale")], gives: .asked),
        CacheRule(
            "must-revalidate over stale-while-revalidate",
            [("Cache-Control", "max-age=9, must-revalidate, stale-while-revalidate=99")], after: 10,
            gives: .asked),
        CacheRule("an ETag is asked about", [("ETag", "\"a\""), hour], after: 3600, gives: .revalidated),
        CacheRule(
            "a Last-Modified is asked about", [("Last-Modified", at(-9)), hour], after: 3600,
            gives: .revalidated),
    ]

    static let requests: [CacheRule] = [
        CacheRule("no-cache", [hour], [("Cache-Control", "no-cache")], gives: .asked),
        CacheRule(
            "no-cache with an ETag", [hour, ("ETag", "\"a\"")], [("Cache-Control", "no-cache")],
            gives: .revalidated),
        CacheRule("Pragma: no-cache", [hour], [("Pragma", "no-cache")], gives: .asked),
        CacheRule(
            "Pragma below Cache-Control", [hour], [("Pragma", "no-cache"), ("Cache-Control", "x")],
            gives: .kept),
        CacheRule("no-store", [hour], [("Cache-Control", "no-store")], gives: .asked),
        CacheRule("max-age=0", [hour], [("Cache-Control", "max-age=0")], gives: .asked),
        CacheRule("max-age above the age", [hour], after: 9, [("Cache-Control", "max-age=10")], gives: .kept),
        CacheRule(
            "max-age below the age", [hour], after: 11, [("Cache-Control", "max-age=10")], gives: .asked),
        CacheRule(
            "max-age below a told Age", [hour, ("Age", "1800")], [("Cache-Control", "max-age=600")],
            gives: .asked),
        CacheRule(
            "min-fresh that is there", [hour], after: 9, [("Cache-Control", "min-fresh=3591")], gives: .kept),
        CacheRule(
            "min-fresh that is not", [hour], after: 9, [("Cache-Control", "min-fresh=3592")], gives: .asked),
        CacheRule("max-stale", [hour], after: 1e7, [("Cache-Control", "max-stale")], gives: .stale),
        CacheRule(
            "max-stale enough", [hour], after: 3700, [("Cache-Control", "max-stale=100")], gives: .stale),
        CacheRule(
            "max-stale too little", [hour], after: 3701, [("Cache-Control", "max-stale=100")], gives: .asked),
        CacheRule(
            "max-stale that is not a number", [hour], after: 3601, [("Cache-Control", "max-stale=x")],
            gives: .asked),
        CacheRule("only-if-cached, kept", [hour], [("Cache-Control", "only-if-cached")], gives: .kept),
        CacheRule(
            "only-if-cached, stale", [hour], after: 3600, [("Cache-Control", "only-if-cached")],
            gives: .refused),
        CacheRule("a range", [hour], [("Range", "bytes=0-9")], gives: .asked),
        CacheRule("a condition", [hour], [("If-Match", "\"x\"")], gives: .asked),
    ]

    static let modes: [CacheRule] = [
        CacheRule("default", [hour], mode: .standard, gives: .kept),
        CacheRule("no-store", [hour], mode: .noStore, gives: .asked),
        CacheRule("reload", [hour, ("ETag", "\"a\"")], mode: .reload, gives: .asked),
        CacheRule("no-cache", [hour, ("ETag", "\"a\"")], mode: .noCache, gives: .revalidated),
        CacheRule("force-cache", [hour], after: 1e7, mode: .forceCache, gives: .stale),
        CacheRule("force-cache of a fresh response", [hour], after: 9, mode: .forceCache, gives: .kept),
        CacheRule(
            "force-cache of nothing", [("Cache-Control", "no-store")], mode: .forceCache, gives: .asked),
        CacheRule("only-if-cached", [hour], after: 1e7, mode: .onlyIfCached, gives: .stale),
        CacheRule(
            "only-if-cached of nothing", [("Cache-Control", "no-store")], mode: .onlyIfCached, gives: .refused
        ),
    ]

    private static func vary(_ names: String...) -> CacheStage.Fields { [hour] + names.map { ("Vary", $0) } }

    static let variants: [CacheRule] = [
        CacheRule("the same", vary("Foo"), first: [("Foo", "1")], [("foo", "1")], gives: .kept),
        CacheRule("another", vary("Foo"), first: [("Foo", "1")], [("Foo", "2")], gives: .asked),
        CacheRule("none then", vary("Foo"), [("Foo", "1")], gives: .asked),
        CacheRule("none now", vary("Foo"), first: [("Foo", "1")], gives: .asked),
        CacheRule("an empty one is not none", vary("Foo"), first: [("Foo", "")], gives: .asked),
        CacheRule("none both times", vary("Foo"), gives: .kept),
        CacheRule(
            "other fields do not count", vary("Foo"), first: [("Bar", "1")], [("Bar", "2")], gives: .kept),
        CacheRule(
            "two", vary("Foo, bar"), first: [("Foo", "1"), ("Bar", "2")], [("Bar", "2"), ("Foo", "1")],
            gives: .kept),
        CacheRule(
            "two, one another", vary("Foo", "Bar"), first: [("Bar", "2")], [("Bar", "3")], gives: .asked),
        CacheRule(
            "spaces do not count", vary("Foo"), first: [("Foo", "1,2")], [("Foo", "1, 2")], gives: .kept),
        CacheRule(
            "lines do not count", vary("Foo"), first: [("Foo", "1, 2")], [("Foo", "1"), ("Foo", "2")],
            gives: .kept),
        CacheRule("order counts", vary("Foo"), first: [("Foo", "1, 2")], [("Foo", "2, 1")], gives: .asked),
        CacheRule(
            "secrets count", vary("Cookie"), first: [("Cookie", "a=1")], [("Cookie", "a=2")], gives: .asked),
        CacheRule("an invalid name", vary("Foo Bar"), gives: .kept),
        CacheRule("*", vary("*"), gives: .asked), CacheRule("*, *", vary("*, *"), gives: .asked),
        CacheRule(", *", vary("", "*"), gives: .asked), CacheRule("Foo, *", vary("Foo, *"), gives: .asked),
        CacheRule("*, Foo", vary("*, Foo"), gives: .asked),
        CacheRule("an empty Vary", vary(""), gives: .kept),
    ]

    static let askers: [CacheRule] = [
        CacheRule(
            "the same credentials", [hour], first: [("Authorization", "a")], [("Authorization", "a")],
            gives: .kept),
        CacheRule("others", [hour], first: [("Authorization", "a")], [("Authorization", "b")], gives: .asked),
        CacheRule("none now", [hour], first: [("Authorization", "a")], gives: .asked),
        CacheRule("none then", [hour], [("Authorization", "a")], gives: .asked),
        CacheRule("other cookies", [hour], first: [("Cookie", "a=1")], [("Cookie", "a=2")], gives: .asked),
        CacheRule("the same cookies", [hour], first: [("Cookie", "a=1")], [("Cookie", "a=1")], gives: .kept),
    ]

    /// Freshness lifetime (RFC 9111 §4.2.1).
    @Test(arguments: freshness)
    func checkFreshness(_ rule: CacheRule) throws { try rule.check() }

    /// Age (RFC 9111 §4.2.3).
    @Test(arguments: age)
    func checkAge(_ rule: CacheRule) throws { try rule.check() }

    /// Time on the way is age (RFC 9111 §4.2.3).
    @Test(arguments: [(1.0, 1), (2.0, 2)])
    func timeOnTheWayIsAge(_ wait: Double, _ requests: Int) throws {
        let stage = CacheStage([.fields([("Cache-Control", "max-age=10")], after: .seconds(8))])
        try stage.send()
        try stage.wait(wait)
        try stage.send()
        #expect(stage.asked == requests)
    }

    /// Heuristic freshness (RFC 9111 §4.2.2).
    @Test(arguments: heuristics + heuristicStatuses)
    func checkHeuristics(_ rule: CacheRule) throws { try rule.check() }

    /// Storing responses (RFC 9111 §3).
    @Test(arguments: storing + explicitStatuses)
    func checkStoring(_ rule: CacheRule) throws { try rule.check() }

    /// Directives of responses (RFC 9111 §5.2.2).
    @Test(arguments: directives)
    func checkDirectives(_ rule: CacheRule) throws { try rule.check() }

    /// Directives of requests (RFC 9111 §5.2.1).
    @Test(arguments: requests)
    func checkRequests(_ rule: CacheRule) throws { try rule.check() }

    /// The cache modes of Fetch.
    @Test(arguments: modes)
    func checkModes(_ rule: CacheRule) throws { try rule.check() }

    /// Variants (RFC 9111 §4.1).
    @Test(arguments: variants)
    func checkVariants(_ rule: CacheRule) throws { try rule.check() }

    /// Responses of one account are not delivered to another.
    @Test(arguments: askers)
    func checkAskers(_ rule: CacheRule) throws { try rule.check() }
}
