public import FoundationEssentials

/// The limits of a simulation.
public struct SimulationOptions: Sendable {
    /// The kinds of faults that a seed may choose. Default all.
    public var faults: Set<Fault.Kind>
    /// The time in which a seed's faults begin. Default 60 s.
    public var faultTime: Duration
    /// The time that follows without new faults, in which the client can recover. Then everything that still runs is
    /// cancelled. Default 10 min.
    public var calmTime: Duration
    /// The wall clock at the beginning. Default 2000-01-01 00:00:00 UTC.
    public var origin: Date
    /// The most pieces of work in one run; more are a violation. Default 100,000.
    public var stepLimit: Int

    /// Creates options.
    public init(
        faults: Set<Fault.Kind> = Set(Fault.Kind.allCases), faultTime: Duration = .seconds(60),
        calmTime: Duration = .seconds(600), origin: Date = Date(timeIntervalSince1970: 946_684_800),
        stepLimit: Int = 100_000
    ) {
        self.faults = faults
        self.faultTime = faultTime
        self.calmTime = calmTime
        self.origin = origin
        self.stepLimit = stepLimit
    }

    /// The Swift expression of the options that matter for a run with given faults; `nil` if all are the defaults.
    var source: String? {
        let standard = SimulationOptions()
        var arguments: [String] = []
        if faultTime != standard.faultTime { arguments.append("faultTime: \(faultTime.source)") }
        if calmTime != standard.calmTime { arguments.append("calmTime: \(calmTime.source)") }
        if origin != standard.origin {
            arguments.append("origin: Date(timeIntervalSince1970: \(origin.timeIntervalSince1970))")
        }
        if stepLimit != standard.stepLimit { arguments.append("stepLimit: \(stepLimit)") }
        return arguments.isEmpty ? nil : "SimulationOptions(\(arguments.joined(separator: ", ")))"
    }
}
