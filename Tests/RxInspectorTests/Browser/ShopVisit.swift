#if Inspector
import PlaygroundServer
import RxInspector
import RxNetworking
import RxTesting
import Synchronization

/// A visit to the shop of the tour, with named streams: searches, a list of pages, a cart, prices that come too fast to
/// show, and a chat that fails.
final class ShopVisit: Sendable {
    struct Goods: Decodable, Sendable {
        var id: Int
        var name: String
    }

    struct GoodsPage: Decodable, Sendable {
        var list: [Goods]
        var total: Int
    }

    struct GoodsList: Endpoint {
        typealias Output = GoodsPage
        let path = "/goods"
    }

    struct Hangup: Error, CustomStringConvertible {
        var description: String { "the <i>other</i> side hung up" }
    }

    let client: Client
    let query = Signal<String>()
    let more = Signal<Void>()
    let cart = MutableProperty<[String]>([])
    let prices = Signal<Int>()
    let chat = Signal<String>()
    private let bag = SubscriptionBag()
    private let shown = MutableProperty<PagingState<Goods>?>(nil)

    init(_ api: DemoAPI) {
        var configuration = ClientConfiguration(baseURL: api.baseURL)
        configuration.options.envelope = Envelope(
            code: "errcode", message: "msg", payload: "data", success: 200)
        configuration.circuitBreaker = CircuitBreaker.Policy()
        configuration.session = Session(credential: Credential(token: "secret")) { .never() }
        client = Client(configuration: configuration, transport: CurlTransport.shared)
    }

    /// Subscribes to everything, after the inspector's start.
    func begin() {
        query.inspected("search")
        query.observable
            .flatMap(.latest) { [client] word in
                // The second word is replaced before its slow response.
                let path = ["tea": "/goods/7", "te": "/download"][word] ?? "/offers"
                return client.get(path, query: ["q": word, "size": 100_000, "rate": 10_000])
                    .map { "\($0.status.code) for \(word)" }.catch { .just("\($0.code.rawValue)") }
            }
            .subscribe().store(in: bag)
        cart.inspected("cart") { "\($0.count) goods" }
        client.pages(GoodsList(), .numbered(size: 10), next: more) { Page($0.list, total: $0.total) }
            .inspected("goods list")
            .subscribe { [shown] in shown.value = $0 }.store(in: bag)
        prices.observable.inspected("prices").subscribe().store(in: bag)
        chat.observable.setFailureType(to: Hangup.self)
            .map { text throws(Hangup) -> String in
                if text == "bye" { throw Hangup() }
                return text
            }
            .inspected("chat").subscribe().store(in: bag)
    }

    /// Sends the events of the visit.
    func play() async throws {
        for word in ["t", "te", "tea"] {
            query.send(word)
            chat.send("Have you \(word.count)?")
            try await Task.sleep(for: .milliseconds(700))
        }
        chat.send("<img src=x onerror=\"document.title='broken'\">")
        for page in 1...3 {
            for await state in shown.observable where state?.phase == .idle && state?.page == page { break }
            if page < 3 { more.send() }
            cart.update { $0.append("tea") }
            try await Task.sleep(for: .milliseconds(600))
        }
        for price in 0..<5000 { prices.send(price) }
        let subscription = prices.observable.inspected("held prices").subscribe()
        subscription.pause()
        try await Task.sleep(for: .milliseconds(900))
        subscription.resume()
        prices.send(5000)
        subscription.cancel()
        query.send("oolong")
        chat.send("bye")
        try await Task.sleep(for: .milliseconds(700))
    }

    func end() { bag.cancel() }
}
#endif
