#if Metrics
import CoreMetrics
import HTTPTypes
import RxClient
import RxHTTP
import Synchronization

/// The metrics of all requests with the same method, origin and path template, made as they are needed.
final class MetricsTarget: Sendable {
    /// The attributes.
    struct Key: Hashable, Sendable {
        var method: HTTPRequest.Method
        var origin: Origin?
        /// The endpoint's path, or the value of `url.template`; `nil` for none, or if there are too many.
        var path: String?
        /// The path of the base URL, if `path` is not yet a whole template.
        var basePath = ""

        var dimensions: [(String, String)] {
            var dimensions = [("http.request.method", method.isConventional ? method.rawValue : "_OTHER")]
            if let origin { dimensions += origin.dimensions }
            if let path { dimensions.append(("url.template", path)) }
            return dimensions
        }
    }

    /// How exchanges ended.
    struct Outcome: Equatable, Sendable {
        var status: Int?
        var version: HTTPVersion?
        var error: String?
    }

    /// The metrics of exchanges with the same outcome.
    final class Results: Sendable {
        let outcome: Outcome
        let duration: any TimerHandler
        let requestSize: any RecorderHandler
        let responseSize: any RecorderHandler

        init(
            _ outcome: Outcome, _ dimensions: [(String, String)], _ factory: any MetricsFactory
        ) {
            self.outcome = outcome
            duration = factory.makeTimer(
                label: ClientMetric.requestDuration.rawValue, dimensions: dimensions)
            duration.preferDisplayUnit(.seconds)
            requestSize = factory.makeRecorder(
                label: ClientMetric.requestBodySize.rawValue, dimensions: dimensions, aggregate: true)
            responseSize = factory.makeRecorder(
                label: ClientMetric.responseBodySize.rawValue, dimensions: dimensions, aggregate: true)
        }
    }

    /// The handlers made so far, kept for later calls.
    private struct Made {
        /// Few: a target has few outcomes.
        var results: [Results] = []
        var counters: [CounterKey: any CounterHandler] = [:]
        /// At most one for each queue.
        var timers: [(queue: Queue, timer: any TimerHandler)] = []
    }

    /// The reason for which a request waits. The names of the cases are the values of the attribute
    /// `rxnetworking.queue`.
    enum Queue: String, Sendable {
        /// A place within the client's limits.
        case limits
        case connection
    }

    private struct CounterKey: Hashable {
        let metric: ClientMetric
        let detail: String?
    }

    let key: Key
    let active: any MeterHandler
    private let factory: any MetricsFactory
    private let made = Mutex(Made())
    /// The circuit breaker of the origin, if there is one.
    private let breaker = Mutex<CircuitBreaker?>(nil)

    init(_ key: Key, _ factory: any MetricsFactory) {
        self.key = key
        self.factory = factory
        active = factory.makeMeter(
            label: ClientMetric.activeRequests.rawValue, dimensions: key.dimensions)
    }

    /// Keeps the circuit breaker of the origin; false if it is the one that is kept.
    func keepIfNew(_ new: CircuitBreaker) -> Bool {
        breaker.withLock { kept in
            guard kept !== new else { return false }
            kept = new
            return true
        }
    }

    func results(of outcome: Outcome) -> Results {
        made.withLock { made in
            if let found = made.results.first(where: { $0.outcome == outcome }) { return found }
            let results = Results(outcome, key.dimensions + outcome.dimensions, factory)
            made.results.append(results)
            return results
        }
    }

    /// Adds one to a counter.
    ///
    /// - Parameter detail: the value of the attribute that distinguishes the counters of this metric.
    func count(_ metric: ClientMetric, _ detail: (name: String, value: String)? = nil) {
        let counter = made.withLock { made in
            let counterKey = CounterKey(metric: metric, detail: detail?.value)
            if let found = made.counters[counterKey] { return found }
            let counter = factory.makeCounter(
                label: metric.rawValue, dimensions: key.dimensions + (detail.map { [$0] } ?? []))
            made.counters[counterKey] = counter
            return counter
        }
        counter.increment(by: 1)
    }

    /// Records the time that a request waited.
    func wait(_ duration: Duration, in queue: Queue) {
        let timer = made.withLock { made in
            if let found = made.timers.first(where: { $0.queue == queue }) { return found.timer }
            let timer = factory.makeTimer(
                label: ClientMetric.queueDuration.rawValue,
                dimensions: key.dimensions + [("rxnetworking.queue", queue.rawValue)])
            timer.preferDisplayUnit(.seconds)
            made.timers.append((queue, timer))
            return timer
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }
}

extension MetricsTarget.Outcome {
    fileprivate var dimensions: [(String, String)] {
        var dimensions: [(String, String)] = []
        if let status { dimensions.append(("http.response.status_code", "\(status)")) }
        if let version { dimensions.append(("network.protocol.version", version.conventionalNumber)) }
        if let error { dimensions.append(("error.type", error)) }
        return dimensions
    }
}

extension Duration {
    /// The whole nanoseconds, within the range of the type.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLarge else { return seconds < 0 ? .min : .max }
        let (sum, overflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows ? .max : sum
    }
}
#endif
