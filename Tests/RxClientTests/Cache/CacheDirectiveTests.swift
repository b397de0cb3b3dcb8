import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// The directives of a request's `Cache-Control` (RFC 9111 §5.2.1) in every mode of the cache.
@Suite struct CacheDirectiveTests {
    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    static let modes: [CacheMode] = [.standard, .noStore, .reload, .noCache, .forceCache, .onlyIfCached]

    /// For each directive and mode the outcomes without a stored response, with one that is fresh for another 50 s at
    /// an age of 10 s, and with one that has been stale for 10 s at an age of 70 s:
    ///
    /// - `A`: the server is asked
    /// - `C`: the server is asked to confirm the stored response
    /// - `F`, `S`: the stored response is delivered, fresh or stale
    /// - `X`: 504, and nothing is sent
    static let table = """
        directive          standard  noStore  reload  noCache  forceCache  onlyIfCached
        x                  AFC       AAA      AAA     ACC      AFS         XFS
        no-store           AAA       AAA      AAA     AAA      AAA         XXX
        no-cache           ACC       AAA      AAA     ACC      ACC         XXX
        max-age=0          ACC       AAA      AAA     ACC      ACC         XXX
        max-age=5          ACC       AAA      AAA     ACC      ACC         XXX
        max-age=20         AFC       AAA      AAA     ACC      AFC         XFX
        max-age=100        AFC       AAA      AAA     ACC      AFS         XFS
        max-stale          AFS       AAA      AAA     ACC      AFS         XFS
        max-stale=20       AFS       AAA      AAA     ACC      AFS         XFS
        max-stale=5        AFC       AAA      AAA     ACC      AFC         XFX
        max-stale=y        AFC       AAA      AAA     ACC      AFC         XFX
        min-fresh=40       AFC       AAA      AAA     ACC      AFC         XFX
        min-fresh=55       ACC       AAA      AAA     ACC      ACC         XXX
        only-if-cached     XFX       XXX      XXX     XXX      XFS         XFS
        no-transform       AFC       AAA      AAA     ACC      AFS         XFS
        stale-if-error=60  AFC       AAA      AAA     ACC      AFS         XFS
        """

    static let rows = table.split(separator: "\n").dropFirst().map { line in
        line.split(separator: " ").map(String.init)
    }

    /// The ways to send a request through a cache.
    enum Way: CaseIterable {
        case client, byHand
    }

