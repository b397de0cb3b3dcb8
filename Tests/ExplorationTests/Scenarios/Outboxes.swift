#if Outbox && Fleet
import FoundationEssentials
import RxFleet
import RxNetworking
import RxOutbox
import RxSimulation
import RxTesting

extension House {
    /// Three processes with one outbox over the store of a fleet. They are killed, cut off from the store, and lose its
    /// replies; one of them sends at a time.
    static let outboxes: Simulation.Scenario = { simulation in
        let hub = MemoryStore(on: simulation.clock, latency: .milliseconds(2))
        let book = Kept(OrderBook())
        let bare = Kept<[Int]>([])
        let promised = Kept<Set<Int>>([])
        let left = Kept<[OutboxEntry]?>(nil)
        let senders = Kept<Set<String>>([])
        simulation.server(url) { request in
            let (key, body) = (request[.idempotencyKey], request.body)
            guard let key else {
                bare { $0.append(Int(request.text.filter(\.isNumber)) ?? -1) }
                return .json("{}")
            }
            return book { $0.receive(key, body) }
        }

        for place in 0..<3 {
            simulation.process("app \(place)") { process in
                let connection = hub.connection(on: process.scheduler, latency: .milliseconds(2))
                let store = SharedOutboxStore(connection, leaseTime: .seconds(3))
                let client = Client(configuration: process.configuration(), transport: process.transport)
                var configuration = OutboxConfiguration()
                configuration.schedule = OutboxSchedule(first: .seconds(1), longest: .seconds(20))
                guard
                    let outbox = try? Outbox(
                        store: store, client: client, endpoints: [SimulatedOrder.self],
                        configuration: configuration)
                else { return }
                outbox.state.observable.subscribe(onNext: { [name = process.name] state in
                    if state.role == .sender { senders { _ = $0.insert(name) } }
                })
                let start = Int(process.scheduler.now / .milliseconds(1))
                process.every(.seconds(2)) { turn in
                    if simulation.happens("store is cut off") {
                        connection.isConnected = false
                        process.after(.seconds(turn % 9 + 1)) { connection.isConnected = true }
                    }
                    if simulation.happens("store loses replies") {
                        connection.losesReplies = true
                        process.after(.milliseconds(turn % 5 * 100 + 50)) { connection.losesReplies = false }
                    }
                    // The last digit names the process, the remainder by 3 the account.
                    let order = SimulatedOrder(number: (start + turn * 2000) * 10 + place)
                    let key: OutboxKey =
                        turn % 4 == 0
                        ? .withoutKey(.atMostOnce) : .generated(.draft(lifetime: .seconds(7 * 24 * 3600)))
                    let line = OutboxOrder("\(order.account)", afterDeath: .release)
                    process.subscribe(
                        "enqueue", to: outbox.enqueue(order, key: key, order: line), describing: { _ in "" },
                        onNext: { _ in promised { _ = $0.insert(order.number) } })
                }
                process.after(quietTime - process.scheduler.now) {
                    process.subscribe(
                        "entries", to: store.load(), describing: { _ in "" },
                        onNext: { snapshot in left { $0 = snapshot.entries } })
                }
                // It lives as long as its process.
                process.after(quietTime + .seconds(10)) { withExtendedLifetime(outbox) {} }
            }
        }

        simulation.sometimes("an answer is repeated") { _ in book.now.repeatCount > 0 }
        simulation.sometimes("another process takes over") { _ in senders.now.count > 1 }
        simulation.invariant("the store shows its entries in the end") { _ in
            left.now == nil ? ["no process has read it"] : []
        }
        simulation.invariant("no order is lost") { _ in
            let lost = promised.now.subtracting(book.now.executed + bare.now)
            let kept = left.now?.count ?? 0
            return lost.count > kept ? ["\(lost.sorted()) lost, and only \(kept) entries left"] : []
        }
        simulation.invariant("no order is executed twice") { _ in
            repeated(book.now.executed).map { "\($0) is executed twice" }
                + repeated(bare.now).map { "\($0) is executed twice without a key" }
        }
        simulation.invariant("the order of accounts") { _ in
            (0..<9).compactMap { line in
                let numbers = book.now.executed.filter { $0 % 3 == line % 3 && $0 % 10 == line / 3 }
                return numbers == numbers.sorted()
                    ? nil : "account \(line % 3) of app \(line / 3): \(numbers)"
            }
        }
        simulation.invariant("everything is decided in the end") { _ in
            (left.now ?? []).filter { $0.delivery.deadReason == nil }.map { "\($0) is left" }
        }
        simulation.invariant("the store is left") { _ in
            // The store must not keep the processes that have been killed.
            hub.shutDown()
            return []
        }
    }
}
#endif
