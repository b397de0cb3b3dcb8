import RxLite

/// What a client knows of one host that it sends requests to.
final class HostState: Sendable {
    let budget: RetryBudget.Account?
    let breaker: CircuitBreaker?
    /// Its queue, if requests are limited.
    let place: RequestLimiter.Place?
    let latencies = RecentLatencies()

    init(budget: RetryBudget.Account?, breaker: CircuitBreaker?, place: RequestLimiter.Place?) {
        self.budget = budget
        self.breaker = breaker
        self.place = place
    }

    /// Whether nothing would be lost with it that matters.
    var isIdle: Bool { breaker?.state.value ?? .closed == .closed }
}
