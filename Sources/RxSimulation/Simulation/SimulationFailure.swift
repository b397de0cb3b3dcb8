/// A run in which an invariant does not hold, after an exploration with the smallest list of faults that it found.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the scenario.
    public let name: String
    /// The seed of the run.
    public let seed: UInt64
    /// The faults of the run, in the order in which they were decided.
    public let faults: [PlacedFault]
    /// The violations.
    public let violations: [SimulationViolation]
    /// The run.
    public let log: SimulationLog
    private let options: SimulationOptions

    init(name: String, seed: UInt64, _ outcome: Simulation.Outcome) {
        self.name = name
        self.seed = seed
        faults = outcome.faults
        violations = outcome.violations
        log = outcome.log
        options = outcome.options
    }

    /// A test of this run, to paste.
    public var test: String {
        // The compiler does not compare the names in the text with those of the declarations.
        let list = faults.map { "            \($0),\n" }.joined()
        let options = options.source.map { ",\n        options: \($0)" } ?? ""
        return """
            @Test func \(function)WithSeed\(seed)() throws {
                let simulation = Simulation(
                    seed: \(seed),
                    faults: [\(list.isEmpty ? "" : "\n\(list)        ")]\(options))
                let log = try simulation.run(\(name))
                #expect(log.unreachedFaults.isEmpty)
            }
            """
    }

    /// The name without the characters that the name of a function cannot have.
    private var function: String {
        String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// The violations, the run as a marble diagram, and a test to paste.
    public var description: String {
        let shown = violations.prefix(10).map { "  \($0)" }.joined(separator: "\n")
        return """
            \(name) fails with the seed \(seed) and \(faults.count) faults:
            \(shown)

            \(log.diagram)

            \(test)
            """
    }
}

/// An invariant that does not hold.
public struct SimulationViolation: Hashable, Sendable, CustomStringConvertible {
    /// The name of the invariant.
    public let name: String
    /// The violation.
    public let text: String

    /// Name and violation.
    public var description: String { "\(name): \(text)" }
}
