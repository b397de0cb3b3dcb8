import Foundation
import RxTesting
import Scenarios

// explore [COUNT, default 10000] [SCENARIO…]   runs the scenarios with that many seeds each
// explore --fingerprint COUNT                  prints a number for each scenario that every event of the runs goes into
var arguments = CommandLine.arguments.dropFirst()
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
exit(hasFailed ? 1 : 0)

/// Writes a line without a buffer, so that a file shows how far the run is.
func report(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
