#if Tracing
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization
import Tracing

/// The span of one call.
final class CallSpan: CallRecord, @unchecked Sendable {
    // Unchecked, without exclusivity checks: the span and its context are set once, by `begin`, before all else; the
    // rest is in a mutex, because the exchanges of a call that others wait for too go on after its end.
    let instrument: TracingInstrument
    private let plan: SpanPlan
    @safe @exclusivity(unchecked) private var span: (any Span)?
    @safe @exclusivity(unchecked) private var context = ServiceContext.topLevel

    private struct Progress {
        /// The number of exchanges so far.
        var exchanges = 0
        /// The status of the last response.
        var status: Int?
        var hasEnded = false
    }

    private let progress = Mutex(Progress())

    init(by plan: SpanPlan, _ instrument: TracingInstrument) {
        self.plan = plan
        self.instrument = instrument
    }

    func begin(_ call: RecordedCall, in lane: Lane) {
        let span = instrument.start(
            plan.name, .internal, in: ContextBox.context(in: lane), at: instrument.now)
        self.span = span
        context = span.context
    }

    /// Keeps the status of the last response.
    func record(_ status: Int?) { progress.withLock { $0.status = status } }

    func recordOutput(of call: RecordedCall) {}

    func receive(_ event: TrafficEvent.Kind, of call: RecordedCall) {
        guard let span, span.isRecording, !progress.withLock({ $0.hasEnded }) else { return }
        // The page `Tracing.md` lists the names of the events.
        switch event {
        case .relogin(let error): add("relogin", ["error.type": .string(error.conventionalType)])
        case .retry(let delay, let error):
            add(
                "retry",
                [
                    "error.type": .string(error.conventionalType),
                    "rxnetworking.delay": .double(delay / .seconds(1)),
                ])
        case .retryRefused(let error):
            add("retry refused", ["error.type": .string(error.conventionalType)])
        case .failover(let role, let error):
            add(
                "failover",
                [
                    "error.type": .string(error.conventionalType),
                    // By the name of the case.
                    "rxnetworking.server": .string("\(role)"),
                ])
        case .cached(let use, let head):
            if let head { record(head.status.code) }
            add("cache", ["rxnetworking.cache.use": .string(use.rawValue)])
        case .queued: add("queued")
        case .admitted(let wait): add("admitted", ["rxnetworking.delay": .double(wait / .seconds(1))])
        case .hedged(let delay): add("hedged", ["rxnetworking.delay": .double(delay / .seconds(1))])
        case .started, .sent, .transfer, .broken, .abandoned, .webSocket, .ended: break
        }
    }

    private func add(_ name: String, _ attributes: [String: SpanAttribute] = [:]) {
        let instant = instrument.now
        span?.addEvent(SpanEvent(name: name, at: instant, attributes: SpanAttributes(attributes)))
    }

    func exchange(
        _ request: inout Request, to destination: ExchangeDestination, of call: RecordedCall
    ) -> any ExchangeRecord {
        let begin = instrument.now
        let plan =
            destination.basePath == call.basePath
            ? self.plan : instrument.plan(of: call, below: destination.basePath)
        let span = instrument.start(plan.name, .client, in: context, at: begin)
        let resends = progress.withLock { progress in
            defer { progress.exchanges += 1 }
            return progress.exchanges
        }
        let exchange = ExchangeSpan(
            span, of: request, by: plan, to: destination, resends: resends, since: begin, of: call, in: self)
        // To another origin, the context says only which trace the request belongs to.
        let fields = FieldInjector(sendsBaggage: !request.isCredentialFree)
        instrument.sender.inject(span.context, into: &request, using: fields)
        return exchange
    }

