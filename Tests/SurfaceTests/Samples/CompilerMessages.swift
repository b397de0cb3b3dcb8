import RxNetworking
import RxTesting

func callOnTheMainActor(_ client: Client) {
    client.get("/goods").decode([Goods].self)
        .subscribe(isolatedTo: MainActor.self) { goods in screen.show(goods) }
}

@MainActor final class Profile {
    var text = ""

    func load(_ client: Client) {
        client.get("/profile").subscribe(isolatedTo: MainActor.self) { [weak self] response in
            self?.text = response.text
        }
    }
}

func countResponses(_ client: Client) {
    let count = MutableProperty(0)
    client.get("/goods").subscribe(onNext: { _ in count.update { $0 += 1 } })
}

func awaitInALoop(_ client: Client) async throws {
    for try await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) {
        await screen.show([goods])
    }
}

func awaitInAStream(_ client: Client, size: @escaping @Sendable (Response) async -> Int) {
    client.get("/goods").flatMap { response in .async { await size(response) } }
        .subscribe(onNext: { size in print(size) })
}

func sendAValue(_ client: Client) {
    struct Tea { let name: String }
    client.get("/tea").map { response in Tea(name: response.text) }
        .subscribe(onNext: { tea in print(tea.name) })
}

func stateTheResult(_ client: Client) {
    client.get("/goods").map { response -> Int in
        let text = response.text
        return text.count
    }
    .subscribe(onNext: { print($0) })
}

func stateTheStream(_ client: Client, _ search: Signal<String>) {
    search
        .flatMap(.latest) { words -> Observable<Response, NetworkError> in
            let query = words.lowercased()
            return client.get("/goods", query: ["q": query])
        }
        .subscribe(onNext: { response in print(response.text) })
}

func joinFailures(_ client: Client, _ stored: Observable<Int, StoreError>) {
    let failing = stored.mapError { error in NetworkError(.file, "\(error)") }
    Observable.combineLatest(client.get("/goods"), failing)
        .subscribe(onNext: { response, count in print(response.status, count) })
}

func keepTheFailure(_ client: Client) {
    client.get("/goods")
        .map { response throws(NetworkError) in try response.decode(Goods.self) }
        .subscribe(onNext: { goods in print(goods.name) }, onFailure: { error in print(error.code) })
}

func catchInTheStream(_ client: Client) {
    client.get("/goods").map(\.text)
        .catch { error in error.code == .status ? .just("") : .fail(error) }
        .subscribe(onNext: { text in print(text) }, onFailure: { error in print(error.message) })
}

func watchBothEnds(_ client: Client) {
    client.get("/goods").subscribe(
        onNext: { response in print(response) }, onFailure: { error in print(error) },
        onFinish: { print("end") })
}

func loopOverASignal(_ search: Signal<String>) async {
    for await words in search.observable { print(words) }
}

func tearDown(_ observe: @escaping @Sendable (@escaping @Sendable (Int) -> Void) -> @Sendable () -> Void) {
    let numbers = Observable<Int, Never>.create { emitter in
        let stop = observe { number in emitter.send(number) }
        emitter.onClose { stop() }
    }
    numbers.subscribe(onNext: { number in print(number) })
}

func shareForEver(_ client: Client) {
    let shared = client.get("/goods").share(replay: 1, reset: [])
    shared.subscribe()
}

func sendAnything(_ client: Client, _ fields: [String: String]) {
    let parameters: Parameters.Values = ["id": 7, "note": "x"]
    client.post("/goods", .json(parameters), headers: Headers(fields)).subscribe()
}

func optionsOfTheCall(_ client: Client) {
    let patient = RequestOptions(timeouts: Timeouts(total: .seconds(60)), cachePolicy: .time(.seconds(60)))
    client.get("/report", options: patient).subscribe()
    client.request(GoodsList(keyword: "tea").with { $0.cacheMode = .reload }).subscribe()
}

func decodeAndWait(_ client: Client) async throws {
    let goods = try await client.get("/goods/7").decode(Goods.self).value()
    print(goods.name)
}

func configureAClient(_ session: Session) {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.session = session
    let client = Client(configuration: configuration)
    client.get("/goods").subscribe()
}

func makeTheCredential(_ login: Client) -> Session {
    Session {
        login.post("/login", .form(["user": user, "password": password]))
            .decode(Login.self)
            .map { Credential(token: $0.token) }
    }
}

func pagesInAnOutput(_ client: Client, loadMore: Signal<Void>) {
    client.pages(GoodsPages(), .numbered(size: 20), next: loadMore) { output in
        Page(output.list, total: output.totalRow)
    }
    .subscribe { state in print(state.items.count, state.phase.error?.message ?? "") }
}

func nextOfAStream(_ client: Client, taps: Observable<Void, Never>) {
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), on: taps.map { .next })
        .subscribe { state in print(state.items.count) }
}

func allItems(_ client: Client) async throws {
    let items = client.items(GoodsList(keyword: "tea"), .numbered(size: 20))
    let all = try await items.collect().value()
    for try await goods in items { print(goods.name, all.count) }
}

func downloadedFile(_ client: Client) async throws {
    if case .finished(let file) = try await client.download(.get("/map.osm"), to: "/tmp/map.osm").last()
        .value()
    {
        print(file.size)
    }
}

func progressOfAnEndpoint(_ client: Client) {
    client.progress(of: .post("/images", .file("/tmp/tea.jpg")))
        .subscribe(onNext: { event in print(event) }, onFailure: { error in print(error.message) })
}

func typedDiagram() throws {
    let clock = VirtualScheduler()
    let typed: MarbleSource<String, Never> = try clock.hot("-a-b|")
    let recorder = Recorder(typed.observable.debounce(.milliseconds(3)), on: clock)
    try clock.run()
    try recorder.expect("-----(b|)")
}

struct AddGoods: Endpoint {
    typealias Output = Goods
    let path = "/goods"
    let method = HTTPRequest.Method.post
    var parameters: Parameters { .json(["name": "tea"]) }
    let options = RequestOptions(headers: ["X-App": "shop"])
}

func refuseContent(_ client: Client) {
    client.get("/goods").validate { response throws(NetworkError) in
        if response.body.isEmpty { throw NetworkError(.noContent, "nothing to sell") }
    }
    .subscribe(onNext: { response in print(response) })
}
