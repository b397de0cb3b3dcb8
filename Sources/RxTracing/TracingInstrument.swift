#if Tracing
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import Synchronization
import Tracing

/// Traces the calls of one client.
final class TracingInstrument: CallInstrument {
    let tracer: any Tracer
    /// Adds the context to requests.
    let sender: any Instrument
    /// The calendar of the calls, if they run in virtual time.
    private let calendar: (any DatedScheduler)?

    private struct Known {
        var plans: [SpanPlan.Key: SpanPlan] = [:]
        /// The plan that was looked up last.
        var latest: SpanPlan?
    }

    private let known = Mutex(Known())
    /// The number of plans that are kept. Paths that an app writes with values in them may be any number.
    private static let planLimit = 500

    var watchesCalls: Bool { true }

    init(_ tracer: any Tracer, sending sender: any Instrument, on scheduler: any Scheduler) {
        self.tracer = tracer
        self.sender = sender
        calendar = scheduler as? any DatedScheduler
    }

    func stop() {}

    func record(of call: RecordedCall) -> any CallRecord {
        CallSpan(of: call, by: plan(of: call, below: call.basePath), self)
    }

    /// The plan of spans of the call at a server with this base path; `nil` for a server to which the path does not
    /// belong. A lookup of the same plan as before compares without
    /// hashing.
    func plan(of call: RecordedCall, below basePath: String?) -> SpanPlan {
        let key = SpanPlan.Key(
            kind: call.kind, method: call.request.method,
            path: basePath == nil ? nil : call.pathTemplate, basePath: basePath ?? "")
        return known.withLock { known in
            if let latest = known.latest, latest.key == key { return latest }
            let plan = known.plans[key] ?? SpanPlan(key)
            if known.plans.count < Self.planLimit { known.plans[key] = plan }
            known.latest = plan
            return plan
        }
    }

    /// The current time of spans.
    var now: DefaultTracerClock.Timestamp {
        guard let calendar else { return DefaultTracerClock.now }
        return .init(
            nanosecondsSinceEpoch: UInt64(max(0, calendar.date.timeIntervalSince1970 * 1e9)))
    }

    func start(
        _ name: String, _ kind: SpanKind, in context: ServiceContext,
        at instant: DefaultTracerClock.Timestamp
    ) -> any Span {
        tracer.startSpan(name, context: context, ofKind: kind, at: instant)
    }
}

extension DefaultTracerClock.Timestamp {
    /// The time `interval` later.
    func advanced(by interval: Duration) -> Self {
        let nanoseconds = max(0, interval / .nanoseconds(1))
        return Self(nanosecondsSinceEpoch: nanosecondsSinceEpoch + UInt64(min(nanoseconds, 1e18)))
    }
}

extension Span {
    /// Adds attributes to those that the tracer has set.
    func add(_ attributes: [String: SpanAttribute]) {
        var all = self.attributes
        if all.isEmpty { all = SpanAttributes(attributes) } else { all.merge(SpanAttributes(attributes)) }
        self.attributes = all
    }

    /// Marks the span as failed. The error is recorded without text of the server.
    func fail(_ error: NetworkError, at instant: DefaultTracerClock.Timestamp) {
        recordError(error.withoutServerText, attributes: [:], at: instant)
        setStatus(SpanStatus(code: .error))
    }
}
#endif
