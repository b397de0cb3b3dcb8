import RxNetworking
import RxSimulation
import RxTesting
import Testing

// The samples of the article Exploring faults are tests, and run as such.

@Sendable func orders(_ simulation: Simulation) {
    simulation.server("https://shop.test") { _ in .json("{}") }
    simulation.process { process in
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.interceptors.call.append(.idempotencyKeys())
        let client = Client(configuration: configuration, transport: process.transport)
        for number in 1...5 {
            process.after(.seconds(number)) {
                process.subscribe(
                    "order", to: client.post("/orders", ["item": number]), describing: { "\($0.status.code)" }
                )
            }
        }
    }
    simulation.invariant("a key for each order") { log in
        log.exchanges("POST /orders").filter { $0.request.headerFields[.idempotencyKey] == nil }
            .map { "\($0.place) has no key" }
    }
    simulation.sometimes("an order is sent twice") { log in
        let keys = log.exchanges("POST /orders").map { $0.request.headerFields[.idempotencyKey] }
        return Set(keys).count < keys.count
    }
}

@Test func ordersSurvive() async throws {
    let summary = try await Simulation.explore(seeds: 1...200, name: "orders", orders)
    #expect(summary.unreached == [])
}

@Sendable func expiringTokens(_ simulation: Simulation) {
    simulation.server("https://shop.test") { _ in
        simulation.happens("token expires") ? .status(.unauthorized) : .json("{}")
    }
}

@Test func aSeedIsARun() throws {
    let first = try Simulation(seed: 7).run(orders)
    let second = try Simulation(seed: 7).run(orders)
    #expect(first.events == second.events)
}

@Test func ordersSurviveRestarts() async throws {
    let options = SimulationOptions(faults: [.reset, .status, .restart], faultTime: .seconds(30))
    let summary = try await Simulation.explore(seeds: 1...200, name: "orders", options: options, orders)
    #expect(summary.unreached == [])
}
