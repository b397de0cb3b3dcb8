#if Tracing && Metrics
import InMemoryTracing
import MetricsTestKit
import RxMetrics
import RxNetworking
import RxTracing
import TestServers
import TestTracing
import Testing
import Tracing

/// Traces and metrics, against OpenTelemetry's own implementation of its protocols and list of its conventions.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct TracingTests {
    private struct Context: Decodable, Sendable {
        let traceID: String
        let spanID: String
        let isSampled: Bool
        let state: String
        let baggage: [String: String]
    }

    private struct Collected: Decodable, Sendable {
        let name: String
        let kind: String
        let spanID: String
        let parentID: String
        let attributes: [String: String]
        let events: [String]
        let isFailed: Bool
        let nanoseconds: Int
    }

    private struct Conventions: Decodable, Sendable {
        let attributes: Set<String>
        let metrics: Set<String>
    }

    /// A server continues the trace of the exchange.
    @Test func propagation() async throws {
        let service = try await Service.collector()
        let tracer = W3CTracer()
        let client = Client(baseURL: service.baseURL)
        client.traceCalls(with: tracer)
        let context = try await client.get("/goods").decode(Context.self).value()
        let exchange = try #require(tracer.memory.finishedSpans.first { $0.kind == .client })
        #expect(context.traceID == exchange.traceID)
        #expect(context.spanID == exchange.spanID)
        #expect(context.isSampled)
        #expect(context.state == "vendor=1")
        #expect(context.baggage == ["customer": "ada"])
    }

    /// A collector takes the spans, whose attributes are those of the conventions.
    @Test func collector() async throws {
        let service = try await Service.collector()
        let tracer = W3CTracer()
        let client = Client(baseURL: service.baseURL)
        client.traceCalls(with: tracer)
        _ = try await client.get("/goods", query: ["page": 1]).value()
        let missing = await #expect(throws: NetworkError.self) {
            _ = try await client.get("/missing/{id}", at: ["id": 7]).value()
        }
        #expect(missing?.status == .notFound)
        let spans = tracer.memory.finishedSpans
        let backend = Client(baseURL: service.baseURL)
        _ = try await backend.post("/v1/traces", .json(OTLPTrace(spans))).value()
        let collected = try await backend.get("/spans").decode([Collected].self).value()
        #expect(collected.map(\.spanID) == spans.map(\.spanID))
        #expect(
            collected.map(\.name)
                == ["GET /goods", "GET /goods", "GET /missing/{id}", "GET /missing/{id}"])
        #expect(Set(collected.map(\.kind)) == ["SPAN_KIND_CLIENT", "SPAN_KIND_INTERNAL"])
        let calls = collected.filter { $0.kind == "SPAN_KIND_INTERNAL" }
        let exchanges = collected.filter { $0.kind == "SPAN_KIND_CLIENT" }
        #expect(calls.map(\.parentID) == ["", ""])
        #expect(exchanges.map(\.parentID) == calls.map(\.spanID))
        #expect(exchanges.map(\.isFailed) == [false, true])
        #expect(exchanges.allSatisfy { $0.events.contains("first byte") && $0.nanoseconds > 0 })
        let conventions = try await backend.get("/conventions").decode(Conventions.self).value()
        for span in exchanges {
            #expect(span.attributes["http.request.method"] == "GET")
            #expect(span.attributes["server.port"] == "\(service.port)")
            #expect(Set(span.attributes.keys).isSubset(of: conventions.attributes))
        }
        #expect(exchanges.last?.attributes["http.response.status_code"] == "404")
        #expect(exchanges.last?.attributes["error.type"] == "404")
    }

    /// The metrics are those of the conventions, and ours beside them.
    @Test func metrics() async throws {
        let service = try await Service.collector()
        let metrics = TestMetrics()
        let client = Client(baseURL: service.baseURL)
        client.recordMetrics(in: metrics)
        let conventions = try await client.get("/conventions").decode(Conventions.self).value()
        let duration = try #require(
            metrics.timers(label: ClientMetric.requestDuration.rawValue).first)
        #expect(Set(duration.dimensions.map(\.0)).isSubset(of: conventions.attributes))
        let names = Set(ClientMetric.allCases.map(\.rawValue))
        let ours = names.filter { $0.hasPrefix("rxnetworking.") }
        #expect(names.subtracting(ours) == conventions.metrics.filter { $0.hasPrefix("http.client.") })
    }
}
#endif
