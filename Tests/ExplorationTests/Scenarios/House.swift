package import RxNetworking
package import RxSimulation
import Synchronization

/// The scenarios of this package's own client.
package enum House {
    /// The scenarios, by name.
    package static let scenarios: [(name: String, run: Simulation.Scenario)] =
        [
            ("session", session),
            ("accounts", accounts),
            ("retry", retry),
            ("paging", paging),
            ("failover", failover),
            ("caching", caching),
            ("downloads", downloads),
            ("transfers", transfers),
            ("events", events),
            ("webSockets", webSockets),
            ("limits", limits),
        ] + optionalScenarios

    /// The scenarios of products behind traits.
    private static let optionalScenarios: [(name: String, run: Simulation.Scenario)] = {
        var scenarios: [(name: String, run: Simulation.Scenario)] = []
        #if Outbox
        scenarios.append(("outbox", outbox))
        #endif
        #if Fleet
        scenarios.append(("fleet", fleet))
        #endif
        #if Outbox && Fleet
        scenarios.append(("outboxes", outboxes))
        #endif
        return scenarios
    }()

    /// An interceptor that breaks a rule on purpose, for tests of whether the invariants notice.
    @TaskLocal package static var plantedBug: (any Interceptor)?

    /// The base URL of the scenarios' server.
    static let url = "https://shop.test"
    /// The time at which all faults of a seed are over, with all that they have delayed.
    static let quietTime = Duration.seconds(240)
}

/// State of a simulated server or app, outside of the processes: a restart keeps it.
final class Kept<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    /// The value now.
    var now: Value { value.withLock { $0 } }

    /// Reads or changes the value.
    func callAsFunction<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
        value.withLock { change(&$0) }
    }
}

extension SimulatedProcess {
    /// The configuration of a client of the scenarios' server.
    func configuration(_ url: String = House.url) -> ClientConfiguration {
        var configuration = ClientConfiguration(baseURL: url)
        if let bug = House.plantedBug { configuration.options.interceptors.attempt.append(bug) }
        return configuration
    }

    /// Runs `work` now and again after each period, with the number of the turn from 1, until the given time.
    func every(
        _ period: Duration, until end: Duration = .seconds(60), turn: Int = 1,
        _ work: @escaping @Sendable (Int) -> Void
    ) {
        guard scheduler.now < end else { return }
        work(turn)
        after(period) { self.every(period, until: end, turn: turn + 1, work) }
    }
}

extension Simulation {
    /// Every subscription with this name must end by itself, unless a fault or its process ends it.
    func expectEnds(of name: String) {
        invariant("\(name) ends") { log in
            log.subscriptions(name).filter(\.isCutOff).map { "\($0.place) does not end" }
        }
    }

    /// The last subscription with this name must finish before the end of the run, unless a fault cancels it or its process
    /// is killed.
    func expectSuccess(of name: String) {
        invariant("\(name) succeeds") { log in
            guard let last = log.subscriptions(name).last else { return ["there is no \(name)"] }
            return switch last.end {
            case .finished, .killed: []
            case .cancelled where !last.isCutOff: []
            default: ["\(last.place): \(String(describing: last.end))"]
            }
        }
    }
}
