/// The state of a circuit.
public enum CircuitState: Sendable, Hashable {
    /// Requests pass, and their failures are counted.
    case closed
    /// No requests pass until the second time; both times are on the breaker's clock.
    case open(since: Duration, until: Duration)
    /// A few requests pass, to probe whether the circuit can close.
    case halfOpen
}
