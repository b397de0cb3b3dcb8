import RxNetworking
import RxSimulation
import RxTesting
import Testing

@Suite struct OrderTests {
    @Test func everyOrderHasAKey() async throws {
        try await Simulation.explore(seeds: 1...100, name: "orders") { simulation in
            simulation.server("https://shop.test") { _ in .json("{}") }
            simulation.process { process in
                var configuration = ClientConfiguration(baseURL: "https://shop.test")
                configuration.options.interceptors.call.append(.idempotencyKeys())
                let client = Client(configuration: configuration, transport: process.transport)
                process.subscribe(
                    "order", to: client.post("/orders", ["item": 7]), describing: { "\($0.status.code)" })
            }
            simulation.invariant("each order has a key") { log in
                log.exchanges("POST /orders")
                    .filter { $0.request.headerFields[.idempotencyKey] == nil }
                    .map { "\($0.place) has no key" }
            }
        }
    }
}
