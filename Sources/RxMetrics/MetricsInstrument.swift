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
        /// The target that was looked up last, and what with.
        var latest: (key: MetricsTarget.Key, target: MetricsTarget)?
        var templates: Set<String> = []
        var origins: Set<Origin> = []
        var circuits: [Origin: (breaker: CircuitBreaker, watching: Subscription)] = [:]
    }

    /// The number of different origins: a server may redirect to any number of them.
    private static let originLimit = 500

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

    /// The connections and circuits do not count any more, whatever call still runs.
    func stop() { bag.cancel() }

    func record(of call: RecordedCall) -> any CallRecord { CallMetrics(call, self) }

    /// The metrics of requests with these attributes. A lookup of the same ones as before compares without hashing.
    func target(
        _ key: MetricsTarget.Key, through breaker: CircuitBreaker? = nil
    ) -> MetricsTarget {
        let target = known.withLock { $0.target(key, templateLimit, Self.originLimit, factory) }
        if let breaker, target.takesNew(breaker) { watch(breaker, of: target.key.origin) }
        return target
    }

    /// Records the connections of the client's transport, as long as the client is recorded.
    func watch(_ connections: Observable<ConnectionEvent, Never>) {
        let metrics = ConnectionMetrics(factory)
        connections.subscribe(onNext: { metrics.take($0) }).store(in: bag)
    }

    /// Records the state of a circuit each time it changes. A client that has had many hosts makes a new breaker for one
    /// that it has forgotten.
    private func watch(_ breaker: CircuitBreaker, of origin: Origin?) {
        guard let origin, known.withLock({ $0.circuits[origin]?.breaker !== breaker }) else { return }
        let meter = Meter(
            label: ClientMetric.circuitState.rawValue, dimensions: origin.dimensions, factory: factory)
        let watching = breaker.state.observable.subscribe(onNext: { meter.set($0.number) })
        watching.store(in: bag)
        known.withLock { $0.circuits.updateValue((breaker, watching), forKey: origin) }?.watching.cancel()
    }
}

extension MetricsInstrument.Known {
    fileprivate mutating func target(
        _ key: MetricsTarget.Key, _ templateLimit: Int, _ originLimit: Int, _ factory: any MetricsFactory
    ) -> MetricsTarget {
        if let latest, latest.key == key { return latest.target }
        let target = targets[key] ?? newTarget(key, templateLimit, originLimit, factory)
        latest = (key, target)
        return target
    }

    private mutating func newTarget(
        _ key: MetricsTarget.Key, _ templateLimit: Int, _ originLimit: Int, _ factory: any MetricsFactory
    ) -> MetricsTarget {
        let bounded = bounded(key, templateLimit, originLimit)
        let target = targets[bounded] ?? MetricsTarget(bounded, factory)
        targets[bounded] = target
        // Paths with queries may be any number.
        let isTemplate = bounded.path == key.path.map { key.basePath + $0 }
        if isTemplate, bounded.origin == key.origin { targets[key] = target }
        return target
    }

    /// The key with the whole template, without what there are already too many of.
    private mutating func bounded(
        _ key: MetricsTarget.Key, _ templateLimit: Int, _ originLimit: Int
    ) -> MetricsTarget.Key {
        var key = key
        key.path = key.path?.conventionalTemplate(below: key.basePath)
        key.basePath = ""
        if let template = key.path, !templates.contains(template) {
            if templates.count < templateLimit { templates.insert(template) } else { key.path = nil }
        }
        if let origin = key.origin, !origins.contains(origin) {
            if origins.count < originLimit { origins.insert(origin) } else { key.origin = nil }
        }
        return key
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
