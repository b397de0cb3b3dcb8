#if Tracing
import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import RxClient
import RxHTTP
import RxLite
import RxTesting
import RxTracing
import TestTracing
import Testing
import Tracing

/// The context in the requests.
@Suite struct PropagationTests {
    private let clock = VirtualScheduler()
    private let tracer = W3CTracer()

    private func client(_ rules: [ScriptedTransport.Rule]) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, rules)
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
        client.traceCalls(with: tracer)
        return (client, transport)
    }

    private func field(_ name: String, of request: Request?) -> String? {
        HTTPField.Name(name).flatMap { request?.headerFields[$0] }
    }

    @Test func eachExchangeSendsItsOwnSpan() throws {
        let (client, transport) = client([
            .when(.get, "/old", .status(.found, headers: [.location: "/new"])),
            .when(.get, "/new", .json("[]")),
        ])
        _ = Recorder(client.get("/old", headers: ["traceparent": "mine"]), on: clock)
        try clock.run()
        let spans = tracer.memory.finishedSpans.filter { $0.kind == .client }
        #expect(spans.count == 2)
        #expect(
            transport.requests.map { field("traceparent", of: $0) }
                == spans.map { "00-\($0.traceID)-\($0.spanID)-01" })
        #expect(transport.requests.map { field("tracestate", of: $0) } == ["vendor=1", "vendor=1"])
        #expect(transport.requests.map { field("baggage", of: $0) } == ["customer=ada", "customer=ada"])
    }

    @Test func whatNoFieldCanHoldIsNotSent() throws {
        let (client, transport) = client([.when(.get, "/goods", .json("[]"))])
        let answer = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(answer.values.count == 1)
        #expect(field("x-broken", of: transport.requests.first) == nil)
    }

    @Test func anotherOriginGetsNoBaggage() throws {
        let (client, transport) = client([
            .when(.get, "/old", .status(.found, headers: [.location: "https://other.test/new"])),
            .when(.get, "https://other.test/new", .json("[]")),
        ])
        _ = Recorder(client.get("/old"), on: clock)
        try clock.run()
        #expect(transport.requests.map { field("baggage", of: $0) } == ["customer=ada", nil])
        #expect(field("traceparent", of: transport.requests.last) != nil)
    }
}
#endif
