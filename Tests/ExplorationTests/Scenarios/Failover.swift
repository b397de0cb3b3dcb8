import FoundationEssentials
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// A main server and its replica, either of which fails.
    static let failover: Simulation.Scenario = { simulation in
        let standby = "https://standby.test"
        simulation.server(url) { _ in .json("{}") }
        simulation.server(standby) { _ in .json("{}") }

        simulation.process { process in
            var configuration = process.configuration()
            configuration.standbyURL = standby
            configuration.failoverProbeInterval = .seconds(10)
            let client = Client(configuration: configuration, transport: process.transport)
            let start = Int(process.scheduler.now / .milliseconds(1))
            process.every(.seconds(2), until: quietTime) { turn in
                let query: Parameters.Values = ["id": start + turn]
                if turn % 3 == 0 {
                    process.subscribe(
                        "call", to: client.post("/orders", query: query), describing: { _ in "" })
                } else {
                    process.subscribe("call", to: client.get("/goods", query: query), describing: { _ in "" })
                }
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.get("/check"), describing: { _ in "" })
            }
        }

        simulation.expectEnds(of: "call")
        simulation.expectSuccess(of: "check")
        simulation.sometimes("the standby server answers a GET that the main server refused") { log in
            let standby = log.exchanges("GET /goods").filter { $0.request.url.host() == "standby.test" }
            return standby.contains { $0.outcome == .finished }
        }
        simulation.sometimes("the main server answers after the standby server") { log in
            let hosts = log.exchanges("GET /goods").map { $0.request.url.host() }
            guard let first = hosts.firstIndex(of: "standby.test") else { return false }
            return hosts[first...].contains("shop.test")
        }
        simulation.invariant("no POST at two servers") { log in
            var seen: Set<String> = []
            return log.exchanges("POST /orders").compactMap { order in
                guard order.receivedAt != nil, let query = order.request.url.query() else { return nil }
                return seen.insert(query).inserted ? nil : "the order \(query) was received twice"
            }
        }
        simulation.invariant("back at the main server in the end") { log in
            log.exchanges("GET /check").filter { $0.request.url.host() != "shop.test" }
                .map { "\($0.place) went to the standby server" }
        }
        simulation.invariant("a server that answers serves") { log in
            // In the quiet before the check nothing fails any more.
            log.subscriptions("call").compactMap { call in
                guard call.startedAt > .seconds(180), case .failed(let code) = call.end else { return nil }
                return "\(call.place) at \(call.startedAt): \(code)"
            }
        }
    }
}
