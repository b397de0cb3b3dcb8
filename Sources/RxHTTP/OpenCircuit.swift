/// Since when a circuit breaker lets nothing through, and until when; on its clock, as
/// ``RxLite/Scheduler/now`` gives it.
public struct OpenCircuit: Sendable, Hashable {
    /// When it opened.
    public var since: Duration
    /// When a request is let through again to probe the host; a time that has passed while one is under way.
    public var until: Duration

    /// Creates the two times.
    public init(since: Duration, until: Duration) {
        self.since = since
        self.until = until
    }
}
