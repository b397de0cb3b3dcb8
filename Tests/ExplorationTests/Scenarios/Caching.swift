import HTTPTypes
import RxNetworking
import RxTesting

extension House {
    /// A resource that is read by several at once and changed now and then, with a cache that outlives restarts.
    static let caching: Simulation.Scenario = { simulation in
        let version = Kept(1)
        simulation.server(url) { request in
            if request.method == .put {
                let new = version { version in
                    version += 1
                    return version
                }
                simulation.note("changed to", "\(new)")
                return .json("\(new)")
            }
            let tag = "\"v\(version.now)\""
            let headers: HTTPFields = [.eTag: tag, .cacheControl: "max-age=5"]
            if request[.ifNoneMatch] == tag { return .status(.notModified, headers: headers) }
            return .json("\(version.now)", headers: headers)
        }

        let store = MemoryCacheStore()
        simulation.process { process in
            var configuration = process.configuration()
            configuration.cache = ResponseCache(store: store)
            configuration.options.cachePolicy = .http
            let client = Client(configuration: configuration, transport: process.transport)
            process.every(.milliseconds(900)) { turn in
                for _ in 0..<(1 + turn % 3) {
                    process.subscribe("stock", to: client.get("/stock").decode(Int.self))
                }
                if turn % 5 == 0 {
                    process.subscribe("change", to: client.put("/stock").decode(Int.self))
                }
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.get("/stock").decode(Int.self))
            }
        }

        simulation.expectEnds(of: "stock")
        simulation.expectEnds(of: "change")
        simulation.expectSuccess(of: "check")
        simulation.sometimes("a response from memory, and nothing sent") { log in
            log.exchanges("GET /stock").count < log.subscriptions("stock").count / 4
        }
        simulation.sometimes("a stored response is validated") { log in
            log.exchanges("GET /stock").contains { $0.status == .notModified }
        }
        simulation.invariant("no read before its own write", violations: oldReads)
        simulation.invariant("the truth in the end") { log in
            log.subscriptions("check").filter { $0.end == .finished && $0.values != ["\(version.now)"] }
                .map { "\($0.place) reads \($0.values) after \(version.now)" }
        }
        simulation.invariant("equal requests are sent once") { log in
            // At one instant, by one process, there is at most one new request.
            let times = log.exchanges("GET /stock").map(\.sentAt)
            return zip(times, times.dropFirst()).filter { $0 == $1 }.map { "two requests at \($0.0)" }
        }
    }

    /// Reads that began after a change was complete, and got an older value.
    private static func oldReads(_ log: SimulationLog) -> [String] {
        var known = 0
        var floors: [String: Int] = [:]
        var violations: [String] = []
        for event in log.events {
            switch event.kind {
            case .subscribed: floors[event.subject] = known
            case .value(let text):
                guard let value = Int(text) else { continue }
                if event.subject.hasPrefix("change") { known = max(known, value) }
                if value < floors[event.subject, default: 0] {
                    violations.append(
                        "\(event.subject) reads \(value) after \(floors[event.subject, default: 0])")
                }
            default: break
            }
        }
        return violations
    }
}
