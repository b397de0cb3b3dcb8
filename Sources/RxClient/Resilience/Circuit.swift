/// The rules of a circuit breaker, as a pure state machine.
struct Circuit: Sendable {
    /// The decision about a request.
    enum Passage: Sendable, Equatable {
        case passed(epoch: Int)
        case refused(since: Duration, until: Duration)
    }

    private let policy: CircuitBreaker.Policy
    private(set) var state = CircuitState.closed
    /// The number of state changes: a request that began in an earlier state does not count.
    private var epoch = 0
    /// The counts of requests and of failures.
    private var counts: SlidingCounts
    /// The time at which the circuit left the closed state.
    private var openSince = Duration.zero
    private var probing = 0
    private var succeeded = 0

    init(_ policy: CircuitBreaker.Policy) {
        self.policy = policy
        counts = SlidingCounts(window: policy.window)
    }

    mutating func enter(at now: Duration) -> Passage {
        if case .open(_, let until) = state, now >= until { go(to: .halfOpen) }
        switch state {
        case .closed: break
        case .open(let since, let until): return .refused(since: since, until: until)
        case .halfOpen:
            guard probing + succeeded < max(1, policy.probes) else {
                return .refused(since: openSince, until: now)
            }
            probing += 1
        }
        return .passed(epoch: epoch)
    }

    func isProbe(_ passage: Passage) -> Bool {
        state == .halfOpen && passage == .passed(epoch: epoch)
    }

    mutating func leave(_ passage: Passage, isFailure: Bool?, at now: Duration) {
        guard passage == .passed(epoch: epoch) else { return }
        switch state {
        case .open: break
        case .closed:
            guard let isFailure else { return }
            counts.add(first: 1, second: isFailure ? 1 : 0, at: now)
            let (requests, failures) = (counts.first, counts.second)
            guard isFailure, requests >= policy.minimumRequests,
                Double(failures) >= policy.failureRatio * Double(requests)
            else { return }
            openSince = now
            go(to: .open(since: now, until: now + policy.openDuration))
        case .halfOpen:
            probing -= 1
            switch isFailure {
            case true?: go(to: .open(since: openSince, until: now + policy.openDuration))
            case false?:
                succeeded += 1
                if succeeded >= max(1, policy.probes) { go(to: .closed) }
            case nil: break
            }
        }
    }

    mutating func reset() { go(to: .closed) }

    private mutating func go(to state: CircuitState) {
        self.state = state
        epoch += 1
        probing = 0
        succeeded = 0
        counts.clear()
    }
}
