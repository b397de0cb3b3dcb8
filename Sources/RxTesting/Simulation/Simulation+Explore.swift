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
    ///   - name: the name of the scenario's function, for the test that a failure prints.
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
                    var summary = Exploration()
                    while let seed = queue.next() {
                        let outcome = Simulation(seed: seed, options: options).outcome(of: scenario)
                        summary.add(outcome)
                        if !outcome.violations.isEmpty { queue.fail(seed, outcome) }
                        await Task.yield()
                    }
                    return summary
                }
            }
            return await group.reduce(into: Exploration()) { $0.add($1) }
        }
        guard let (seed, outcome) = queue.failure else { return summary }
        let smallest = smallest(outcome, seed: seed, options, scenario)
        throw SimulationFailure(name: name, seed: seed, smallest)
    }

    /// The same violation with the fewest and simplest faults.
    private static func smallest(
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
        return replay(shrinker.smallest(of: outcome.faults))
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
