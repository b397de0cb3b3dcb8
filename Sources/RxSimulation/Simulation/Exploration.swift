import FoundationEssentials
import Synchronization

extension Simulation {
    /// Runs a scenario with each of the seeds, on all cores, until an invariant is violated. Then it looks for the
    /// smallest list of faults with which the same invariant is violated.
    ///
    /// ```swift
    /// @Test func ordersSurvive() async throws {
    ///     try await Simulation.explore(seeds: 1...200, name: "orders", orders)
    /// }
    /// ```
    ///
    /// The failure that it reports is that of the lowest seed, however many cores there are.
    ///
    /// - Parameters:
    ///   - seeds: the seeds.
    ///   - name: the name of the scenario's function, which the test printed with a failure calls. Default "scenario".
    ///   - options: which faults there are, and how long a run takes.
    ///   - scenario: makes servers, processes and invariants; called once for each run.
    /// - Returns: a summary of the runs.
    /// - Throws: the failure.
    @discardableResult
    public static func explore(
        seeds: ClosedRange<UInt64>, name: String = "scenario",
        options: SimulationOptions = SimulationOptions(),
        _ scenario: @escaping Scenario
    ) async throws(SimulationFailure) -> Exploration {
        let queue = SeedQueue(seeds)
        let summary = await withTaskGroup(of: Exploration.self) { group in
            for _ in 0..<max(1, ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask {
                    var part = Exploration()
                    while let seed = queue.next() {
                        let outcome = Simulation(seed: seed, options: options).outcome(of: scenario)
                        part.add(outcome)
                        if !outcome.violations.isEmpty { queue.fail(seed, outcome) }
                        await Task.yield()
                    }
                    return part
                }
            }
            return await group.reduce(into: Exploration()) { $0.add($1) }
        }
        guard let (seed, outcome) = queue.failure else { return summary }
        let smallest = shrunk(outcome, seed: seed, options, scenario)
        throw SimulationFailure(name: name, seed: seed, smallest)
    }

    /// Reduces a violation to the fewest and simplest faults that still cause it.
    private static func shrunk(
        _ outcome: Outcome, seed: UInt64, _ options: SimulationOptions, _ scenario: @escaping Scenario
    ) -> Outcome {
        func replay(_ faults: [PlacedFault]) -> Outcome {
            Simulation(seed: seed, faults: faults, options: options).outcome(of: scenario)
        }
        var replayed = replay(outcome.faults)
        guard replayed.log.events == outcome.log.events else {
            replayed.violations.append(
                SimulationViolation(
                    name: "the same run",
                    text: "the same faults led to other events: the scenario depends on more"))
            return replayed
        }
        let name = outcome.violations.first?.name
        var shrinker = Shrinker { faults in replay(faults).violations.contains { $0.name == name } }
        return replay(shrinker.shrunk(outcome.faults))
    }
}

/// The seeds still to run, and the failure of the lowest seed so far. Thread-safe.
private final class SeedQueue: Sendable {
    private struct Contents {
        var next: UInt64?
        var failure: (seed: UInt64, outcome: Simulation.Outcome)?
    }

    private let last: UInt64
    private let contents: Mutex<Contents>

    init(_ seeds: ClosedRange<UInt64>) {
        last = seeds.upperBound
        contents = Mutex(Contents(next: seeds.lowerBound))
    }

    var failure: (seed: UInt64, outcome: Simulation.Outcome)? { contents.withLock { $0.failure } }

    /// The next seed, unless a lower one has failed.
    func next() -> UInt64? {
        contents.withLock { contents in
            guard let seed = contents.next, contents.failure == nil else { return nil }
            contents.next = seed < last ? seed + 1 : nil
            return seed
        }
    }

    func fail(_ seed: UInt64, _ outcome: Simulation.Outcome) {
        contents.withLock { contents in
            if let failure = contents.failure, failure.seed < seed { return }
            contents.failure = (seed, outcome)
        }
    }
}

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

/// Looks for the smallest list of faults that still fails: removes faults (delta debugging, "Simplifying and Isolating
/// Failure-Inducing Input", Zeller and Hildebrandt, 2002), then makes the numbers of the others rounder.
struct Shrinker {
    private let fails: ([PlacedFault]) -> Bool
    /// The number of runs left.
    private var budget: Int

    /// - Parameters:
    ///   - budget: the most runs. Default 3,000.
    ///   - fails: whether a run with these faults fails.
    init(budget: Int = 3000, _ fails: @escaping ([PlacedFault]) -> Bool) {
        self.fails = fails
        self.budget = budget
    }

    /// The fewest and simplest of the faults that still fail.
    mutating func shrunk(_ faults: [PlacedFault]) -> [PlacedFault] {
        simplified(fewest(of: faults))
    }

    /// Removes ever smaller parts of the list, until no single fault can be removed.
    private mutating func fewest(of faults: [PlacedFault]) -> [PlacedFault] {
        if stillFails([]) { return [] }
        var faults = faults
        var size = max(1, faults.count / 2)
        while true {
            var hasShrunk = false
            var start = 0
            while start < faults.count {
                let end = min(start + size, faults.count)
                let rest = Array(faults[..<start] + faults[end...])
                if stillFails(rest) {
                    faults = rest
                    hasShrunk = true
                } else {
                    start = end
                }
            }
            if size > 1 { size /= 2 } else if !hasShrunk { return faults }
        }
    }

    /// Makes the numbers of each fault rounder, as long as the list still fails.
    private mutating func simplified(_ faults: [PlacedFault]) -> [PlacedFault] {
        var faults = faults
        for index in faults.indices {
            // Each number once: a fault may have two.
            for _ in 0..<2 {
                let candidate = faults[index].fault.simpler.lazy.map { fault in
                    var candidate = faults
                    candidate[index].fault = fault
                    return candidate
                }
                guard let simpler = first(of: candidate) else { break }
                faults = simpler
            }
        }
        return faults
    }

    private mutating func first(of candidates: some Sequence<[PlacedFault]>) -> [PlacedFault]? {
        for candidate in candidates where stillFails(candidate) { return candidate }
        return nil
    }

    private mutating func stillFails(_ faults: [PlacedFault]) -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        return fails(faults)
    }
}
