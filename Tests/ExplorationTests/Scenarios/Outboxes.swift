#if Outbox && Fleet
import FoundationEssentials
import RxFleet
import RxNetworking
import RxOutbox
import RxSimulation
import RxTesting
import TestOutboxes

/// Remembers the sequence numbers of the entries that a process knows, by their keys.
private struct NumberedStore: ForwardingOutboxStore {
    let base: SharedOutboxStore
    let sequences: Kept<[String: Int64]>

    private func note(_ entry: OutboxEntry, _ sequence: Int64) {
        guard let key = entry.guarantee.key else { return }
        sequences { $0[key] = sequence }
    }

    func add(_ entry: OutboxEntry, _ content: Data) -> Observable<OutboxAddition, NetworkError> {
        base.add(entry, content).handleEvents(onNext: { addition in
            if case .added(let sequence, _) = addition { note(entry, sequence) }
        })
    }

    func load() -> Observable<OutboxSnapshot, NetworkError> {
        base.load().handleEvents(onNext: { snapshot in
            for entry in snapshot.entries { note(entry, entry.sequence) }
        })
    }
}

extension House {
    /// Three processes with one outbox over the store of a fleet. They are killed, cut off from the store, and lose its
    /// replies; one of them sends at a time.
    static let outboxes: Simulation.Scenario = { simulation in
        let hub = MemoryStore(on: simulation.clock, latency: .milliseconds(2))
        let book = Kept(OrderBook())
        let bare = Kept<[Int]>([])
        let promised = Kept<Set<Int>>([])
        let numbers = Kept<[OutboxID: Int]>([:])
        let sequences = Kept<[String: Int64]>([:])
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
                let store = NumberedStore(
                    base: SharedOutboxStore(connection, leaseTime: .seconds(3)), sequences: sequences)
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
                        onNext: { ticket in
                            promised { _ = $0.insert(order.number) }
                            numbers { $0[ticket.id] = order.number }
                        })
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
            let known = numbers.now
            let kept = (left.now ?? []).compactMap { known[$0.id] }
            let lost = promised.now.subtracting(book.now.executed + bare.now + kept)
            return lost.sorted().map { "\($0) is lost" }
        }
        simulation.invariant("no order is executed twice") { _ in
            repeated(book.now.executed).map { "\($0) is executed twice" }
                + repeated(bare.now).map { "\($0) is executed twice without a key" }
        }
        simulation.invariant("the order of accounts") { _ in
            // The order in which the entries of all processes became durable.
            let executions = Array(zip(book.now.executed, book.now.executedKeys))
            let known = sequences.now
            return (0..<3).compactMap { account in
                let own = executions.filter { $0.0 % 3 == account }
                // The draft writes a key as a string in quotation marks.
                let places = own.map { known[$0.1.filter { $0 != "\"" }] ?? -1 }
                return places == places.sorted() && !places.contains(-1)
                    ? nil : "account \(account): \(own.map(\.0)) at \(places)"
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
