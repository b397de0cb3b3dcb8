import Synchronization
import Tracing

/// A tracer that does what each has to do at least: it makes a span with an identifier, keeps what is set, sends the
/// context, and drops the span at its end.
struct CountingTracer: Tracer {
    private static let latest = Atomic<UInt64>(0)

    private enum SpanKey: ServiceContextKey {
        typealias Value = UInt64
    }

    final class Span: Tracing.Span {
        private struct Contents {
            var name: String
            var attributes = SpanAttributes()
            var events: [SpanEvent] = []
        }

        let context: ServiceContext
        private let contents: Mutex<Contents>

        init(_ name: String, _ context: ServiceContext) {
            self.context = context
            contents = Mutex(Contents(name: name))
        }

        var isRecording: Bool { true }
        var operationName: String {
            get { contents.withLock { $0.name } }
            set { contents.withLock { $0.name = newValue } }
        }
        var attributes: SpanAttributes {
            get { contents.withLock { $0.attributes } }
            set { contents.withLock { $0.attributes = newValue } }
        }

        func setStatus(_ status: SpanStatus) {}
        func addEvent(_ event: SpanEvent) { contents.withLock { $0.events.append(event) } }
        func recordError<Instant: TracerInstant>(
            _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
        ) {}
        func addLink(_ link: SpanLink) {}
        func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { _ = instant() }
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> Span {
        var context = context()
        context[SpanKey.self] = Self.latest.add(1, ordering: .relaxed).newValue
        _ = instant()
        return Span(operationName, context)
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        // Different for each span, as it is in programs.
        let span = String((context[SpanKey.self] ?? 0) | 1 << 63, radix: 16)
        injector.inject("00-0af7651916cd43dd\(span)-\(span)-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func forceFlush() {}
}
