import Foundation
import RxSimulation
import Scenarios

// explore [COUNT, default 10000] [SCENARIO…]   runs the scenarios with that many seeds each
// explore --fleet-cost                         prints what fleets of 10 to 10,000 members ask of their store
// explore --fingerprint COUNT                  prints a number for each scenario that every event of the runs goes into
var arguments = CommandLine.arguments.dropFirst()
#if Fleet
if arguments.first == "--fleet-cost" {
    report("| Members | Commands for an expiry | a second: heartbeats | 1,000 requests/s within a limit |")
    for members in [10, 100, 1000, 10_000] {
        let cost = try FleetSimulation.cost(members: members)
        report("| \(members) | \(cost.expiry) | \(cost.heartbeats) | \(cost.permits) for \(cost.requests) |")
    }
    exit(0)
}
#endif
let printsFingerprints = arguments.first == "--fingerprint"
if printsFingerprints { arguments.removeFirst() }
let count = max(1, arguments.compactMap { UInt64($0) }.first ?? 10_000)
let names = arguments.filter { UInt64($0) == nil }
var hasFailed = false
for scenario in House.scenarios where names.isEmpty || names.contains(scenario.name) {
    do throws(SimulationFailure) {
        if printsFingerprints {
            var fingerprint: UInt64 = 0
            for seed in 1...count {
                for event in try Simulation(seed: seed).run(scenario.run).events {
                    for byte in "\(event)".utf8 {
                        fingerprint = (fingerprint ^ UInt64(byte)) &* 0x100_0000_01B3
                    }
                }
            }
            report("\(scenario.name) \(fingerprint)")
        } else {
            let start = ContinuousClock.now
            let summary = try await Simulation.explore(seeds: 1...count, name: scenario.name, scenario.run)
            report("\(scenario.name): \(summary), in \(ContinuousClock.now - start)")
            if !summary.unreached.isEmpty {
                report("\(scenario.name): no run has reached \(summary.unreached)")
                hasFailed = true
            }
        }
    } catch {
        report("\(scenario.name): \(error)")
        hasFailed = true
    }
}
#if Fleet
if !printsFingerprints, names.isEmpty || names.contains("fleetSimulation") {
    let start = ContinuousClock.now
    let (runs, sum) = try await exploreFleets(seeds: 1...min(count, 2000))
    report(
        """
        fleetSimulation: \(runs) runs of 1,000 members, \(sum.expiries) expiries: \(sum.renewals) renewals, \(sum.logins) \
        logins for \(sum.reasons) reasons, \(sum.faults) members cut off or without replies, \(sum.commands) commands, \
        in \(ContinuousClock.now - start)
        """)
    for violation in sum.violations { report("fleetSimulation: \(violation)") }
    if !sum.violations.isEmpty { hasFailed = true }
}

/// Runs a fleet with each seed, on all cores.
func exploreFleets(seeds: ClosedRange<UInt64>) async throws -> (Int, FleetSimulation.Outcome) {
    try await withThrowingTaskGroup(of: FleetSimulation.Outcome.self) { group in
        var (next, runs, sum) = (seeds.lowerBound, 0, FleetSimulation.Outcome())
        func start() {
            guard next <= seeds.upperBound else { return }
            let seed = next
            next += 1
            group.addTask {
                var outcome = try FleetSimulation.run(seed: seed)
                outcome.violations = outcome.violations.map { "seed \(seed): \($0)" }
                return outcome
            }
        }
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { start() }
        while let outcome = try await group.next() {
            runs += 1
            sum += outcome
            if runs % 200 == 0 { report("fleetSimulation: \(runs) runs, \(sum.violations.count) violations") }
            start()
        }
        return (runs, sum)
    }
}
#endif
exit(hasFailed ? 1 : 0)

/// Writes a line without a buffer, so that a file shows how far the run is.
func report(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
