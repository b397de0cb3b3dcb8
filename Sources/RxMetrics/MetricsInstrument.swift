#if Metrics
import CoreMetrics
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// Records the calls of one client.
final class MetricsInstrument: CallInstrument, CallRecord {
    /// The targets and breakers known so far, kept for later calls.
    fileprivate struct Known {
        var targets: [MetricsTarget.Key: MetricsTarget] = [:]
        /// The latest target of an exchange.
        var latest: Latest?
        var templates: Set<String> = []
        var origins: Set<Origin> = []
        var circuits: [Origin: (breaker: CircuitBreaker, watching: Subscription)] = [:]
    }

    fileprivate struct Latest {
        let method: HTTPRequest.Method
        let path: String?
        let destination: ExchangeDestination
        let target: MetricsTarget
    }

    /// The number of different origins: a server may redirect to any number of them. The documentation of
    /// ``ClientMetric`` and the page `Metrics.md` say 500.
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

    func record(of call: RecordedCall) -> any CallRecord { self }

    /// The metrics of requests with these attributes.
    func target(_ key: MetricsTarget.Key) -> MetricsTarget {
        known.withLock { $0.target(key, templateLimit, Self.originLimit, factory) }
    }

    /// The metrics of an exchange. An exchange like the one before needs no key.
    ///
    /// - Parameter path: the endpoint's path; it counts only at a server of the service.
    func target(
        _ method: HTTPRequest.Method, _ path: String?, at destination: ExchangeDestination
    ) -> MetricsTarget {
        let target = known.withLock { known in
            if let latest = known.latest, latest.destination === destination, latest.method == method,
                latest.path == path
            {
                return latest.target
            }
            let key = MetricsTarget.Key(
                method: method, origin: destination.origin, path: destination.basePath == nil ? nil : path,
                basePath: destination.basePath ?? "")
            let target = known.target(key, templateLimit, Self.originLimit, factory)
            known.latest = Latest(method: method, path: path, destination: destination, target: target)
            return target
        }
        if let breaker = destination.breaker, target.keepIfNew(breaker) {
            watch(breaker, of: target.key.origin)
        }
        return target
    }

    /// Records the connections of the client's transport, as long as the client is recorded.
    func watch(_ connections: Observable<ConnectionEvent, Never>) {
        let metrics = ConnectionMetrics(factory)
        connections.subscribe(onNext: { metrics.receive($0) }).store(in: bag)
    }

    /// Records the state of a circuit each time it changes. A client that has had many hosts makes a new breaker for
    /// one that it has forgotten.
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
        targets[key] ?? newTarget(key, templateLimit, originLimit, factory)
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

extension CircuitBreaker.State {
    /// The value that ``ClientMetric/circuitState`` documents.
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

// MARK: - Recording calls

extension MetricsInstrument {
    func begin(_ call: RecordedCall, in lane: Lane) {}
    func end(_ call: RecordedCall, _ outcome: RequestOutcome) {}

    func recordOutput(of call: RecordedCall) {
        if call.isPage { target(of: call).count(.pages) }
    }

    func receive(_ event: TrafficEvent.Kind, of call: RecordedCall) {
        func count(_ metric: ClientMetric, _ detail: (String, String)? = nil) {
            target(of: call).count(metric, detail)
        }
        switch event {
        case .relogin: count(.relogins)
        case .retry(_, let error): count(.retries, ("error.type", error.conventionalType))
        case .retryRefused(let error): count(.refusedRetries, ("error.type", error.conventionalType))
        case .failover(_, let error): count(.failovers, ("error.type", error.conventionalType))
        case .hedged: count(.hedges)
        case .cached(.joined, _): count(.joinedRequests)
        case .cached(let use, _): count(.cachedResponses, ("rxnetworking.cache.use", use.rawValue))
        case .admitted(let wait): target(of: call).wait(wait, in: .limits)
        case .started, .sent, .transfer, .broken, .abandoned, .queued, .webSocket, .ended: break
        }
    }

    func exchange(
        _ request: inout Request, to destination: ExchangeDestination, of call: RecordedCall
    ) -> any ExchangeRecord {
        ExchangeMetrics(target(request.method, call.pathTemplate, at: destination), of: call)
    }

    /// The metrics for what happens between exchanges, which belongs to the server of the call.
    private func target(of call: RecordedCall) -> MetricsTarget {
        target(
            MetricsTarget.Key(
                method: call.request.method, origin: Origin(call.request.url),
                path: call.pathTemplate, basePath: call.basePath))
    }
}

/// Records one exchange.
final class ExchangeMetrics: ExchangeRecord, @unchecked Sendable {
    // Unchecked, without exclusivity checks: called only inside the call's lane, which is serial.
    private let target: MetricsTarget
    private let call: RecordedCall
    private let start: Duration
    @safe @exclusivity(unchecked) private var status: Int?
    @safe @exclusivity(unchecked) private var isRecorded = false

    init(_ target: MetricsTarget, of call: RecordedCall) {
        self.target = target
        self.call = call
        start = call.scheduler.now
        target.active.increment(by: 1)
    }

    func receive(_ event: TransferEvent) {
        switch event {
        case .head(let head): status = head.status.code
        case .finished(let metrics): record(metrics, nil)
        default: break
        }
    }

    /// The bytes after the head are of another protocol.
    func recordUpgrade() { record(nil, nil) }

    func end(_ error: NetworkError?) {
        // `ExchangeSpan` of RxTracing derives the type of the error by the same rules; change both.
        record(nil, error?.conventionalType ?? (call.mayBeLeft(after: status) ? nil : "cancelled"))
    }

    private func record(_ metrics: TransferMetrics?, _ error: String?) {
        guard !isRecorded else { return }
        isRecorded = true
        target.active.decrement(by: 1)
        let failedStatus = status.flatMap { $0 >= 400 ? "\($0)" : nil }
        let results = target.results(
            of: .init(status: status, version: metrics?.httpVersion, error: error ?? failedStatus))
        results.duration.recordNanoseconds((call.scheduler.now - start).nanoseconds)
        guard let metrics else { return }
        results.requestSize.record(Int64(metrics.bodyBytesSent))
        results.responseSize.record(Int64(metrics.bodyBytesReceived))
        if metrics.queued > .zero { target.wait(metrics.queued, in: .connection) }
    }
}
#endif
