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

    mutating func add(_ log: SimulationLog) {
        runCount += 1
        exchangeCount += log.exchanges.count
        eventCount += log.events.count
        for case .fault(let fault) in log.events.map(\.kind) { faults[fault.kind, default: 0] += 1 }
    }

    mutating func add(_ other: Exploration) {
        runCount += other.runCount
        exchangeCount += other.exchangeCount
        eventCount += other.eventCount
        faults.merge(other.faults, uniquingKeysWith: +)
    }

    /// The numbers on one line.
    public var description: String {
        let list = faults.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key.rawValue) \($0.value)"
        }
        return "\(runCount) runs, \(exchangeCount) exchanges, \(eventCount) events; faults: "
            + list.joined(separator: ", ")
    }
}
