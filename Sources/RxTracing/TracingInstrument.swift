#if Tracing
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import Tracing

/// Traces the calls of one client.
final class TracingInstrument: CallInstrument {
    let tracer: any Tracer
    /// Adds the context to requests.
    let sender: any Instrument
    /// The calendar of the calls, if they run in virtual time.
    private let calendar: (any DatedScheduler)?

    var watchesCalls: Bool { true }

    init(_ tracer: any Tracer, sending sender: any Instrument, on scheduler: any Scheduler) {
        self.tracer = tracer
        self.sender = sender
        calendar = scheduler as? any DatedScheduler
    }

    func record(of call: RecordedCall) -> any CallRecord { CallSpan(of: call, self) }

    /// The current time of spans.
    var now: DefaultTracerClock.Timestamp {
        guard let calendar else { return DefaultTracerClock.now }
        return .init(
            nanosecondsSinceEpoch: UInt64(max(0, calendar.date.timeIntervalSince1970 * 1e9)))
    }

    func start(_ name: String, _ kind: SpanKind, in context: ServiceContext) -> any Span {
        let instant = now
        return tracer.startSpan(name, context: context, ofKind: kind, at: instant)
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
    /// Marks the span as failed. The error is recorded without text of the server.
    func fail(_ error: NetworkError, at instant: DefaultTracerClock.Timestamp) {
        recordError(error.withoutServerText, attributes: [:], at: instant)
        setStatus(SpanStatus(code: .error))
    }
}
#endif
