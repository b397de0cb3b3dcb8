#if Tracing
import InMemoryTracing
import RxNetworking
import Tracing

/// Spans as OpenTelemetry's protocol writes them in JSON (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).
struct OTLPTrace: Encodable, Sendable {
    private struct Resource: Encodable {
        let scopeSpans: [Scope]
    }

    private struct Scope: Encodable {
        let spans: [Span]
    }

    private struct Span: Encodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let kind: String
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let events: [Event]
        let status: Status
    }

    private struct Event: Encodable {
        let timeUnixNano: String
        let name: String
        let attributes: [Attribute]
    }

    private struct Status: Encodable {
        let code: String
    }

    private struct Attribute: Encodable {
        let key: String
        let value: Value

        init(_ key: String, _ attribute: SpanAttribute) {
            self.key = key
            switch attribute {
            case .string(let text): value = Value(stringValue: text)
            case .int64(let number): value = Value(intValue: "\(number)")
            case .double(let number): value = Value(doubleValue: number)
            case .bool(let bool): value = Value(boolValue: bool)
            default: value = Value(stringValue: "\(attribute)")
            }
        }
    }

    private struct Value: Encodable {
        var stringValue: String?
        var intValue: String?
        var doubleValue: Double?
        var boolValue: Bool?
    }

    private let resourceSpans: [Resource]

    init(_ spans: [FinishedInMemorySpan]) {
        let spans = spans.map { span in
            Span(
                traceId: span.traceID, spanId: span.spanID, parentSpanId: span.parentSpanID,
                name: span.operationName,
                kind: span.kind == .client ? "SPAN_KIND_CLIENT" : "SPAN_KIND_INTERNAL",
                startTimeUnixNano: "\(span.startInstant.nanosecondsSinceEpoch)",
                endTimeUnixNano: "\(span.endInstant.nanosecondsSinceEpoch)",
                attributes: Self.attributes(span.attributes),
                events: span.events.map { event in
                    Event(
                        timeUnixNano: "\(event.nanosecondsSinceEpoch)", name: event.name,
                        attributes: Self.attributes(event.attributes))
                },
                status: Status(
                    code: span.status?.code == .error ? "STATUS_CODE_ERROR" : "STATUS_CODE_UNSET"))
        }
        resourceSpans = [Resource(scopeSpans: [Scope(spans: spans)])]
    }

    private static func attributes(_ attributes: SpanAttributes) -> [Attribute] {
        var list: [Attribute] = []
        attributes.forEach { list.append(Attribute($0, $1)) }
        return list
    }
}
#endif
