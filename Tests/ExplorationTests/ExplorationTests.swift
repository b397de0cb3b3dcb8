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

    @Test(arguments: House.scenarios.map(\.name))
    func theSameSeedGivesTheSameRun(_ name: String) throws {
        let scenario = try #require(House.scenarios.first { $0.name == name })
        for seed in UInt64(1)...10 {
            let first = try Simulation(seed: seed).run(scenario.run)
            let second = try Simulation(seed: seed).run(scenario.run)
            #expect(!first.events.isEmpty)
            #expect(first.events == second.events)
        }
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

    @Test(arguments: House.scenarios.map(\.name))
    func aRunLeavesNothingBehind(_ name: String) throws {
        let scenario = try #require(House.scenarios.first { $0.name == name })
        for seed in UInt64(1)...30 {
            weak var released: Simulation?
            do {
                let simulation = Simulation(seed: seed)
                released = simulation
                try simulation.run(scenario.run)
            }
            #expect(released == nil, "seed \(seed)")
        }
    }
}
