/// A value whose life is counted. The ``ContractChecker`` sends such values through the operator under test.
public final class ContractElement: Sendable, Comparable, Hashable, CustomStringConvertible {
    /// Counts up from 0 in each subscription of a source.
    public let number: Int
    private let probe: ContractProbe

    init(_ number: Int, _ probe: ContractProbe) {
        self.number = number
        self.probe = probe
        probe.born()
    }

    deinit { probe.died() }

    /// Whether the numbers are the same.
    public static func == (one: ContractElement, other: ContractElement) -> Bool {
        one.number == other.number
    }

    /// Whether one number is less than the other.
    public static func < (one: ContractElement, other: ContractElement) -> Bool { one.number < other.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// The number.
    public var description: String { "\(number)" }
}

/// The error of the ``ContractChecker``'s failing sources.
public struct ContractFailure: Error, Sendable, Equatable {
    /// Creates the error.
    public init() {}
}