    func end(_ call: RecordedCall, _ outcome: RequestOutcome) {
        guard let span else { return }
        let (status, hadEnded) = progress.withLock { progress in
            defer { progress.hasEnded = true }
            return (progress.status, progress.hasEnded)
        }
        guard !hadEnded else { return }
        let now = instrument.now
        if span.isRecording {
            var attributes = plan.callAttributes(status)
            switch outcome {
            case .succeeded: break
            case .cancelled where call.mayBeLeft(after: status): break
            case .failed(let error):
                attributes["error.type"] = .string(error.conventionalType)
                span.fail(error, at: now)
            case .cancelled:
                attributes["error.type"] = "cancelled"
                span.setStatus(SpanStatus(code: .error))
            }
            span.add(attributes)
        }
        span.end(at: now)
    }
}

/// The common part of the spans of all calls with the same kind, method and path, made once.
final class SpanPlan: Sendable {
    struct Key: Hashable, Sendable {
        let kind: CallKind
        let method: HTTPRequest.Method
        let path: String?
        let basePath: String
    }

    /// The values that determine the attributes of an exchange, apart from its URL, its errors and its number of
    /// attempts.
    struct Exchange: Equatable, Sendable {
        var origin: Origin?
        var status: Int?
        /// The metrics of a complete response.
        var version: HTTPVersion?
        var address: String?
        var port = 0
    }

    let key: Key
    /// Method and template.
    let name: String
    /// Whether the method may be the value of `http.request.method`.
    let isConventional: Bool
    /// The attributes that all spans have.
    private let common: [String: SpanAttribute]
    // The attributes of the last span, because those of most spans are equal.
    private let call: Mutex<(status: Int?, attributes: [String: SpanAttribute])>
    private let exchange: Mutex<(exchange: Exchange, url: String, attributes: [String: SpanAttribute])>

    init(_ key: Key) {
        self.key = key
        let template = key.path?.conventionalTemplate(below: key.basePath)
        isConventional = key.method.isConventional
        let method = isConventional ? key.method.rawValue : "HTTP"
        name = template.map { "\(method) \($0)" } ?? method
        var attributes: [String: SpanAttribute] = [:]
        // Copies keep the capacity.
        attributes.reserveCapacity(12)
        attributes["http.request.method"] = .string(isConventional ? key.method.rawValue : "_OTHER")
        if let template { attributes["url.template"] = .string(template) }
        common = attributes
        exchange = Mutex((Exchange(), "", attributes))
        // By the name of the case.
        attributes["rxnetworking.call.kind"] = .string("\(key.kind)")
        call = Mutex((nil, attributes))
    }

    /// The attributes of a call whose last response had this status; kept from the call before if the status is the
    /// same.
    func callAttributes(_ status: Int?) -> [String: SpanAttribute] {
        call.withLock { call in
            if call.status != status {
                call.status = status
                call.attributes["http.response.status_code"] = status.map { .int64(Int64($0)) }
            }
            return call.attributes
        }
    }

    /// The attributes of such exchanges, kept from the exchange before if nothing has changed.
    ///
    /// - Parameter url: the URL without secrets.
    func attributes(of wanted: Exchange, at url: String) -> [String: SpanAttribute] {
        exchange.withLock { last in
            if last.exchange == wanted {
                guard last.url != url else { return last.attributes }
                last.url = url
                last.attributes["url.full"] = .string(url)
            } else {
                var attributes = common
                attributes["url.full"] = .string(url)
                attributes["server.address"] = wanted.origin.map { .string($0.host) }
                attributes["server.port"] = wanted.origin.map { .int64(Int64($0.port)) }
                attributes["http.response.status_code"] = wanted.status.map { .int64(Int64($0)) }
                attributes["network.protocol.version"] = wanted.version.map {
                    .string($0.conventionalNumber)
                }
                if let address = wanted.address {
                    attributes["network.peer.address"] = .string(address)
                    attributes["network.peer.port"] = .int64(Int64(wanted.port))
                }
                last = (wanted, url, attributes)
            }
            return last.attributes
        }
    }
}
#endif
