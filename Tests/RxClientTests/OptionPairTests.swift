import FoundationEssentials
import HTTPTypes
import RxCache
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Each pair of values of two options meets in at least one run of a small scenario, which has to keep the rules that hold
/// with any options.
@Suite struct OptionPairTests {
    /// The table has every property of the options and of the configuration.
    @Test func everyOptionIsInTheTable() throws {
        let known = Set(PairTable.factors.map(\.name))
        let options = try stored("RequestOptions.swift")
        let configuration = try stored("ClientConfiguration.swift")
        #expect(options.count > 20 && configuration.count > 25)
        // The values of `options` are those of the other factors.
        #expect(
            options.union(configuration).subtracting(known) == ["options"],
            "an option that the table does not know")
        #expect(PairTable.factors.allSatisfy { $0.values.count > 1 })
    }

    /// The names of the public properties in a file of the client.
    private func stored(_ file: String) throws -> Set<String> {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/RxClient").standardized
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        let names = text.matches(of: #/\n    public (?:internal\(set\) |private\(set\) )?(?:var|let) (\w+)/#)
            .map { String($0.1) }
        return Set(names).subtracting(["description", "debugDescription", "customMirror"])
    }

    /// The rows contain every pair.
    @Test func everyPairIsCovered() {
        let sizes = PairTable.factors.map(\.values.count)
        let rows = Pairs.rows(of: sizes, seed: 1)
        for one in sizes.indices {
            for other in sizes.indices where one < other {
                let pairs = Set(rows.map { [$0[one], $0[other]] })
                #expect(pairs.count == sizes[one] * sizes[other])
            }
        }
    }

    /// Every pair keeps the rules.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func everyPairKeepsTheRules(seed: UInt64) throws {
        let rows = Pairs.rows(of: PairTable.factors.map(\.values.count), seed: seed)
        var succeeded = 0
        var reports: [String: Int] = [:]
        for row in rows {
            let outcome = try PairScenario.run(row)
            succeeded += outcome.succeeded
            for rule in Set(outcome.violations.map(rule)) where reports[rule, default: 0] < 3 {
                reports[rule, default: 0] += 1
                let (smallest, violations) = try shrunk(row, breaking: rule)
                Issue.record("\(PairTable.description(of: smallest)): \(violations.prefix(3))")
            }
        }
        #expect(succeeded > rows.count * 3, "most runs have responses")
    }

    /// It must not be sent, not even if the request cannot use stored responses (RFC 9111 §5.2.1.7).
    @Test(arguments: [CachePolicy.http, .time(.seconds(60))])
    func onlyIfCachedIsNeverSent(policy: CachePolicy) throws {
        let fixture = ResilienceFixture()
        let (client, transport) = fixture({ _ in }, [.json("1")])
        for fields: Headers in [[:], ["Range": "bytes=0-9"]] {
            let options = RequestOptions(
                headers: fields, cachePolicy: policy, cacheMode: .onlyIfCached,
                decodesContent: fields.fields.isEmpty ? false : nil)
            let recorder = try fixture.outcome(client.get("/x", options: options))
            #expect(recorder.failure?.status == .gatewayTimeout)
        }
        #expect(transport.requests.isEmpty)
    }

    private func rule(_ violation: String) -> String { String(violation.prefix { $0 != ":" }) }

    /// The row with as many default values as possible that still breaks a rule.
    private func shrunk(_ row: [Int], breaking rule: String) throws -> (row: [Int], violations: [String]) {
        func violations(_ row: [Int]) throws -> [String] {
            try PairScenario.run(row).violations.filter { self.rule($0) == rule }
        }
        var smallest = (row: row, violations: try violations(row))
        for index in row.indices where row[index] != 0 {
            var simpler = smallest.row
            simpler[index] = 0
            let broken = try violations(simpler)
            if !broken.isEmpty { smallest = (simpler, broken) }
        }
        return smallest
    }
}

