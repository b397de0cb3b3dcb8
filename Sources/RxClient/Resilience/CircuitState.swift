/// Where a circuit is.
public enum CircuitState: Sendable, Hashable {
    /// Requests pass, and failures are counted.
    case closed
    /// Nothing passes until the time of the second value; both are on the breaker's clock.
    case open(since: Duration, until: Duration)
    /// A few requests pass to find out whether it can be closed.
    case halfOpen
}
