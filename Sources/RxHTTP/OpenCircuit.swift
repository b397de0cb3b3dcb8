/// The period in which a circuit breaker lets no request through, on its clock, as ``Scheduler/now``
/// gives it.
public struct OpenCircuit: Sendable, Hashable {
    /// When it opened.
    public var since: Duration
    /// When a request may probe the host again; in the past while a probe is in flight.
    public var until: Duration

    /// Creates a period.
    public init(since: Duration, until: Duration) {
        self.since = since
        self.until = until
    }
}