/// All pairs of the values of several factors in few rows (AETG, Cohen et al. 1997): each row is the best of several greedy
/// ones.
enum Pairs {
    static func rows(of sizes: [Int], seed: UInt64) -> [[Int]] {
        var random = SeededRandom(seed)
        let offsets = sizes.reduce(into: [0]) { $0.append($0.last! + $1) }
        let count = offsets.last!
        // Whether the values with these numbers have still to meet.
        var open = [Bool](repeating: false, count: count * count)
        for one in sizes.indices {
            for other in sizes.indices where one != other {
                for value in 0..<sizes[one] {
                    for second in 0..<sizes[other] {
                        open[(offsets[one] + value) * count + offsets[other] + second] = true
                    }
                }
            }
        }
        var rows: [[Int]] = []
        while let first = open.firstIndex(of: true) {
            var best: (row: [Int], covered: Int) = ([], -1)
            for _ in 0..<4 {
                var row = [Int](repeating: -1, count: sizes.count)
                var numbers = [first / count, first % count]
                for number in numbers {
                    let factor = offsets.lastIndex { $0 <= number }!
                    row[factor] = number - offsets[factor]
                }
                var covered = 1
                for factor in sizes.indices.shuffled(using: &random) where row[factor] < 0 {
                    var choice = (value: 0, gain: -1)
                    let start = Int.random(in: 0..<sizes[factor], using: &random)
                    for step in 0..<sizes[factor] {
                        let value = (start + step) % sizes[factor]
                        let line = (offsets[factor] + value) * count
                        let gain = numbers.count { open[line + $0] }
                        if gain > choice.gain { choice = (value, gain) }
                    }
                    row[factor] = choice.value
                    numbers.append(offsets[factor] + choice.value)
                    covered += choice.gain
                }
                if covered > best.covered { best = (row, covered) }
            }
            for one in sizes.indices {
                for other in sizes.indices where one != other {
                    open[(offsets[one] + best.row[one]) * count + offsets[other] + best.row[other]] = false
                }
            }
            rows.append(best.row)
        }
        return rows
    }
}

/// The options, and what else differs between the runs. The first value of each factor is the default.
enum PairTable {
    typealias Value = (name: String, apply: @Sendable (inout PairSetup) -> Void)

    struct Factor: Sendable {
        let name: String
        let values: [Value]

        init(_ name: String, _ values: (String, @Sendable (inout PairSetup) -> Void)...) {
            self.name = name
            self.values = values.map { (name: $0.0, apply: $0.1) }
        }
    }

    private static func retry(_ count: Int) -> RetryPolicy<NetworkError> {
        .exponentialBackoff(maxRetries: count, random: { 0.5 })
    }

    private static let breaker = CircuitBreaker.Policy(minimumRequests: 3, openDuration: .seconds(10))

    static let factors = configuration + options + scenario

    private static let scenario = [
        Factor(
            "behavior", ("well", { _ in }), ("slow", { $0.behavior = .slow }),
            ("503", { $0.behavior = .unavailable }),
            ("lost", { $0.behavior = .lost }), ("silent", { $0.behavior = .silent }),
            ("unconnected", { $0.behavior = .unconnected }), ("401", { $0.behavior = .expired }),
            ("429", { $0.behavior = .throttled }), ("moved", { $0.behavior = .moved }),
            ("down", { $0.behavior = .down })),
        Factor(
            "method", ("GET", { $0.method = .get }), ("PUT", { $0.method = .put }),
            ("POST", { $0.method = .post })),
        Factor(
            "kind", ("request", { $0.kind = .request }), ("progress", { $0.kind = .progress }),
            ("stream", { $0.kind = .stream }), ("download", { $0.kind = .download }),
            ("events", { $0.kind = .events })),
        Factor("place of the options", ("endpoint", { _ in }), ("client", { $0.isInClient = true })),
        Factor(
            "freshness", ("max-age=60", { _ in }), ("no-store", { $0.terms = "no-store" }),
            ("stale-if-error", { $0.terms = "max-age=0, stale-if-error=3600" })),
    ]

