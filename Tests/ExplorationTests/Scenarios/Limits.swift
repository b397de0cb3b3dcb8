import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// A host with few places, a circuit breaker, hedged reads and uploads.
    static let limits: Simulation.Scenario = { simulation in
        simulation.server(url) { request in
            // Slow enough for requests to wait for each other, and for hedges.
            .json("{}", after: .milliseconds(request.place.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) % 700 }))
        }

        simulation.process { process in
            var configuration = process.configuration()
            configuration.hostLimits = RequestLimits(concurrency: 3)
            configuration.circuitBreaker = CircuitBreaker.Policy(
                minimumRequests: 5, openDuration: .seconds(5))
            let client = Client(configuration: configuration, transport: process.transport)
            let hedged = RequestOptions(hedging: .after(.milliseconds(300)))
            process.every(.milliseconds(200)) { turn in
                if turn % 5 == 0 {
                    let body = Body.stream(.sequence([[1, 2], [3]]), length: 3, isReplayable: turn % 2 == 0)
                    process.subscribe("call", to: client.put("/photo", .body(body)), describing: { _ in "" })
                } else {
                    process.subscribe(
                        "call", to: client.get("/goods", options: hedged), describing: { _ in "" })
                }
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.get("/check"), describing: { _ in "" })
            }
        }

        simulation.expectEnds(of: "call")
        simulation.expectSuccess(of: "check")
        simulation.sometimes("a second attempt runs beside the first") { log in
            let sent = log.exchanges("GET /goods")
            let hedges = sent.filter { hedge in
                sent.contains {
                    $0.sentAt + .milliseconds(300) == hedge.sentAt && hedge.sentAt < $0.endedAt ?? .zero
                }
            }
            return !hedges.isEmpty
        }
        simulation.sometimes("the circuit breaker refuses a request") { log in
            log.subscriptions("call").contains { $0.end == .failed("circuitOpen") }
        }
        simulation.sometimes("a request waits for a free place") { log in
            let starts = Set(log.events.filter { $0.kind == .subscribed }.map(\.time))
            return log.exchanges("PUT /photo").contains { !starts.contains($0.sentAt) }
        }
        simulation.invariant("no more requests at once than allowed") { log in
            var running: Set<String> = []
            return log.events.compactMap { event in
                guard event.subject.hasPrefix("GET /") || event.subject.hasPrefix("PUT /") else { return nil }
                switch event.kind {
                case .sent:
                    running.insert(event.subject)
                    return running.count > 3 ? "\(running.sorted()) at \(event.time)" : nil
                case .finished, .failed, .cancelled, .killed:
                    running.remove(event.subject)
                    return nil
                default: return nil
                }
            }
        }
    }
}
