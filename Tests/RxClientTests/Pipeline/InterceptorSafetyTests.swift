import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Interceptors cannot leak secrets or damage stored responses, signatures and circuits by accident.
@Suite struct InterceptorSafetyTests: InterceptorSuite {
    let clock = VirtualScheduler()

    @Test(arguments: ["call", "attempt", "exchange"])
    func aRequestThatIsSentElsewhereTakesNoSecretsAlong(_ place: String) throws {
        let leaving = Intercepting { request, _, next in
            var request = request
            request.url = URL(string: "https://evil.test/x") ?? request.url
            return next(request)
        }
        let jar = CookieJar(publicSuffixes: .unknown)
        try jar.set("sid=1", from: try #require(URL(string: "https://shop.test/")))
        let (client, transport) = client({ _ in .json("1") }) {
            $0.session = Session(credential: Credential(token: "t"), clock: clock) { .never() }
            $0.cookies = jar
            $0.options.headers = ["X-Key": "k"]
            $0.secretFields = [HTTPField.Name("X-Key")!]
            $0.signature = .headers { _ in ["Sign": "s"] }
            switch place {
            case "call": $0.options.interceptors.call = [leaving]
            case "attempt": $0.options.interceptors.attempt = [leaving]
            default: $0.options.interceptors.exchange = [leaving]
            }
        }
        _ = try run(client.get("/x"))
        let sent = try #require(transport.requests.first)
        #expect(sent.url.host() == "evil.test")
        let names = Set(sent.headerFields.map(\.name.canonicalName))
        #expect(names.isDisjoint(with: ["authorization", "cookie", "x-key", "sign"]), "\(names)")
    }

    @Test func whatAnInterceptorMakesOfAResponseIsNotStored() throws {
        let doubling = Intercepting { request, _, next in
            next(request).map { event in
                guard case .response(var response) = event else { return event }
                response.body += response.body
                return .response(response)
            }
        }
        let (client, transport) = client({ _ in .json("1") }) {
            $0.options.cachePolicy = .time(.seconds(60))
            $0.options.interceptors.call = [doubling]
        }
        for _ in 1...3 { #expect(try run(client.get("/x").decode(Int.self)).values == [11]) }
        #expect(transport.requests.count == 1)
    }

    @Test func aResponseOfAnInterceptorsOwnIsNotStored() throws {
        let answering = Intercepting { request, _, next in
            next(request).catch { _ in
                next.respond(with: Response(head: ResponseHead(status: .ok), body: [0x30], request: request))
            }
        }
        let script = Script([.failure(.connectionLost), .json("1")])
        let (client, _) = client({ _ in script.next() }) {
            $0.options.retry = .never
            $0.options.cachePolicy = .time(.seconds(60))
            $0.options.interceptors.call = [answering]
        }
        #expect(try run(client.get("/x").decode(Int.self)).values == [0])
        #expect(try run(client.get("/x").decode(Int.self)).values == [1])
    }

    @Test(arguments: ["attempt", "exchange"])
    func norIsOneThatIsGivenFurtherIn(_ place: String) throws {
        let isClosed = Mutex(true)
        let answering = Intercepting { request, _, next in
            guard isClosed.withLock({ $0 }) else { return next(request) }
            return next.respond(
                with: Response(head: ResponseHead(status: .ok), body: [0x30], request: request))
        }
        let (client, _) = client({ _ in .json("1") }) {
            $0.options.cachePolicy = .time(.seconds(60))
            if place == "attempt" {
                $0.options.interceptors.attempt = [answering]
            } else {
                $0.options.interceptors.exchange = [answering]
            }
        }
        #expect(try run(client.get("/x").decode(Int.self)).values == [0])
        isClosed.withLock { $0 = false }
        #expect(try run(client.get("/x").decode(Int.self)).values == [1])
    }

    /// The requests that an interceptor's response can carry.
    enum Carried: CaseIterable {
        case received, new, ofAnEarlierResponse
    }

    private func interceptors(_ place: String, _ interceptor: any Interceptor) -> Interceptors {
        switch place {
        case "call": Interceptors(call: [interceptor])
        case "attempt": Interceptors(attempt: [interceptor])
        default: Interceptors(exchange: [interceptor])
        }
    }

    @Test(arguments: ["call", "attempt", "exchange"], Carried.allCases)
    func itIsNotStoredWhateverRequestItCarries(_ place: String, _ carried: Carried) throws {
        let earlier = Mutex<Request?>(nil)
        let answering = Intercepting { request, _, next in
            guard request.url.path() == "/x", let former = earlier.withLock({ $0 }) else {
                return next(request)
            }
            let own: Request =
                switch carried {
                case .received: request
                case .new: Request(url: request.url)
                case .ofAnEarlierResponse: former
                }
            return next.respond(
                with: Response(head: ResponseHead(status: .ok), body: [0x30], request: own))
        }
        let (client, transport) = client({ _ in .json("1") }) {
            $0.options.cachePolicy = .time(.seconds(60))
            $0.options.interceptors = interceptors(place, answering)
        }
        earlier.withLock { $0 = nil }
        let response = try #require(try run(client.request(.get("/y"))).values.first)
        earlier.withLock { $0 = response.request }
        #expect(try run(client.get("/x").decode(Int.self)).values == [0])
        #expect(transport.requests.count == 1)
        earlier.withLock { $0 = nil }
        #expect(try run(client.get("/x").decode(Int.self)).values == [1])
    }

    /// A response that an interceptor emits without asking the later stages.
    @Test func norIsAResponseForWhichNothingWasSent() throws {
        let isClosed = Mutex(true)
        let emitting = Intercepting { request, _, next in
            guard isClosed.withLock({ $0 }) else { return next(request) }
            return .just(.response(Response(head: ResponseHead(status: .ok), body: [0x30], request: request)))
        }
        let (client, _) = client({ _ in .json("1") }) {
            $0.options.cachePolicy = .time(.seconds(60))
            $0.options.interceptors.attempt = [emitting]
        }
        #expect(try run(client.get("/x").decode(Int.self)).values == [0])
        isClosed.withLock { $0 = false }
        #expect(try run(client.get("/x").decode(Int.self)).values == [1])
    }

    @Test(arguments: ["attempt", "exchange"])
    func its304ChangesNothingThatIsStored(_ place: String) throws {
        let isClosed = Mutex(true)
        let answering = Intercepting { request, _, next in
            guard let tag = request.headerFields[.ifNoneMatch], isClosed.withLock({ $0 }) else {
                return next(request)
            }
            let head = ResponseHead(
                status: .notModified, headerFields: [.eTag: tag, .cacheControl: "max-age=999"])
            return next.respond(with: Response(head: head, request: request))
        }
        let clock = clock
        let (client, transport) = client({ request in
            .json("1", headers: [.cacheControl: "max-age=9", .eTag: "\"a\""])
        }) {
            $0.cache = ResponseCache { Date.start + clock.now / .seconds(1) }
            $0.options.cachePolicy = .http
            $0.options.interceptors = interceptors(place, answering)
        }
        _ = try run(client.get("/x"))
        try clock.advance(by: .seconds(10))
        #expect(try run(client.request(.get("/x"))).values.map(\.cacheUse) == [.revalidated])
        #expect(transport.requests.count == 1)
        isClosed.withLock { $0 = false }
        #expect(try run(client.get("/x").decode(Int.self)).values == [1])
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: ["attempt", "exchange"])
    func anEventOfTheWrongKindIsAnErrorWhereverItComesFrom(_ place: String) throws {
        let wrong = Intercepting { _, _, _ in .just(.output("text")) }
        let (client, _) = client({ _ in .json("1") }) {
            $0.options.cachePolicy = .http
            if place == "attempt" {
                $0.options.interceptors.attempt = [wrong]
            } else {
                $0.options.interceptors.exchange = [wrong]
            }
        }
        #expect(try run(client.get("/x")).failure?.code == .invalidResponse)
    }

    @Test func aSignatureThatAddsParametersRefusesAChangedURL() throws {
        let adding = Intercepting { request, _, next in
            var request = request
            request.url = URL(string: request.url.absoluteString + "&b=2") ?? request.url
            return next(request)
        }
        let (client, transport) = client({ _ in .json("1") }) {
            $0.signature = .parameters { _ in ["sign": "s"] }
            $0.options.interceptors.call = [adding]
        }
        #expect(try run(client.get("/x", query: ["a": 1])).failure?.code == .invalidParameters)
        #expect(transport.requests.isEmpty)
    }

    @Test func variantsOfRequestsByHandAreThoseThatWereSent() throws {
        let jar = CookieJar(publicSuffixes: .unknown)
        let url = try #require(URL(string: "https://shop.test/x"))
        try jar.set("who=anna", from: url)
        let (client, transport) = client(
            {
                .json(
                    "\"\($0.headerFields[.cookie] ?? "")\"",
                    headers: [.vary: "Cookie", .cacheControl: "max-age=60"])
            }
        ) { $0.cookies = jar }
        let cache = client.configuration.cache
        func ask() throws -> String? {
            let request = Request(url: url)
            return try run(
                cache.response(to: request, cookies: jar) { client.exchange($0).response(to: $0) }
            ).values.first?.text
        }
        #expect(try ask() == #""who=anna""#)
        try jar.set("who=ben", from: url)
        #expect(try ask() == #""who=ben""#)
        #expect(transport.requests.count == 2)
    }

    @Test func eventSourcesWhoseConnectionsEndOpenNoCircuit() throws {
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        let (client, _) = client(
            { _ in
                .steps(
                    .head(head), .chunk(Array("data: a\n\n".utf8)),
                    .fail(NetworkError(.connectionLost, "cut")))
            }
        ) { $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 2) }
        let recorder = try run(client.events(.get("/x")).messages().take(20))
        #expect(recorder.values.count == 20)
        #expect(client.circuitBreaker()?.state.value == .closed)
    }

    @Test func anEventSourceLogsInAgainByWhatItsHeadSays() throws {
        let (client, transport) = client(
            { request in
                let isNew = request.headerFields[.authorization] == "Bearer new"
                return .bytes(
                    Array("data: a\n\n".utf8),
                    headers: [.contentType: isNew ? "text/event-stream" : "text/html"])
            }
        ) {
            $0.session = Session(
                credential: Credential(token: "old"), isExpiry: { $0.code == .invalidResponse },
                clock: clock
            ) { .just(Credential(token: "new")) }
        }
        #expect(try run(client.events(.get("/x")).messages().take(1)).values.count == 1)
        #expect(transport.requests.count == 2)
    }

    @Test func aDownloadWithTheWrongDigestStartsOver() throws {
        let fixture = DownloadFixture()
        let wrong = Script([
            .bytes([9, 9], headers: [HTTPField.Name("Content-Digest")!: "sha-256=:AAAA:", .eTag: "\"1\""]),
            .bytes([1, 2], headers: [.eTag: "\"1\""]),
        ])
        let (client, transport) = client({ _ in wrong.next() }) {
            $0.files = fixture.files
            $0.options.interceptors.exchange = [.contentDigestVerification()]
        }
        let recorder = Recorder(client.download(.get("/f"), to: "/d/f"), on: clock)
        try clock.run()
        try fixture.clock.run()
        for _ in 0..<50 where recorder.completion == nil {
            try clock.run()
            try fixture.clock.run()
        }
        #expect(recorder.isFinished)
        #expect(fixture.files["/d/f"] == [1, 2])
        #expect(transport.requests.map { $0.headerFields[.range] } == [nil, nil])
    }
}
