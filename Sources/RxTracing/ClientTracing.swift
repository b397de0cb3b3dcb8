#if Tracing
import FoundationEssentials
import HTTPTypes
public import RxClient
import RxHTTP
public import RxLite
import Synchronization
public import Tracing

extension Client {
    /// Traces the calls that begin from now on, until the subscription is cancelled or the client is released.
    ///
    /// ```swift
    /// client.traceCalls()
    /// ```
    ///
    /// A call is one span, whose parent is the context of the task that subscribes (`ServiceContext.current`), on
    /// whatever loop the call runs, and however many requests it takes: attempts, logins, redirects. Each page of a
    /// list and each connection of an event source is a call. Each exchange is a child of it, of the kind `client`,
    /// with the names and attributes of OpenTelemetry's [conventions for HTTP client
    /// spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span). The tracer adds its
    /// fields, such as `traceparent`, to each request.
    ///
    /// No attribute is secret: URLs have neither user info nor query, and errors no text of the server. Baggage is not
    /// sent to another origin than that of the service.
    ///
    /// - Parameter tracer: makes the spans and sends their context. Default `nil`: the current tracer and instrument of
    ///   the task or of the program.
    @discardableResult
    public func traceCalls(with tracer: (any Tracer)? = nil) -> Subscription {
        ContextBox.capture()
        return attach(
            TracingInstrument(
                tracer ?? InstrumentationSystem.tracer,
                sending: tracer ?? InstrumentationSystem.instrument,
                on: transport.scheduler))
    }
}

/// Traces the calls of one client.
final class TracingInstrument: CallInstrument {
    let tracer: any Tracer
    /// Adds the context to requests.
    let sender: any Instrument
    /// The calendar of the calls, if they run in virtual time.
    private let calendar: (any DatedScheduler)?

    /// What has been made so far, kept for later calls.
    private struct Known {
        var plans: [SpanPlan.Key: SpanPlan] = [:]
        /// The plan that was looked up last.
        var latest: SpanPlan?
    }

    private let known = Mutex(Known())
    /// The number of plans that are kept. Paths that an app writes with values in them may be any number.
    private static let planLimit = 500

    /// ``CallSpan/begin(_:in:)`` and ``CallSpan/end(_:_:)`` must be called.
    var watchesCalls: Bool { true }

    init(_ tracer: any Tracer, sending sender: any Instrument, on scheduler: any Scheduler) {
        self.tracer = tracer
        self.sender = sender
        calendar = scheduler as? any DatedScheduler
    }

    func stop() {}

    func record(of call: RecordedCall) -> any CallRecord {
        CallSpan(by: plan(of: call, below: call.basePath), self)
    }

    /// The plan of spans of the call at a server. A lookup of the same plan as before compares without hashing.
    ///
    /// - Parameter basePath: the base path of the server; `nil` for a server to which the path does not belong.
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

/// Writes the context of a span into the header fields of a request.
struct FieldInjector: Injector {
    /// Whether the field `baggage` is written (https://www.w3.org/TR/baggage/#security-considerations).
    let sendsBaggage: Bool

    /// Replaces the field. A name or value that no field can have is not written.
    func inject(_ value: String, forKey key: String, into request: inout Request) {
        // Making a name checks each of its bytes.
        let known = key == "traceparent" ? Self.traceparent : HTTPField.Name(key)
        guard let name = known else { return }
        if !sendsBaggage, name.canonicalName == "baggage" { return }
        // Making a field changes a value that no field can have.
        let field = HTTPField(name: name, value: value)
        guard field.value == value else { return }
        if request.headerFields.contains(name) {
            request.headerFields[name] = value
        } else {
            request.headerFields.append(field)
        }
    }

    private static let traceparent = HTTPField.Name("traceparent")
}

/// The service context of a subscription.
final class ContextBox: Sendable {
    let context: ServiceContext

    private init(_ context: ServiceContext) { self.context = context }

    /// Keeps the service context of each subscription from now on.
    static func capture() {
        Lane.captureContext { ServiceContext.current.map { ContextBox($0) } }
    }

    /// The context of the subscription of a lane.
    static func context(in lane: Lane) -> ServiceContext {
        (lane.context as? ContextBox)?.context ?? .topLevel
    }
}
#else
public import RxClient

extension Client {
    /// Not available without the package's trait `Tracing`.
    @available(*, unavailable, message: "RxTracing needs the trait Tracing of the package RxNetworking")
    public func traceCalls() {
        // The compiler refuses every call.
        fatalError("unavailable")
    }
}
#endif
