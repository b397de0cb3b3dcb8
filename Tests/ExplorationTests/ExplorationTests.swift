import RxSimulation
import RxTesting
import Scenarios
import Testing

/// The client under faults, with 200 seeds a scenario. `Tests/explore.sh` runs 10,000.
@Suite struct ExplorationTests {
    @Test(arguments: House.scenarios.map(\.name))
    func theHouseStands(_ name: String) async throws {
        let scenario = try #require(House.scenarios.first { $0.name == name })
        let summary = try await Simulation.explore(seeds: 1...200, name: name, scenario.run)
        #expect(summary.runCount == 200)
        // Faults that do not strike prove nothing.
        let kinds: Set<Fault.Kind> = [
            .delay, .reset, .status, .clockJump, .outage, .restart, .cancel, .slowReader,
        ]
        #expect(kinds.subtracting(summary.faults.keys).isEmpty)
        // Nor do invariants in runs that never get to where they matter.
        #expect(summary.unreached == [])
    }

    /// The same seed gives the same run, and a run leaves nothing behind.
    @Test(arguments: House.scenarios.map(\.name))
    func seedsAndMemory(_ name: String) throws {
        let scenario = try #require(House.scenarios.first { $0.name == name })
        for seed in UInt64(1)...10 {
            let (first, second) = (try releasedRun(seed, scenario.run), try releasedRun(seed, scenario.run))
            #expect(!first.isEmpty)
            #expect(first == second)
        }
    }

    private func releasedRun(
        _ seed: UInt64, _ scenario: @escaping Simulation.Scenario
    ) throws -> [SimulationEvent] {
        weak var released: Simulation?
        let events: [SimulationEvent]
        do {
            let simulation = Simulation(seed: seed)
            released = simulation
            events = try simulation.run(scenario).events
        }
        #expect(released == nil, "seed \(seed)")
        return events
    }

    @Test func aRunThatThrowsLeavesNothingBehind() {
        weak var released: Simulation?
        do {
            let simulation = Simulation(seed: 1, faults: [.at("app", .restart(at: .seconds(1)))])
            released = simulation
            #expect(throws: SimulationFailure.self) {
                try simulation.run { simulation in
                    simulation.process { _ in }
                    throw CancellationError()
                }
            }
        }
        #expect(released == nil)
    }
}
