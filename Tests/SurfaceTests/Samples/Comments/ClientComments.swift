import FoundationEssentials
import Logging
import RxNetworking
import RxTesting

// The samples of the comments of RxClient's calls, configuration and operators.

@Statements func theClient(_ clock: VirtualScheduler, _ rules: [ScriptedTransport.Rule]) -> [Any] {
    scripted(clock, rules)
    let client = Client(baseURL: "https://api.example.com/v1")

    client.get("/goods/1").decode(Goods.self)
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })
}

private func scripted(_ clock: VirtualScheduler, _ rules: [ScriptedTransport.Rule]) -> Client {
    let client = Client(baseURL: "https://shop.test", transport: ScriptedTransport(on: clock, rules))
    return client
}

@Statements func calls(_ client: Client, id: Int, path: String, session: Session, image: [UInt8]) -> [Any] {
    client.get("/users/{id}", at: ["id": id]).decode(User.self)
    client.post("/cart", ["goods": 7, "count": 2]).decode(Cart.self)

    client.progress(of: .put("/photo", .file(path))).subscribe(onNext: { event in
        switch event {
        case .uploaded(let progress): bar.show(progress.fraction)
        case .downloaded: break
        case .finished(let result): show(result.response.status)
        }
    })

    client.stream(.get("/goods.jsonl")).jsonLines(Goods.self)
        .subscribe(onNext: { goods in show(goods) }, onFailure: { error in show(error.message) })

    client.response(GoodsList(keyword: "tea"))
        .unwrap(.init(code: "errcode", message: "msg", payload: "data", success: 200))
        .relogin(through: session)
        .retry(.exponentialBackoff(maxRetries: 2))
        .decode([Goods].self)

    let request = Request(method: .put, url: url, body: .bytes(image))
    client.exchange(request, following: .manual).response(to: request)

    client.request(InlineEndpoint(.options, "/goods/1")).map { $0.head[.allow] }

    client.download(.get("/map.osm"), to: "/var/lib/app/map.osm")
}

func endpoints(_ client: Client) {
    struct GoodsList: Endpoint {
        typealias Output = [Goods]
        let keyword: String
        let path = "/mall/goods"
        var parameters: Parameters { .query(["keyword": keyword]) }
    }

    client.request(GoodsList(keyword: "tea")).subscribe(onNext: { goods in show(goods) })
}

private struct Chosen: Endpoint {
    typealias Output = [Goods]
    let path = "/goods"
    var options: RequestOptions { RequestOptions(retry: .never, timeouts: Timeouts(total: .seconds(5))) }

    func validate(_ response: TypedResponse<[Goods]>) throws(NetworkError) {
        if response.output.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    }
}

@Statements func resilience(
    _ client: Client, _ configuration: inout ClientConfiguration, _ budget: RetryBudget,
    _ breaker: CircuitBreaker,
    _ goods: GoodsList
) -> [Any] {
    configuration.circuitBreaker = CircuitBreaker.Policy(failureRatio: 0.5, minimumRequests: 20)

    client.circuitBreaker()?.state.subscribe { state in lamp.show(state) }

    client.response(GoodsList(keyword: "tea"))
        .retry(.exponentialBackoff().limited(by: budget))

    configuration.retryBudget = RetryBudget(ratio: 0.1)

    let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 4, rate: .perSecond(10, burst: 20)))
    client.response(GoodsList(keyword: "tea")).limited(by: limiter, host: "api.example.com")

    configuration.options.hedging = .percentile(0.95)

    client.response(goods, from: .main)
        .failover(to: client.response(goods, from: .standby), through: client.servers)

    client.response(goods).hedge(.after(.milliseconds(80)), if: goods.isRepeatable)

    client.response(GoodsList(keyword: "tea")).circuitBreaker(breaker)

    client.servers.main = "https://staging.example.com/v1"
    client.servers.active.subscribe { role in badge.isHidden = role == .main }
}

@Statements func operators(_ client: Client, _ envelope: Envelope, _ photos: [String]) -> [Any] {
    client.get("/goods").decode([Goods].self).validate { goods throws(NetworkError) in
        if goods.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    }

    client.get("/goods").unwrap(envelope).part("page.count").decode(Int.self)
}

@Statements private func otherOptions(_ client: Client, _ loads: Loads) -> [Any] {
    client.request(GoodsList(keyword: "tea").with { $0.cacheMode = .reload })

    client.request(GoodsList(keyword: "tea").with { $0.willStart = { request in loads.insert(request.id) } })
}

private struct Loads: Sendable {
    func insert(_ id: RequestID) {}
}

func showFailures(_ client: Client, _ configuration: inout ClientConfiguration) {
    configuration.errorTexts[.loginExpired] = "Your session has ended. Please log in again."
    client.errorTips.subscribe { error in toast.show(client.text(for: error)) }
}