    private static let options = [
        Factor("headers", ("none", { _ in }), ("X-Pair", { $0.options.headers = ["X-Pair": "1"] })),
        Factor(
            "retry", ("2", { $0.options.retry = retry(2) }), ("never", { $0.set(retries: 0, .never) }),
            (
                "3 within the client's budget",
                { setup in
                    guard let budget = setup.configuration.retryBudget else {
                        return setup.set(retries: 3, retry(3))
                    }
                    setup.set(retries: 3, retry(3).limited(by: budget))
                }
            )),
        Factor(
            "timeouts", ("default", { _ in }),
            ("total", { $0.options.timeouts = Timeouts(total: .seconds(5)) }),
            ("attempt", { $0.options.timeouts = Timeouts(attempt: .seconds(1)) }),
            ("queue", { $0.options.timeouts = Timeouts(queue: .seconds(1), firstByte: .seconds(2)) })),
        Factor(
            "hedging", ("never", { _ in }), ("fixed", { $0.options.hedging = .after(.milliseconds(100)) }),
            ("percentile", { $0.options.hedging = .percentile(initially: .milliseconds(300)) })),
        Factor("isIdempotent", ("default", { _ in }), ("true", { $0.options.isIdempotent = true })),
        Factor(
            "server", ("default", { _ in }), ("main", { $0.options.server = .main }),
            ("standby", { $0.options.server = .standby })),
        Factor(
            "cachePolicy", ("default", { _ in }), ("http", { $0.options.cachePolicy = .http }),
            ("time", { $0.options.cachePolicy = .time(.seconds(60)) }),
            ("post", { $0.options.cachePolicy = .post(.seconds(60)) })),
        Factor(
            "cacheMode", ("default", { _ in }), ("no-store", { $0.options.cacheMode = .noStore }),
            ("reload", { $0.options.cacheMode = .reload }), ("no-cache", { $0.options.cacheMode = .noCache }),
            ("force-cache", { $0.options.cacheMode = .forceCache }),
            ("only-if-cached", { $0.options.cacheMode = .onlyIfCached })),
        Factor("usesSession", ("default", { _ in }), ("false", { $0.options.usesSession = false })),
        Factor("usesCookies", ("default", { _ in }), ("false", { $0.options.usesCookies = false })),
        Factor("isSigned", ("default", { _ in }), ("false", { $0.options.isSigned = false })),
        Factor(
            "usesParameterRewriting", ("default", { _ in }),
            ("false", { $0.options.usesParameterRewriting = false })),
        Factor(
            "envelope", ("absent", { _ in }),
            ("code 200", { $0.options.envelope = Envelope(success: 200, loginExpired: 401) })),
        Factor(
            "contentTypes", ("default", { _ in }), ("JSON", { $0.options.contentTypes = .json }),
            ("all", { $0.options.contentTypes = .any })),
        Factor("part", ("default", { _ in }), ("item", { $0.options.part = "item" })),
        Factor(
            "compressesContent", ("default", { _ in }), ("true", { $0.options.compressesContent = true })),
        Factor("decodesContent", ("default", { _ in }), ("false", { $0.options.decodesContent = false })),
        Factor("continuePolicy", ("default", { _ in }), ("always", { $0.options.continuePolicy = .always })),
        Factor("presentation", ("default", { _ in }), ("hidden", { $0.options.presentation = .hidden })),
        Factor("willStart", ("none", { _ in }), ("called", { $0.options.willStart = { _ in } })),
        Factor("tags", ("none", { _ in }), ("one", { $0.options.tags = ["pair"] })),
        Factor(
            "interceptors", ("none", { _ in }),
            (
                "waiting",
                {
                    $0.options.interceptors = Interceptors(
                        call: [Waiting()], attempt: [Waiting()], exchange: [Waiting()])
                }
            ),
            ("keys", { $0.options.interceptors.call = [.idempotencyKeys()] })),
    ]

