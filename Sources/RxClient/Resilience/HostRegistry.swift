import RxHTTP
import RxLite
import Synchronization

/// The hosts that a client sends requests to. A server keeps a reference to its host, so only other URLs need
/// a lookup.
final class HostRegistry: Sendable {
    /// The limiter of requests, if they are limited.
    let limiter: RequestLimiter?
    /// Admits one opening handshake of a WebSocket to each host at a time.
    let handshakes: RequestLimiter
    private let budget: RetryBudget?
    private let circuitBreaker: CircuitBreaker.Policy?
    private let clock: any Scheduler
    private let known = Mutex(HostTable<Origin, HostState>())

    init(_ configuration: ClientConfiguration, on clock: any Scheduler) {
        budget = configuration.retryBudget
        circuitBreaker = configuration.circuitBreaker
        let (total, perHost) = (configuration.limits, configuration.hostLimits)
        let isUnlimited = total.isNone && perHost.isNone
        limiter = isUnlimited ? nil : RequestLimiter(total: total, perHost: perHost, clock: clock)
        handshakes = RequestLimiter(perHost: RequestLimits(concurrency: 1), clock: clock)
        self.clock = clock
    }

    subscript(origin: Origin) -> HostState {
        known.withLock { known in
            if let host = known[origin] { return host }
            known.makeRoom { $0.isIdle }
            // By this name, processes find the circuits and quotas that they share in a store: in another form, a new
            // version would share nothing with older ones.
            let name = "\(origin.scheme)://\(origin.host):\(origin.port)"
            let host = HostState(
                budget: budget?.account(of: origin, on: clock),
                breaker: circuitBreaker.map { CircuitBreaker($0, clock: clock, host: name) },
                limits: limiter?.host(name))
            known[origin] = host
            return host
        }
    }
}

/// The state of one host that a client sends requests to.
final class HostState: Sendable {
    let budget: RetryBudget.Account?
    let breaker: CircuitBreaker?
    /// The limiter's state for the host, if requests are limited.
    let limits: RequestLimiter.Host?
    let latencies = RecentLatencies()

    init(budget: RetryBudget.Account?, breaker: CircuitBreaker?, limits: RequestLimiter.Host?) {
        self.budget = budget
        self.breaker = breaker
        self.limits = limits
    }

    /// Whether the state can be dropped without losing anything relevant: budget and limiter keep their own
    /// by host.
    var isIdle: Bool { breaker?.state.value ?? .closed == .closed }
}

/// The objects that belong to hosts. Past a limit, those that are idle and that nobody else holds are dropped: a second
/// object of a host would count apart from one that is still held.
struct HostTable<Key: Hashable, Value: AnyObject> {
    private var objects: [Key: Value] = [:]
    /// The number of objects above which idle ones are dropped.
    private var limit = 1024

    var values: Dictionary<Key, Value>.Values { objects.values }

    subscript(key: Key) -> Value? {
        get { objects[key] }
        set { objects[key] = newValue }
    }

    /// Drops idle objects if there are many. Called before an object is added.
    mutating func makeRoom(_ isIdle: (Value) -> Bool) {
        guard objects.count >= limit else { return }
        let keys = Array(objects.keys)
        for key in keys {
            // First, since reading an object holds it.
            guard isKnownUniquelyReferenced(&objects[key]) else { continue }
            if let object = objects[key], isIdle(object) { objects[key] = nil }
        }
        // If many are in use, not every addition looks at all of them.
        limit = max(1024, objects.count * 2)
    }
}