func dynamicHeader(_ configuration: inout ClientConfiguration, _ language: Property<String>) {
    configuration.options.interceptors.call.append(.dynamicHeader("Accept-Language") { language.value })
}

private struct Upload: Endpoint {
    typealias Output = Response
    let path = "/photos"
    let parameters: Parameters
    init(_ photo: String) { parameters = .file(photo) }
}

func queue(_ client: Client, _ photos: [String]) {
    let uploads = RequestQueue(limit: 2)
    for photo in photos {
        client.request(Upload(photo)).queued(in: uploads).subscribe(onFailure: { show($0.message) })
    }
    uploads.allComplete.subscribe { submit() }
}

func asyncLogin(server: Client) -> Session {
    let session = Session {
        let login = try await server.post("/login", ["user": user, "password": password])
            .decode(Login.self).value()
        return Credential(token: login.token)
    }
    return session
}

func sessions(
    url: String, logIn: @escaping @Sendable () -> Observable<Credential, NetworkError>, files: any FileSystem
) -> [Any] {
    func stored() -> Session {
        let session = Session(store: CredentialFile("/var/lib/app/credential.json", on: files)) { logIn() }
        return session
    }
    let session = Session {
        Client(baseURL: url).post("/login", .json(["user": user, "password": password]))
            .decode(Login.self)
            .map { Credential(token: $0.token) }
    }
    var configuration = ClientConfiguration()
    configuration.session = session
    let client = Client(baseURL: url, configuration: configuration)
    return [stored(), client]
}

func interceptors(_ configuration: inout ClientConfiguration, _ call: CallContext) {
    enum StartOfWait: CallValueKey {
        static var initial: Duration? { nil }
    }

    call[StartOfWait.self] = call.scheduler.now

    struct Timing: Interceptor {
        func intercept(
            _ request: Request, in call: CallContext, _ next: Next
        ) -> Observable<CallEvent, NetworkError> {
            let start = call.scheduler.now
            return next(request).handleEvents(onEnd: { _ in report(request.url, call.scheduler.now - start) })
        }
    }
    configuration.options.interceptors.attempt.append(Timing())

    configuration.options.interceptors.exchange.append(.contentDigestVerification())

    configuration.options.interceptors.call.append(.idempotencyKeys())

    configuration.options.interceptors.attempt.append(.serverRateLimits())
}

private struct Gate: Interceptor {
    let isOpen: Bool

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard isOpen else {
            return next.respond(with: Response(head: ResponseHead(status: .ok), request: request))
        }
        return next(request)
    }
}

func lifecycle(_ client: Client, _ configuration: inout ClientConfiguration) async throws {
    print(client.pipeline(for: GoodsList(keyword: "tea")))

    configuration.options.accessories = [
        Accessory(
            willStart: { request in spinner.show(request.id) },
            didStop: { request, _ in spinner.hide(request.id) })
    ]

    try await client.shutDown(within: .seconds(20)).value()

    client.activity.isActive.subscribe { indicator.isOn = $0 }

    client.errorTips.subscribe { error in toast.show(error.message) }

    client.cancel(.tag("search"))
}

func downloads(_ client: Client) {
    client.download(.get("/map.osm"), to: "/var/lib/app/map.osm")
        .subscribe(onNext: { event in
            switch event {
            case .progress(let progress): show(progress.fraction)
            case .finished(let file): show(file.size)
            }
        })
}

func observing(_ client: Client, file: URL) throws {
    client.traffic.log(to: Logger(label: "api"))

    let recording = HARRecording(of: client.traffic)
    // The requests to record.
    try recording.archive.encoded().write(to: file)
}

func caches(
    _ cache: ResponseCache, _ client: Client, _ request: Request
) -> (ClientConfiguration, Observable<Response, NetworkError>) {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    configuration.options.cachePolicy = .http

    cache.remove(.tag("cart")).subscribe()

    func response() -> Observable<Response, NetworkError> {
        cache.response(to: request) { request in client.exchange(request).response(to: request) }
    }
    return (configuration, response())
}

@Statements func envelopes() -> [Any] {
    Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
    Envelope(code: "ok", message: "message", payload: "result", success: true)
    Envelope(
        code: ["errcode", "code"], message: "error.text", payload: "result.data",
        success: [0, .range(200...299)],
        loginExpired: [11010, "TOKEN_GONE"], noContent: 20404, retryLater: 50301, retryDelay: "error.seconds")

    let count: PayloadPath = "data.count"
    let odd: PayloadPath = ["data", "count.total"]  // a key with a dot in it
    let whole: PayloadPath = ""
    (count, odd, whole)

    let success: Envelope.Codes = 200
    let several: Envelope.Codes = [0, "OK", .range(200...299)]
    (success, several)

    let nested: Envelope.Keys = "result.data"
    let either: Envelope.Keys = ["errcode", "error.code"]
    (nested, either)
}