    private static let configuration = [
        Factor(
            "baseURL", ("with a path", { _ in }),
            ("without", { $0.configuration.baseURL = "https://main.test" })),
        Factor(
            "standbyURL", ("none", { _ in }),
            ("one", { $0.configuration.standbyURL = "https://standby.test/v1" })),
        Factor(
            "failoverProbeInterval", ("none", { _ in }),
            ("default", { $0.configuration.failoverProbeInterval = .seconds(30) })),
        Factor(
            "allowsOtherOrigins", ("false", { _ in }),
            ("true", { $0.configuration.allowsOtherOrigins = true })),
        Factor("userAgent", ("default", { _ in }), ("none", { $0.configuration.userAgent = nil })),
        Factor("redirects", ("default", { _ in }), ("manual", { $0.configuration.redirects = .manual })),
        Factor("bodyLimit", ("default", { _ in }), ("1000", { $0.configuration.bodyLimit = 1000 })),
        Factor(
            "parameterFormat", ("JSON", { _ in }), ("form", { $0.configuration.parameterFormat = .form }),
            ("query", { $0.configuration.parameterFormat = .query })),
        Factor(
            "parameterStyle", ("default", { _ in }),
            ("indexed", { $0.configuration.parameterStyle = ParameterStyle(lists: .indexed, usesDots: true) })
        ),
        Factor("encoder", ("default", { _ in }), ("plain", { $0.configuration.encoder = JSONEncoder() })),
        Factor(
            "decoder", ("default", { _ in }),
            (
                "snake case",
                {
                    $0.configuration.decoder = JSONDecoder()
                    $0.configuration.decoder.keyDecodingStrategy = .convertFromSnakeCase
                }
            )),
        Factor(
            "rewriteParameters", ("none", { _ in }),
            ("v", { $0.configuration.rewriteParameters = { $0.adding(["v": "2"]) } })),
        Factor(
            "signature", ("none", { _ in }),
            ("field", { $0.configuration.signature = .headers { _ in ["X-Sign": "sign"] } }),
            ("parameter", { $0.configuration.signature = .parameters { _ in ["sign": "x"] } })),
        Factor("signer", ("none", { _ in }), ("field", { $0.configuration.signer = PairSigner() })),
        Factor(
            "session", ("none", { _ in }), ("bearer", { $0.logIn(.bearer) }),
            ("query", { $0.logIn(.query("token")) }),
            ("cookie, by a login", { $0.logIn(.cookie("token"), first: true) })),
        Factor(
            "authentication", ("none", { _ in }),
            ("basic", { $0.configuration.authentication = .basic(user: "a", password: "b") })),
        Factor(
            "cookies", ("none", { _ in }),
            ("jar", { $0.configuration.cookies = CookieJar(publicSuffixes: .unknown) })),
        Factor(
            "secretFields", ("none", { _ in }),
            ("X-Pair", { $0.configuration.secretFields = [.init("X-Pair")!] })),
        Factor("secretParameters", ("none", { _ in }), ("n", { $0.configuration.secretParameters = ["n"] })),
        Factor(
            "cache", ("default", { _ in }),
            (
                "tiny",
                {
                    $0.configuration.cache = ResponseCache(store: MemoryCacheStore(limit: 600))
                    $0.hasTinyCache = true
                }
            )),
        Factor(
            "retryBudget", ("default", { _ in }), ("none", { $0.configuration.retryBudget = nil }),
            (
                "two in ten seconds",
                {
                    $0.configuration.retryBudget = RetryBudget(ratio: 0, floor: 0.2)
                    $0.budget = 2
                }
            )),
        Factor(
            "circuitBreaker", ("none", { _ in }), ("3", { $0.configuration.circuitBreaker = breaker })),
        Factor(
            "limits", ("none", { _ in }), ("2", { $0.configuration.limits = RequestLimits(concurrency: 2) })),
        Factor(
            "hostLimits", ("none", { _ in }),
            ("1", { $0.configuration.hostLimits = RequestLimits(concurrency: 1) }),
            ("rate", { $0.configuration.hostLimits = RequestLimits(rate: .perSecond(2, burst: 2)) })),
        Factor(
            "reachability", ("none", { _ in }),
            ("Wi-Fi", { $0.configuration.reachability = ScriptedReachability(.wifi) })),
        Factor(
            "accessories",
            ("counted", { setup in setup.configuration.options.accessories = [setup.log.accessory] }),
            ("none", { _ in })),
        Factor(
            "errorTexts", ("English", { _ in }),
            ("one", { $0.configuration.errorTexts = ErrorTexts([:], fallback: "failed") })),
        Factor(
            "files", ("none", { _ in }),
            ("memory", { $0.configuration.files = MemoryFileSystem(on: $0.clock) })),
    ]

    static func description(of row: [Int]) -> String {
        zip(factors, row).filter { $1 != 0 }.map { "\($0.name): \($0.values[$1].name)" }.joined(
            separator: ", ")
    }
}
