import RxLite

/// The state of one host that a client sends requests to.
final class HostState: Sendable {
    let budget: RetryBudget.Account?
    let breaker: CircuitBreaker?
    /// The host's place in the queue, if requests are limited.
    let place: RequestLimiter.Place?
    let latencies = RecentLatencies()

    init(budget: RetryBudget.Account?, breaker: CircuitBreaker?, place: RequestLimiter.Place?) {
        self.budget = budget
        self.breaker = breaker
        self.place = place
    }

    /// Whether the state can be dropped without losing anything relevant.
    var isIdle: Bool { breaker?.state.value ?? .closed == .closed }
}
