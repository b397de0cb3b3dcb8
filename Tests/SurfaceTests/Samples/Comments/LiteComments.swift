import FoundationEssentials
import RxNetworking

// The samples of the comments of RxLite.

private let goods = Observable<Goods, Never>.never()

private enum Screens {
    final class GoodsScreen {
        private let bag = SubscriptionBag()
        func show() { goods.subscribe { print($0) }.store(in: bag) }  // ends with the screen
    }

    final class Player {
        private let mutableVolume = MutableProperty(0.5)
        var volume: Property<Double> { Property(mutableVolume) }
        var isMuted: Property<Bool> { mutableVolume.map { $0 == 0 } }
    }
}

actor Basket {
    func add(_: Goods) {}
}

@Statements func actors(_ client: Client, _ goods: Observable<Goods, Never>, _ cart: Basket) -> [Any] {
    client.get("/goods").decode([Goods].self).subscribe(
        isolatedTo: MainActor.self,
        onNext: { goods in screen.show(goods) },
        onFailure: { error in screen.show(error) })

    goods.subscribe(isolatedTo: cart) { cart, goods in cart.add(goods) }

    goods.observe(on: .main)  // everything below runs on the main actor
}

extension Screen {
    func show(_: NetworkError) {}
}

func signals() {
    func reload() {
        let reload = Signal<Void>()
        reload.subscribe { print("reloading") }
        reload.send()
    }
    reload()

    Observable.sequence(1...3)
        .map { $0 * $0 }
        .subscribe(onNext: { print($0) })  // 1 4 9
}

@Statements func search(
    _ client: Client, _ query: Observable<String, Never>, _ index: Index, _ background: any Scheduler
) -> [Any] {
    query.flatMap(.latest) { client.get("/search", query: ["q": $0]) }

    query.inspected("search")
        .flatMap(.latest) { client.get("/search", query: ["q": $0]) }

    query.flatMap(.latest) { words in index.matches(words).subscribe(on: background) }
}

struct Index: Sendable {
    func matches(_: String) -> Observable<String, Never> { .never() }
}

func awaited(_ client: Client, _ counts: Signal<Int>) async throws {
    let cart = try await client.get("/cart").decode(Cart.self).value()
    show(cart)

    let squares = try await Observable.sequence(1...3).map { $0 * $0 }.collect().value()  // [1, 4, 9]
    show(squares)

    for await count in counts.values(buffering: .latest(1)) { print(count) }
}

struct StoreError: Error {}

struct Store: Sendable {
    func load() async throws(StoreError) -> Goods { throw StoreError() }
}

func asynchronous(
    _ store: Store, openedFile: () -> AsyncThrowingStream<UInt8, any Error>
) -> (Observable<Goods, StoreError>, Observable<[UInt8], any Error>) {
    let goods = Observable<Goods, StoreError>.async { () throws(StoreError) in try await store.load() }

    func chunks() -> Observable<[UInt8], any Error> {
        let bytes: AsyncThrowingStream<UInt8, any Error> = openedFile()
        let chunks = Observable(bytes).buffer(count: 4096)
        return chunks
    }
    return (goods, chunks())
}

final class TickSource: Sendable {
    init(_: @escaping @Sendable (Int) -> Void) {}
    func stop() {}
}

func created() -> Observable<Int, Never> {
    let ticks = Observable<Int, Never>.create { emitter in
        let source = TickSource { emitter.send($0) }
        emitter.onClose { source.stop() }
    }
    return ticks
}

struct PageOfGoods: Sendable {
    let next: Int?
}

struct PageClient: Sendable {
    func page(_: Int) -> Observable<PageOfGoods, NetworkError> { .never() }
}

struct Position: Sendable {
    let city: String
}

struct TooSlow: Error {}

@Statements func repetitions(
    _ load: Observable<Goods, NetworkError>, _ reachability: MutableProperty<Bool>,
    _ status: Observable<Int, Never>,
    _ foreground: Signal<Void>, _ background: Signal<Void>, _ feed: Observable<Int, NetworkError>,
    _ sensor: Observable<Int, Never>
) -> [Any] {
    load.retry(when: { errors in
        errors.flatMap { error in reachability.filter { $0 }.take(1) }
    })

    status.repeat(when: { runs in runs.flatMap { _ in foreground.take(1) } })

    let prices = feed.share(
        replay: 1, reset: [.unused, .failed],
        when: { end in
            end == nil ? background.observable : .just(())
        })
    prices

    let position = sensor.share(replay: 1, keepingAlive: .seconds(5))
    position
}

@Statements func others(
    _ upload: Observable<Int, NetworkError>, _ receipts: Observable<Receipt, NetworkError>,
    _ client: PageClient,
    _ changes: Observable<Int, Never>, _ save: Signal<Void>, _ positions: Observable<Position, Never>,
    _ ticks: Observable<Int, Never>
) -> [Any] {
    upload.finally { progressBar.hide() }

    client.page(1).expand { page in page.next.map { client.page($0) } ?? .empty() }

    changes.buffer(by: save)

    upload.ignoreElements(as: Receipt.self).merge(with: receipts)

    positions.distinctUntilChanged(by: \.city)

    ticks.setFailureType().values(buffering: .fail(above: 256, with: TooSlow()))
}

struct ProgressBar: Sendable {
    func hide() {}
}

let progressBar = ProgressBar()

@Statements func inspections(_ client: Client) -> [Any] {
    let reload = Signal<Void>().inspected("reload")
    reload

    let cart = MutableProperty<[Goods]>([]).inspected("cart") { "\($0.count) goods" }
    cart

    client.activity.count.inspected("running requests")
}

@Statements func activities(
    _ client: Client, _ keywords: Signal<String>, _ next: Signal<Void>, _ reload: Signal<Void>
) -> [Any] {
    let screen = Activity()
    screen.isActive.subscribe { isOn in indicator.isVisible = isOn }
    screen.message.subscribe { text in indicator.text = text }

    keywords.flatMap(.latest) { search($0).tracked(by: screen, loading: "Searching…") }

    client.request(GoodsList(keyword: "tea")).tracked(by: screen, loading: "Loading…")
    client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: next, reload: reload)
        .tracked(by: screen, while: { $0.phase == .loadingFirst })
}

private func search(_: String) -> Observable<[Goods], NetworkError> { .never() }

func properties() {
    let runningRequests = MutableProperty(0)
    runningRequests.map { $0 > 0 }.subscribe { indicator.isVisible = $0 }
    runningRequests.update { $0 += 1 }
}

struct Reading: Sendable {
    let sensor: String
}

@Statements func hotStreams(
    _ names: Signal<[String]>, _ title: MutableProperty<String>, _ readings: Observable<Reading, Never>
) -> [Any] {
    names.map { "\($0.count) names" }.bind(to: title)

    let query = Signal<String>()
    query.debounce(.milliseconds(300)).distinctUntilChanged().subscribe { print($0) }

    readings.groupBy { $0.sensor }.flatMap { group in
        group.observable.throttle(.seconds(1)).map { (group.key, $0) }
    }
}
