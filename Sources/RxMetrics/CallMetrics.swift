#if Metrics
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// Records one call.
final class CallMetrics: CallRecord {
    let call: RecordedCall
    private let instrument: MetricsInstrument

    init(_ call: RecordedCall, _ instrument: MetricsInstrument) {
        self.call = call
        self.instrument = instrument
    }

    func begin(in lane: Lane) {}
    func end(_ outcome: TrafficEvent.Summary.Outcome) {}

    func noteOutput() {
        if call.isPage { target.count(.pages) }
    }

    func take(_ event: TrafficEvent.Kind) {
        switch event {
        case .relogin: target.count(.relogins)
        case .retry(_, let error): target.count(.retries, ("error.type", error.conventionalType))
        case .retryRefused(let error):
            target.count(.refusedRetries, ("error.type", error.conventionalType))
        case .failover(_, let error): target.count(.failovers, ("error.type", error.conventionalType))
        case .hedged: target.count(.hedges)
        case .cached(.joined, _): target.count(.joinedRequests)
        case .cached(let use, _):
            target.count(.cachedResponses, ("rxnetworking.cache.use", use.rawValue))
        case .admitted(let wait): target.wait(wait, in: "limits")
        case .started, .sent, .transfer, .broken, .abandoned, .queued, .webSocket, .ended: break
        }
    }

    func exchange(
        _ request: inout Request, to destination: ExchangeDestination
    ) -> any ExchangeRecord {
        let key = MetricsTarget.Key(
            method: request.method, origin: destination.origin,
            path: destination.basePath == nil ? nil : call.pathTemplate,
            basePath: destination.basePath ?? "")
        return ExchangeMetrics(instrument.target(key, through: destination.breaker), in: self)
    }

    /// The metrics for what happens between exchanges, which belongs to the server of the call.
    private var target: MetricsTarget {
        instrument.target(
            MetricsTarget.Key(
                method: call.request.method, origin: Origin(call.request.url),
                path: call.pathTemplate, basePath: call.basePath))
    }
}
#endif
