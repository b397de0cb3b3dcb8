import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// Requests of all kinds with retries and a tight budget.
    static let retry: Simulation.Scenario = { simulation in
        simulation.server(url) { _ in .json("{}") }

        simulation.process { process in
            var configuration = process.configuration()
            configuration.retryBudget = RetryBudget(ratio: 0.2, floor: 0.3)
            configuration.options.retry = .exponentialBackoff(maxRetries: 3)
            let client = Client(configuration: configuration, transport: process.transport)
            configuration.options.interceptors.call.append(.idempotencyKeys())
            let keyed = Client(configuration: configuration, transport: process.transport)
            let start = Int(process.scheduler.now / .milliseconds(1))
            process.every(.milliseconds(700)) { turn in
                let query: Parameters.Values = ["id": start + turn]
                switch turn % 4 {
                case 0:
                    process.subscribe("call", to: client.get("/goods", query: query), describing: { _ in "" })
                case 1:
                    process.subscribe(
                        "call", to: client.post("/orders", query: query), describing: { _ in "" })
                case 2:
                    process.subscribe("call", to: keyed.post("/keyed", query: query), describing: { _ in "" })
                default:
                    process.subscribe(
                        "call", to: client.put("/photo", .multipart([.text("a", "b")]), query: query),
                        describing: { _ in "" })
                }
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.get("/check"), describing: { _ in "" })
            }
        }

        simulation.expectEnds(of: "call")
        simulation.expectSuccess(of: "check")
        simulation.sometimes("a second attempt succeeds") { log in
            allAttempts(log).contains { $0.exchanges.count > 1 && $0.exchanges.last?.outcome == .finished }
        }
        simulation.sometimes("the budget refuses a retry") { log in
            attempts(log, "GET /goods").contains {
                $0.exchanges.count == 1 && $0.exchanges[0].status?.code == 503
            }
        }
        simulation.invariant("no POST twice without a key") { log in
            attempts(log, "POST /orders").compactMap { id, attempts in
                attempts.count { $0.receivedAt != nil } > 1
                    ? "the server has received the order \(id) twice" : nil
            }
        }
        simulation.invariant("one key per call") { log in
            attempts(log, "POST /keyed").compactMap { id, attempts in
                Set(attempts.map { $0.request.headerFields[.idempotencyKey] }).count > 1
                    ? "\(id) has two keys" : nil
            }
        }
        simulation.invariant("as many retries as allowed") { log in
            allAttempts(log).compactMap { id, attempts in
                attempts.count > 4 ? "\(id) was sent \(attempts.count) times" : nil
            }
        }
        simulation.invariant("the wait that the server asks for") { log in
            allAttempts(log).flatMap { id, attempts in
                zip(attempts, attempts.dropFirst()).compactMap { former, next in
                    guard let end = former.endedAt, former.outcome == .finished,
                        let wait = asked(of: former.place, in: log), next.sentAt - end < .seconds(wait)
                    else { return nil }
                    return "\(id): \(next.place) was sent \(next.sentAt - end) after \(former.place)"
                }
            }
        }
        simulation.invariant("the budget", violations: overdrafts)
    }

    private typealias Attempts = [(id: String, exchanges: [SimulatedExchange])]

    /// The exchanges of each call, by its path and query.
    private static func allAttempts(_ log: SimulationLog) -> Attempts {
        ["GET /goods", "POST /orders", "POST /keyed", "PUT /photo"].flatMap { attempts(log, $0) }
    }

    private static func attempts(_ log: SimulationLog, _ request: String) -> Attempts {
        var calls: Attempts = []
        for exchange in log.exchanges(request) {
            let id = exchange.request.url.absoluteString
            if let index = calls.firstIndex(where: { $0.id == id }) {
                calls[index].exchanges.append(exchange)
            } else {
                calls.append((id, [exchange]))
            }
        }
        return calls
    }

    /// The seconds of `Retry-After` in the response of a gateway.
    private static func asked(of place: String, in log: SimulationLog) -> Int? {
        for event in log.events where event.subject == place {
            if case .fault(.status(_, let seconds)) = event.kind { return seconds }
        }
        return nil
    }

    /// The times at which more than a fifth of the requests of the last ten seconds, and three, were retries.
    private static func overdrafts(_ log: SimulationLog) -> [String] {
        let urls = Dictionary(
            uniqueKeysWithValues: log.exchanges.map { ($0.place, $0.request.url.absoluteString) })
        var seen: Set<String> = []
        var requests: [Duration] = []
        var retries: [Duration] = []
        var violations: [String] = []
        for event in log.events {
            if case .started = event.kind { (requests, retries) = ([], []) }
            guard case .sent = event.kind, let url = urls[event.subject] else { continue }
            requests.append(event.time)
            guard !seen.insert(url).inserted else { continue }
            retries.append(event.time)
            // A retry is paid for when it is decided, before its wait.
            let window = event.time - .seconds(10)
            let recent = retries.count { $0 > window }
            let allowance = 3 + 0.2 * Double(requests.count { $0 > window - .seconds(45) })
            if Double(recent) > allowance + 1 {
                violations.append("\(recent) retries in the 10 s to \(event.time)")
            }
        }
        return violations
    }
}
