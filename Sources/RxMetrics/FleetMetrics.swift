#if Metrics && Fleet
public import CoreMetrics
import RxClient
public import RxFleet
public import RxLite

extension Fleet {
    /// Records the metrics of the fleet, as this process sees it, until the subscription is cancelled. Their names
    /// begin with `rxnetworking.fleet`; the page [Metrics](<doc:Metrics>) has a table of them.
    ///
    /// ```swift
    /// fleet.recordMetrics()
    /// ```
    ///
    /// - Parameter factory: makes the metrics. Default: the current factory of the task or of the program.
    @discardableResult
    public func recordMetrics(in factory: any MetricsFactory = MetricsSystem.factory) -> Subscription {
        let counts = members.observable.map { FleetNews.members($0.count) }
        return Observable.merge(counts, events.map { FleetNews.event($0) })
            .subscribe(onNext: { news in
                switch news {
                case .members(let count):
                    Meter(label: FleetMetric.members.rawValue, dimensions: [], factory: factory).set(count)
                case .event(let event): event.record(in: factory)
                }
            })
    }
}

/// The metrics of a fleet, by the names under which a factory of swift-metrics gets them. Dashboards and the page
/// `Metrics.md` have the names.
package enum FleetMetric: String, Sendable, Hashable, CaseIterable {
    /// The number of processes alive, as last known to this one, a `Meter`.
    case members = "rxnetworking.fleet.members"
    /// Whether this process works without the store, a `Meter`: 1 or 0.
    case degraded = "rxnetworking.fleet.degraded"
    /// The number of credentials that this process has renewed and saved, a `Counter`.
    case renewals = "rxnetworking.fleet.login.renewals"
    /// The number of credentials that this process has received from others, a `Counter`.
    case receivedCredentials = "rxnetworking.fleet.login.received"
    /// The number of renewals whose response was lost, each of which is followed by a login, a `Counter`.
    case lostRenewals = "rxnetworking.fleet.login.lost"
    /// The number of credentials that this process could not save because another one was newer, a `Counter`.
    case supersededCredentials = "rxnetworking.fleet.login.superseded"
    /// The number of logouts by other processes, a `Counter`.
    case logouts = "rxnetworking.fleet.login.logouts"
    /// The number of times that a limit was closed by a response to any process, a `Counter`.
    case closures = "rxnetworking.fleet.limit.closures"
    /// The number of times that the circuit of a host was opened by any process, a `Counter`.
    case openings = "rxnetworking.fleet.circuit.openings"
    /// The number of removals of stored responses by other processes, a `Counter`.
    case invalidations = "rxnetworking.fleet.cache.invalidations"
}

private enum FleetNews: Sendable {
    case members(Int)
    case event(FleetEvent)
}

extension FleetEvent {
    fileprivate func record(in factory: any MetricsFactory) {
        func count(_ metric: FleetMetric) {
            Counter(label: metric.rawValue, dimensions: [], factory: factory).increment()
        }
        func setDegraded(_ isDegraded: Bool) {
            Meter(label: FleetMetric.degraded.rawValue, dimensions: [], factory: factory)
                .set(isDegraded ? 1 : 0)
        }
        switch self {
        case .login(.renewed): count(.renewals)
        case .login(.received): count(.receivedCredentials)
        case .login(.renewalLost): count(.lostRenewals)
        case .login(.superseded): count(.supersededCredentials)
        case .login(.loggedOut): count(.logouts)
        case .limit: count(.closures)
        case .circuit(_, let time): if time != nil { count(.openings) }
        case .invalidation: count(.invalidations)
        case .degraded: setDegraded(true)
        case .recovered: setDegraded(false)
        }
    }
}
#endif
