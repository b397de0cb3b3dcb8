#if Outbox
import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxOutbox

struct PlaceOrder: OutboxEndpoint {
    static let outboxName = "order.place"
    var goods: Int
    var count: Int

    typealias Output = Receipt
    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["goods": goods, "count": count] }
}

struct SaveSettings: OutboxEndpoint {
    static let outboxName = "settings.save"
    var theme: String

    typealias Output = Response
    var path: String { "/settings" }
    var method: HTTPRequest.Method { .put }
    var parameters: Parameters { ["theme": theme] }
}

struct RateGoods: OutboxEndpoint {
    static let outboxName = "goods.rate"
    static let outboxVersion = 2
    var goods: Int
    var stars: Int

    typealias Output = Response
    var path: String { "/ratings" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["goods": goods, "stars": stars] }

    static func migrate(_ content: Data, from version: Int) throws -> RateGoods {
        struct Former: Decodable { var goods, points: Int }
        let former = try JSONDecoder().decode(Former.self, from: content)
        return RateGoods(goods: former.goods, stars: former.points / 2)
    }
}

protocol ContentVault: Sendable {
    func encrypt(_ content: Data) throws -> Data
    func decrypt(_ content: Data) throws -> Data
}

func writeOrders(_ client: Client, storedID: String) async throws {
    let outbox = try Outbox(
        store: SQLiteOutboxStore(folder: "/var/lib/shop/outbox"), client: client, endpoints: [PlaceOrder.self]
    )

    let ticket = try await outbox.enqueue(
        PlaceOrder(goods: 7, count: 2), key: .generated(.stripe), order: "account-7"
    ).value()

    ticket.progress.subscribe { progress in
        switch progress {
        case .queued, .sending: show("under way")
        case .waiting(let date, let reason): show("again at \(date): \(reason)")
        case .delivered(let receipt): show(receipt)
        case .dead(let reason): show("not delivered: \(reason)")
        case .replaced, .gone: break
        }
    }

    let later = outbox.ticket(PlaceOrder.self, of: OutboxID(rawValue: storedID))
    show(later)
}

func chooseRules(_ outbox: Outbox) async throws {
    var rules = KeyRules.draft(lifetime: .seconds(6 * 3600))
    rules.field = "X-Request-Token"
    show(rules)

    let order = OutboxOrder("account-7", afterDeath: .release)
    show(order)

    let saving = try await outbox.enqueue(
        SaveSettings(theme: "dark"), key: .withoutKey(.atLeastOnce), replacing: "settings"
    ).value()
    show(saving)
}

func operate(_ outbox: Outbox, _ id: OutboxID) async throws {
    for entry in try await outbox.deadLetters().value() {
        print(entry.id, entry.name, entry.delivery.deadReason as Any)
    }
    try await outbox.sendAgain(id, with: .newKey).value()

    let remaining = try await outbox.drain(within: .seconds(10)).value()
    show(remaining)
}

func showDeadLetters(_ outbox: Outbox) async throws {
    for entry in try await outbox.deadLetters().value() {
        let content = try await outbox.content(of: entry.id).value()
        print(entry, String(decoding: content, as: UTF8.self))
    }
}

func sealEntries(_ vault: some ContentVault) -> OutboxSeal {
    let seal = OutboxSeal(
        seal: { content in try vault.encrypt(content) }, open: { content in try vault.decrypt(content) })
    return seal
}

func followTicket(_ ticket: OutboxTicket<PlaceOrder>) async throws {
    ticket.progress.subscribe { progress in
        if case .delivered(let receipt) = progress { show(receipt) }
    }
    let receipt = try await ticket.output().value()
    show(receipt)
}

func chooseStores(_ client: Client) throws -> [Outbox] {
    func inMemory() throws -> Outbox {
        let store = MemoryOutboxStore()
        let outbox = try Outbox(store: store, client: client, endpoints: [PlaceOrder.self])
        return outbox
    }
    func onDisk() throws -> Outbox {
        let store = SQLiteOutboxStore(folder: "/var/lib/shop/outbox")
        let outbox = try Outbox(store: store, client: client, endpoints: [PlaceOrder.self])
        return outbox
    }
    return [try inMemory(), try onDisk()]
}
#endif
#if Outbox && ServiceLifecycle
import Logging
import RxOutbox
import RxServices
import ServiceLifecycle

func serveWithOutbox(
    _ loop: EventLoop, _ client: Client, _ outbox: Outbox, _ shop: some Service, logger: Logger
) {
    let group = ServiceGroup(services: [loop, client, outbox, shop], logger: logger)
    show(group)
}
#endif
#if Outbox && Logging && Metrics
import Logging
import RxMetrics
import RxNetworking
import RxOutbox

func watchOutbox(_ outbox: Outbox) {
    outbox.events.log(to: Logger(label: "outbox"))
    outbox.recordMetrics()
}
#endif
