#if Tracing
package import InMemoryTracing
import Synchronization
package import Tracing

/// Sends the context as the recommendations of the W3C say (https://www.w3.org/TR/trace-context,
/// https://www.w3.org/TR/baggage), as tracers of programs do.
package struct W3CTracer: Tracer {
    package typealias Span = InMemorySpan

    /// Keeps the spans.
    package let memory: InMemoryTracer

    package init() {
        let count = Counter()
        memory = InMemoryTracer(
            idGenerator: .init(
                nextTraceID: { hex(count.next(), digits: 32) },
                nextSpanID: { hex(count.next(), digits: 16) }))
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function,
            file: fileID, line: line)
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
        injector.inject("vendor=1", forKey: "tracestate", into: &carrier)
        injector.inject("customer=ada", forKey: "baggage", into: &carrier)
        injector.inject("line\r\nbreak", forKey: "x-broken", into: &carrier)
        injector.inject("value", forKey: "not a name", into: &carrier)
    }

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    package func forceFlush() {}

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }
}

private func hex(_ number: Int, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
}
#endif
