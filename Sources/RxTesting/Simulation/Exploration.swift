/// A summary of the runs of an exploration that has found no failure.
public struct Exploration: Sendable, CustomStringConvertible {
    /// The number of runs.
    public internal(set) var runCount = 0
    /// The number of exchanges in all runs.
    public internal(set) var exchangeCount = 0
    /// The number of events in all runs.
    public internal(set) var eventCount = 0
    /// How often faults of each kind struck.
    public internal(set) var faults: [Fault.Kind: Int] = [:]

    /// The number of runs in which each condition of ``Simulation/sometimes(_:isReached:)`` held.
    public internal(set) var milestones: [String: Int] = [:]

    /// The conditions of ``Simulation/sometimes(_:isReached:)`` that held in no run, sorted.
    public var unreached: [String] { milestones.filter { $0.value == 0 }.keys.sorted() }

    mutating func add(_ outcome: Simulation.Outcome) {
        let log = outcome.log
        runCount += 1
        exchangeCount += log.exchanges.count
        eventCount += log.events.count
        for case .fault(let fault) in log.events.map(\.kind) { faults[fault.kind, default: 0] += 1 }
        for (name, isReached) in outcome.milestones { milestones[name, default: 0] += isReached ? 1 : 0 }
    }

    mutating func add(_ other: Exploration) {
        runCount += other.runCount
        exchangeCount += other.exchangeCount
        eventCount += other.eventCount
        faults.merge(other.faults, uniquingKeysWith: +)
        milestones.merge(other.milestones, uniquingKeysWith: +)
    }

    /// The numbers on one line.
    public var description: String {
        let faults = faults.map { ($0.key.rawValue, $0.value) }
        let lists = [("faults", faults), ("milestones", milestones.map { ($0, $1) })].compactMap {
            title, counts -> String? in
            guard !counts.isEmpty else { return nil }
            let list = counts.sorted { $0.0 < $1.0 }.map { "\($0) \($1)" }
            return "; \(title): " + list.joined(separator: ", ")
        }
        return "\(runCount) runs, \(exchangeCount) exchanges, \(eventCount) events" + lists.joined()
    }
}
