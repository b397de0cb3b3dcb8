import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// The three interceptors that come with the library.
@Suite struct ShippedInterceptorTests: InterceptorSuite {
    let clock = VirtualScheduler()

    private func client(
        _ answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply,
        _ interceptors: Interceptors
    ) -> (Client, ScriptedTransport) {
        client(answer) { $0.options.interceptors = interceptors }
    }

    @Test func anIdempotencyKeyIsTheSameForAllAttemptsOfACallAndOfNoOther() throws {
        let script = Script([.failure(.connectionLost), .json("1"), .json("1")])
        let (client, transport) = client({ _ in script.next() }, Interceptors(call: [.idempotencyKeys()]))
        for _ in 1...2 {
            let recorder = Recorder(client.post("/orders", ["goods": 7]), on: clock)
            try clock.run()
            #expect(recorder.isFinished)
        }
        let keys = transport.requests.map { $0.headerFields[HTTPField.Name.idempotencyKey] ?? "none" }
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2])
        #expect(keys[0].count == 38 && keys[0].hasPrefix("\""))
        client.get("/orders").subscribe()
        client.post("/orders", headers: ["Idempotency-Key": "own"]).subscribe()
        try clock.run()
        #expect(transport.requests.suffix(2).map { $0.headerFields[.idempotencyKey] } == [nil, "own"])
    }

    /// The fields by which servers allow one more request, and none for ten seconds after it.
    static let limits: [[HTTPField.Name: String]] = [
        [.init("RateLimit")!: #""a";r=5;t=1, "b";r=1;t=10"#, .init("RateLimit-Policy")!: #""b";q=2;w=10"#],
        [
            .init("RateLimit-Remaining")!: "1", .init("RateLimit-Reset")!: "10",
            .init("RateLimit-Limit")!: "2",
        ],
        [
            .init("X-RateLimit-Remaining")!: "1", .init("X-RateLimit-Reset")!: "10",
            .init("X-RateLimit-Limit")!: "2",
        ],
    ]

    @Test(arguments: limits)
    func aServersLimitIsFollowed(_ fields: [HTTPField.Name: String]) throws {
        let clock = clock
        let (client, transport) = client(
            { _ in
                // Only the first response has the fields: the others bring nothing new.
                let said = HTTPFields(fields.map { HTTPField(name: $0, value: $1) })
                return .json("1", headers: clock.now == .zero ? said : [:], after: .seconds(1))
            }, Interceptors(attempt: [.serverRateLimits()]))
        client.get("/x").subscribe()
        try clock.advance(by: .seconds(1))
        for _ in 1...4 { client.get("/x").subscribe() }
        try clock.run()
        // One more at once; when the time is over as many as the quota, and the last one after one of these.
        #expect(transport.exchanges.map(\.startedAt) == [0, 1, 11, 11, 12].map { .seconds($0) })
    }

    @Test func whereSomeAreLeftTheNextWaitsForAResponseAndNotForTheReset() throws {
        let clock = clock
        let (client, transport) = client(
            { _ in
                let fields: HTTPFields = [HTTPField.Name("RateLimit")!: #""a";r=3;t=3000"#]
                return .json("1", headers: fields, after: .seconds(clock.now < .seconds(2) ? 2 : 1))
            }, Interceptors(attempt: [.serverRateLimits()]))
        for _ in 1...5 { client.get("/x").subscribe() }
        try clock.advance(by: .seconds(2))
        let late = (1...4).map { _ in Recorder(client.get("/x"), on: clock) }
        try clock.run()
        #expect(late.filter(\.isFinished).count == 4)
        #expect(transport.exchanges.suffix(4).map(\.startedAt) == [2, 2, 2, 3].map { .seconds($0) })
    }

    @Test func aRequestThatLeavesTheQueueHoldsNobodyUp() throws {
        let clock = clock
        let (client, transport) = client(
            { _ in .json("1", headers: [HTTPField.Name("RateLimit")!: #""a";r=0;t=10"#]) },
            Interceptors(attempt: [.serverRateLimits()]))
        client.get("/x").subscribe()
        try clock.advance(by: .seconds(1))
        let first = Recorder(client.get("/y"), on: clock)
        let second = Recorder(client.get("/z"), on: clock)
        first.cancel()
        try clock.advance(by: .seconds(10))
        #expect(second.isFinished)
        #expect(transport.requests.map { $0.url.path() } == ["/x", "/z"])
    }

    @Test func aRefusalHoldsTheNextOnes() throws {
        let clock = clock
        let (client, transport) = client(
            { _ in clock.now < .seconds(3) ? .status(429, headers: [.retryAfter: "3"]) : .json("1") },
            Interceptors(attempt: [.serverRateLimits()]))
        let first = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(1))
        let second = Recorder(client.get("/y"), on: clock)
        try clock.run()
        #expect(first.isFinished && second.isFinished)
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(3), .seconds(3)])
    }

    @Test func aWaitThatIsTooLongIsAnErrorAtOnce() throws {
        let (client, _) = client(
            { _ in .json("1", headers: [HTTPField.Name("RateLimit")!: #""a";r=0;t=3600"#]) },
            Interceptors(attempt: [.serverRateLimits()]))
        client.get("/x").subscribe()
        try clock.run()
        let late = Recorder(client.get("/x", options: RequestOptions(retry: .never)), on: clock)
        try clock.run()
        #expect(late.failure?.code == .queueTimeout)
        #expect(clock.now < .seconds(1))
    }

    /// RFC 9530, Appendix B.1: `{"hello": "world"}` and a line feed.
    static let body = "{\"hello\": \"world\"}\n"
    static let digests = [
        ("Content-Digest", "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:", true),
        ("Repr-Digest", "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:", true),
        (
            "Content-Digest",
            "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:",
            true
        ),
        ("Content-Digest", "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:", false),
        ("Content-Digest", "md5=:AAAA:", true), ("Content-Digest", "nonsense", true),
    ]

    @Test(arguments: digests)
    func aBodyIsComparedWithItsDigest(_ name: String, _ digest: String, _ isRight: Bool) throws {
        let (client, transport) = client(
            { _ in
                .steps(
                    .head(ResponseHead(status: .ok, headerFields: [HTTPField.Name(name)!: digest])),
                    .chunk(Array(Self.body.utf8.prefix(7))), .chunk(Array(Self.body.utf8.dropFirst(7))),
                    .finish)
            },
            Interceptors(exchange: [.contentDigestVerification()]))
        let options = RequestOptions(retry: .never)
        let whole = Recorder(client.get("/x", options: options), on: clock)
        let stream = Recorder(client.stream(.get("/x", options: options)), on: clock)
        try clock.run()
        #expect(whole.isFinished == isRight && whole.failure?.code == (isRight ? nil : .digestMismatch))
        #expect(stream.failure?.code == (isRight ? nil : .digestMismatch))
        #expect(transport.requests.first?.headerFields[.acceptEncoding] == "identity")
    }

    @Test func aDigestCanBeRequired() throws {
        let (client, _) = client(
            { _ in .json("1") }, Interceptors(exchange: [.contentDigestVerification(isRequired: true)]))
        let recorder = Recorder(client.get("/x", options: RequestOptions(retry: .never)), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .digestMismatch)
    }

    @Test func anErrorStatusNeedsNoDigest() throws {
        let (client, _) = client(
            { _ in .json(#"{"message": "no such tea"}"#, status: .notFound) },
            Interceptors(exchange: [.contentDigestVerification(isRequired: true)]))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .status && recorder.failure?.message == "no such tea")
    }

    @Test func aDynamicHeaderHasTheValueOfTheMoment() throws {
        let language = Mutex<String?>("de")
        let header = BuiltInInterceptor.dynamicHeader("Accept-Language") { language.withLock { $0 } }
        for (place, expected) in [
            (Interceptors(call: [header]), ["de", "de"]), (Interceptors(attempt: [header]), ["de", "it"]),
        ] {
            language.withLock { $0 = "de" }
            let count = Mutex(0)
            let (client, transport) = client(
                { _ in
                    language.withLock { $0 = "it" }
                    let isFirst = count.withLock { count in
                        defer { count += 1 }
                        return count == 0
                    }
                    return isFirst ? .failure(.connectionLost) : .json("1")
                }, place)
            #expect(try run(client.get("/x")).isFinished)
            #expect(transport.requests.map { $0.headerFields[.acceptLanguage] } == expected)
            language.withLock { $0 = nil }
            #expect(try run(client.get("/x", headers: ["Accept-Language": "fr"])).isFinished)
            #expect(transport.requests.last?.headerFields[.acceptLanguage] == "fr")
            language.withLock { $0 = "a\nb" }
            #expect(try run(client.get("/x")).failure?.code == .invalidHeader)
        }
    }

    @Test func aSecretDynamicHeaderStaysAtTheClientsOrigin() throws {
        let (client, transport) = client({ _ in .json("1") }) {
            $0.allowsOtherOrigins = true
            $0.secretFields = [HTTPField.Name("X-Key")!]
            $0.options.interceptors.call = [
                .dynamicHeader("X-Key") { "k" }, .dynamicHeader("X-App") { "shop" },
            ]
        }
        for path in ["/x", "https://other.test/x"] { #expect(try run(client.get(path)).isFinished) }
        #expect(transport.requests.map { $0.headerFields[HTTPField.Name("X-Key")!] } == ["k", nil])
        #expect(transport.requests.map { $0.headerFields[HTTPField.Name("X-App")!] } == ["shop", "shop"])
    }
}
