import RxNetworking

func limitRepetitions() {
    var configuration = ClientConfiguration()
    configuration.options.retry = .exponentialBackoff(
        maxRetries: 3, backoff: .decorrelated(base: .milliseconds(100)))
    configuration.retryBudget = RetryBudget(ratio: 0.1, floor: 5)
    show(configuration)
}

func shareTheBudget() {
    let budget = RetryBudget()
    var shop = ClientConfiguration()
    shop.retryBudget = budget
    var search = ClientConfiguration()
    search.retryBudget = budget
    show((shop, search))
}

func breakTheCircuit() {
    var configuration = ClientConfiguration()
    configuration.circuitBreaker = CircuitBreaker.Policy(
        failureRatio: 0.5, minimumRequests: 20, openDuration: .seconds(30))
    let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
    client.circuitBreaker()?.state.subscribe { state in
        switch state {
        case .closed: print("all is well")
        case .open(let since, let until): print("open from \(since) to \(until)")
        case .halfOpen: print("probing")
        }
    }
}

func hedgeWhatIsSlow() {
    var configuration = ClientConfiguration()
    configuration.options.hedging = .percentile(0.95)
    show(configuration)
}

func hedgeOne(_ client: Client) async throws {
    let hedged = RequestOptions(hedging: .after(.milliseconds(80)))
    let response = try await client.get("/search", query: ["q": "tea"], options: hedged).value()
    show(response.text)
}

func limitRequests() {
    var configuration = ClientConfiguration()
    configuration.limits = RequestLimits(concurrency: 64)
    configuration.hostLimits = RequestLimits(concurrency: 8, rate: .perSecond(20, burst: 40))
    configuration.options.timeouts = Timeouts(queue: .seconds(5))
    show(configuration)
}

func chainTheStages(_ client: Client, _ goods: GoodsList) async throws {
    let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 4))
    let breaker = CircuitBreaker()
    let budget = client.configuration.retryBudget ?? RetryBudget()

    let list = try await client.response(goods)
        .limited(by: limiter, host: "api.example.com", within: .seconds(5))
        .circuitBreaker(breaker)
        .hedge(.after(.milliseconds(80)), if: goods.isRepeatable)
        .retry(.exponentialBackoff().limited(by: budget))
        .decode([Goods].self)
        .value()
    show(list)
}

func seeWhatHappens(_ client: Client) {
    client.traffic.subscribe { event in
        switch event.kind {
        case .queued: print(event.request.id, "waits for its turn")
        case .admitted(let wait): print(event.request.id, "waited", wait)
        case .hedged(let delay): print(event.request.id, "has a second attempt after", delay)
        case .retry(let delay, let error): print(event.request.id, "again in", delay, error.code)
        case .retryRefused(let error): print(event.request.id, "not again", error.code)
        case .failover(let server, let error): print(event.request.id, "goes to", server, error.code)
        default: break
        }
    }
}
