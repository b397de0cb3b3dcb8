#if Outbox
import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxOutbox
import RxSimulation
import RxTesting

/// An order of one of three accounts.
struct SimulatedOrder: OutboxEndpoint {
    static let outboxName = "order"
    typealias Output = Response
    var number: Int

    var account: Int { number % 3 }
    var path: String { "/orders" }
    var method: HTTPRequest.Method { .post }
    var parameters: Parameters { ["number": number] }
}

/// The server's record of orders.
struct OrderBook {
    /// The bodies by their keys.
    var keys: [String: [UInt8]] = [:]
    /// The numbers of the executed orders, in their order.
    var executed: [Int] = []
    /// Their keys.
    var executedKeys: [String] = []
    /// How often an answer was repeated.
    var repeatCount = 0

    mutating func receive(_ key: String?, _ body: [UInt8]) -> ScriptedTransport.Reply {
        struct Order: Decodable { var number: Int }
        guard let key, let order = try? JSONDecoder().decode(Order.self, from: Data(body)) else {
            return .status(.badRequest)
        }
        if let known = keys[key] {
            guard known == body else { return .status(.unprocessableContent) }
            repeatCount += 1
            return .json("{}")
        }
        keys[key] = body
        executed.append(order.number)
        executedKeys.append(key)
        return .json("{}")
    }
}

extension House {
    /// Orders that must be executed once and in the order of their accounts, whatever dies, and others that must not be
    /// executed twice although the server knows no keys.
    static let outbox: Simulation.Scenario = { simulation in
        let store = MemoryOutboxStore()
        let book = Kept(OrderBook())
        let bare = Kept<[Int]>([])
        let promised = Kept<Set<Int>>([])
        /// The tickets of former runs, and what they have said when they were asked for again.
        let tickets = Kept<[OutboxID: Int]>([:])
        let gone = Kept<[Int]>([])
        let receipts = Kept<Set<Int>>([])
        simulation.server(url) { request in
            let (key, body) = (request[.idempotencyKey], request.body)
            guard let key else {
                bare { $0.append(Int(request.text.filter(\.isNumber)) ?? -1) }
                return .json("{}")
            }
            return book { $0.receive(key, body) }
        }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            var configuration = OutboxConfiguration()
            configuration.schedule = OutboxSchedule(first: .seconds(1), longest: .seconds(20))
            // Longer than the clock jumps.
            configuration.receipts = OutboxReceiptRules(lifetime: .seconds(7 * 24 * 3600))
            guard
                let outbox = try? Outbox(
                    store: store, client: client, endpoints: [SimulatedOrder.self],
                    configuration: configuration)
            else { return }
            for (id, number) in tickets.now.sorted(by: { $0.key < $1.key }) {
                let wasExecuted = (book.now.executed + bare.now).contains(number)
                process.subscribe(
                    "former", to: outbox.ticket(SimulatedOrder.self, of: id).progress,
                    describing: { _ in "" },
                    onNext: { progress in
                        switch progress {
                        case .gone: gone { $0.append(number) }
                        case .delivered where wasExecuted: receipts { _ = $0.insert(number) }
                        default: break
                        }
                    })
            }
            let start = Int(process.scheduler.now / .milliseconds(1))
            process.every(.milliseconds(1500)) { turn in
                let order = SimulatedOrder(number: start + turn * 1500 + turn % 3)
                let key: OutboxKey =
                    turn % 4 == 0
                    ? .withoutKey(.atMostOnce) : .generated(.draft(lifetime: .seconds(7 * 24 * 3600)))
                let line = OutboxOrder("\(order.account)", afterDeath: .release)
                process.subscribe(
                    "enqueue", to: outbox.enqueue(order, key: key, order: line), describing: { _ in "" },
                    onNext: { ticket in
                        promised { _ = $0.insert(order.number) }
                        tickets { $0[ticket.id] = order.number }
                        process.subscribe("progress", to: ticket.progress, describing: { _ in "" })
                    })
            }
            // It lives as long as its process.
            process.after(quietTime) { withExtendedLifetime(outbox) {} }
        }

        simulation.sometimes("an answer is repeated") { _ in book.now.repeatCount > 0 }
        simulation.sometimes("a former ticket tells the output") { _ in !receipts.now.isEmpty }
        simulation.sometimes("an entry is dead") { _ in !store.entries.isEmpty }
        simulation.invariant("no order is lost") { _ in
            let numbers = tickets.now
            let kept = store.entries.compactMap { numbers[$0.id] }
            let lost = promised.now.subtracting(book.now.executed + bare.now + kept)
            return lost.sorted().map { "\($0) is lost" }
        }
        simulation.invariant("a former ticket knows its entry") { _ in
            gone.now.map { "\($0) is gone" }
        }
        simulation.invariant("no order is executed twice") { _ in
            repeated(book.now.executed).map { "\($0) is executed twice" }
                + repeated(bare.now).map { "\($0) is executed twice without a key" }
        }
        simulation.invariant("the order of accounts") { _ in
            (0..<3).compactMap { account in
                let numbers = book.now.executed.filter { $0 % 3 == account }
                return numbers == numbers.sorted() ? nil : "account \(account): \(numbers)"
            }
        }
        simulation.invariant("everything is decided in the end") { _ in
            store.entries.filter { $0.delivery.deadReason == nil }.map { "\($0) is left" }
        }
    }

    static func repeated(_ numbers: [Int]) -> [Int] {
        var seen: Set<Int> = []
        return numbers.filter { !seen.insert($0).inserted }
    }
}
#endif
