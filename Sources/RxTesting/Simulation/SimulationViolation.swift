/// An invariant that does not hold.
public struct SimulationViolation: Hashable, Sendable, CustomStringConvertible {
    /// The name of the invariant.
    public let name: String
    /// The violation.
    public let text: String

    /// Name and violation.
    public var description: String { "\(name): \(text)" }
}
