#if Metrics
import CoreMetrics
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// Records the calls of one client.
final class MetricsInstrument: CallInstrument {
    fileprivate struct Known {
        var targets: [MetricsTarget.Key: MetricsTarget] = [:]
        /// The target that was looked up last.
        var latest: MetricsTarget?
        var templates: Set<String> = []
        var breakers: Set<ObjectIdentifier> = []
    }

    let factory: any MetricsFactory
    private let templateLimit: Int
    private let known = Mutex(Known())
    private let bag = SubscriptionBag()

    /// The requests themselves are recorded, not the calls around them.
    var watchesCalls: Bool { false }

    init(_ factory: any MetricsFactory, templateLimit: Int) {
        self.factory = factory
        self.templateLimit = templateLimit
    }

    func record(of call: RecordedCall) -> any CallRecord { CallMetrics(call, self) }

    /// The metrics of requests with these attributes. A lookup of the same ones as before compares without hashing.
    func target(
        _ key: MetricsTarget.Key, through breaker: CircuitBreaker? = nil
    ) -> MetricsTarget {
        let (target, isNew) = known.withLock { known in
            if let latest = known.latest, latest.key == key { return (latest, false) }
            if let target = known.targets[key] {
                known.latest = target
                return (target, false)
            }
            let target = known.add(key, limit: templateLimit, factory)
            known.latest = target
            return (target, true)
        }
        if isNew, let breaker, let origin = key.origin { watch(breaker, of: origin) }
        return target
    }

    /// Records the connections of the client's transport, as long as the client is recorded.
    func watch(_ connections: Observable<ConnectionEvent, Never>) {
        let metrics = ConnectionMetrics(factory)
        connections.subscribe(onNext: { metrics.take($0) }).store(in: bag)
    }

    /// Records the state of a circuit each time it changes.
    private func watch(_ breaker: CircuitBreaker, of origin: Origin) {
        let isNew = known.withLock { $0.breakers.insert(ObjectIdentifier(breaker)).inserted }
        guard isNew else { return }
        let meter = Meter(
            label: ClientMetric.circuitState.rawValue, dimensions: origin.dimensions, factory: factory)
        breaker.state.observable.subscribe(onNext: { meter.set($0.number) }).store(in: bag)
    }
}

extension MetricsInstrument.Known {
    fileprivate mutating func add(
        _ key: MetricsTarget.Key, limit: Int, _ factory: any MetricsFactory
    ) -> MetricsTarget {
        guard let template = key.template, !templates.contains(template) else {
            return insert(key, factory)
        }
        if templates.count < limit {
            templates.insert(template)
            return insert(key, factory)
        }
        // Not kept under the key, because there may be any number of these.
        var bare = key
        bare.template = nil
        return targets[bare] ?? insert(bare, factory)
    }

    private mutating func insert(
        _ key: MetricsTarget.Key, _ factory: any MetricsFactory
    ) -> MetricsTarget {
        let target = MetricsTarget(key, factory)
        targets[key] = target
        return target
    }
}

extension CircuitState {
    fileprivate var number: Int {
        switch self {
        case .closed: 0
        case .halfOpen: 1
        case .open: 2
        }
    }
}

extension Origin {
    /// The attributes of the origin.
    var dimensions: [(String, String)] {
        [("server.address", host), ("server.port", "\(port)"), ("url.scheme", scheme)]
    }
}
#endif