    private static let terms: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    private func send(
        _ client: Client, _ headers: Headers = [:], _ mode: CacheMode = .standard, by way: Way = .client
    ) throws -> Recorder<Response, NetworkError> {
        var request = Request(url: try #require(URL(string: "http://shop.test/goods")))
        try request.setFields(headers)
        let responses =
            switch way {
            case .client:
                client.request(
                    .get("/goods", options: RequestOptions(headers: headers, cacheMode: mode)))
            case .byHand:
                client.configuration.cache.response(to: request, mode: mode) { request in
                    client.exchange(request).response(to: request)
                }.checkStatus()
            }
        let recorder = Recorder(responses, on: clock)
        try clock.run()
        return recorder
    }

    /// Checks the outcome of a request, as the table shows it, and whether the response of the server is stored.
    private func check(
        _ headers: Headers, _ mode: CacheMode, by way: Way = .client, storedFor age: Duration?,
        gives expected: Character, stores: Bool
    ) throws {
        let (old, new) = (
            ScriptedTransport.Reply.json("[1]", headers: Self.terms),
            ScriptedTransport.Reply.json("[2]", headers: Self.terms)
        )
        let (client, transport) =
            age == nil
            ? fixture.client(.http, .when(.get, "/goods", new))
            : fixture.client(.http, .when(.get, "/goods", old, new))
        if let age {
            _ = try send(client)
            try clock.advance(by: age)
        }
        let before = transport.requests.count
        let recorder = try send(client, headers, mode, by: way)
        let sent = transport.requests.dropFirst(before)
        let outcome: Character =
            switch (recorder.values.first?.text, sent.count) {
            case ("[2]", 1): sent.first?.headerFields[.ifNoneMatch] == nil ? "A" : "C"
            case ("[1]", 0): recorder.values.first?.cacheUse == .stale ? "S" : "F"
            case (nil, 0) where recorder.failure?.status == .gatewayTimeout: "X"
            default: "?"
            }
        let name = Comment("\(headers) \(mode) \(way) \(age.map { "\($0)" } ?? "nothing stored")")
        #expect(outcome == expected, name)
        // The directives reach the server.
        if let request = sent.first {
            for field in headers.fields {
                #expect(request.headerFields[try #require(HTTPField.Name(field.name))] == field.value)
            }
        }
        let stored = try send(client, [:], .onlyIfCached).values.first?.text
        let isAsked = expected == "A" || expected == "C"
        #expect(stored == (isAsked && stores ? "[2]" : age == nil ? nil : "[1]"), name)
    }

    /// Directives and modes.
    @Test(arguments: rows, Way.allCases)
    func theStricterOneCounts(_ row: [String], _ way: Way) throws {
        for (mode, cells) in zip(Self.modes, row.dropFirst()) {
            for (cell, age) in zip(cells, [nil, Duration.seconds(10), .seconds(70)]) {
                try check(
                    ["Cache-Control": row[0]], mode, by: way, storedFor: age, gives: cell,
                    stores: mode != .noStore && row[0] != "no-store")
            }
        }
    }

    @Test func theTableNamesEveryMode() {
        let names = Self.table.prefix { $0 != "\n" }.split(separator: " ").dropFirst().map(String.init)
        #expect(names == Self.modes.map { "\($0)" })
        #expect(Self.rows.allSatisfy { $0.count == 1 + Self.modes.count })
    }

    /// Pragma without Cache-Control counts as no-cache (RFC 9111 §5.4).
    @Test(arguments: Way.allCases)
    func pragma(_ way: Way) throws {
        let row = try #require(Self.rows.first { $0[0] == "no-cache" })
        for (mode, cells) in zip(Self.modes, row.dropFirst()) {
            for (cell, age) in zip(cells, [nil, Duration.seconds(10), .seconds(70)]) {
                try check(
                    ["Pragma": "no-cache"], mode, by: way, storedFor: age, gives: cell,
                    stores: mode != .noStore)
            }
        }
    }

    /// A request that bypasses the cache is not sent if it must not be.
    @Test(arguments: Way.allCases)
    func conditionsAndRanges(_ way: Way) throws {
        for name in ["Range", "If-None-Match"] {
            let value = name == "Range" ? "bytes=0-1" : "\"b\""
            for age in [nil, Duration.seconds(10)] {
                try check(
                    [name: value], .onlyIfCached, by: way, storedFor: age, gives: "X", stores: false)
                try check(
                    [name: value, "Cache-Control": "only-if-cached"], .standard, by: way, storedFor: age,
                    gives: "X", stores: false)
            }
        }
    }

    /// Only-if-cached sends nothing within stale-while-revalidate.
    @Test(arguments: Way.allCases)
    func nothingIsRefreshed(_ way: Way) throws {
        let terms: HTTPFields = [.cacheControl: "max-age=60, stale-while-revalidate=60"]
        let (client, transport) = fixture.client(.http, .when(.get, "/goods", .json("[1]", headers: terms)))
        _ = try send(client)
        try clock.advance(by: .seconds(70))
        let recorder = try send(client, ["Cache-Control": "only-if-cached"], by: way)
        #expect(recorder.values.map(\.cacheUse) == [.stale])
        #expect(transport.requests.count == 1)
    }

    static let failures: [(CacheMode, String, Bool)] = [
        (.standard, "stale-if-error=60", true), (.standard, "stale-if-error=5", false),
        (.standard, "no-cache, stale-if-error=60", false), (.noStore, "stale-if-error=60", false),
        (.reload, "stale-if-error=60", false), (.noCache, "stale-if-error=60", false),
        (.forceCache, "max-age=20, stale-if-error=60", true), (.forceCache, "max-age=20", false),
    ]

    /// Stale-if-error if the server fails (RFC 5861 §4).
    @Test(arguments: failures)
    func serverFailures(_ mode: CacheMode, _ directives: String, _ isUsed: Bool) throws {
        let (client, _) = fixture.client(
            .http, .when(.get, "/goods", .json("[1]", headers: Self.terms), .failure(.connectionLost)))
        _ = try send(client)
        try clock.advance(by: .seconds(70))
        let recorder = try send(client, ["Cache-Control": directives], mode)
        #expect(recorder.values.map(\.cacheUse) == (isUsed ? [.stale] : []))
        #expect((recorder.failure?.code == .connectionLost) == !isUsed)
    }

    static let times: [(CacheMode, String, Int)] = [
        (.standard, "x", 1), (.standard, "max-age=5", 2), (.forceCache, "no-cache", 2),
        (.forceCache, "min-fresh=55", 2), (.standard, "no-store", 2), (.standard, "max-age=20", 1),
    ]

    /// The policies by time follow the directives, too.
    @Test(arguments: times)
    func policiesByTime(_ mode: CacheMode, _ directive: String, _ count: Int) throws {
        for (policy, method) in [
            (CachePolicy.time(.seconds(60)), HTTPRequest.Method.get), (.post(.seconds(60)), .post),
        ] {
            let (client, transport) = fixture.client(policy, .when(method, "/goods", .json("[1]")))
            try fixture.run(CacheFixture.Goods(method: method), client)
            try clock.advance(by: .seconds(10))
            let options = RequestOptions(headers: ["Cache-Control": directive], cacheMode: mode)
            try fixture.run(CacheFixture.Goods(method: method, options: options), client)
            #expect(transport.requests.count == count)
        }
    }
}
