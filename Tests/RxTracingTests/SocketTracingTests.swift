#if Tracing
import InMemoryTracing
import RxNetworking
import RxTracing
import TestServers
import TestTracing
import Testing
import Tracing

/// The spans of real exchanges.
@Suite(.timeLimit(.minutes(1))) struct SocketTracingTests {
    @Test func theStepsOfANewConnectionAreEvents() async throws {
        let server = try NginxServer()
        defer { server.stop() }
        let loop = EventLoop(name: "tracing")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.tls.caBundlePath = server.certificatePath
        let client = Client(
            baseURL: "https://localhost:\(server.tlsPort)",
            transport: CurlTransport(loop: loop, configuration: configuration))
        let tracer = InMemoryTracer()
        client.traceCalls(with: tracer)
        for _ in 0..<2 { _ = try await client.get("/json").value() }
        let exchanges = tracer.finishedSpans.filter { $0.kind == .client }
        #expect(
            exchanges.map { $0.events.map(\.name) }
                == [["dns", "connect", "tls", "first byte"], ["first byte"]])
        let times = exchanges[0].events.map(\.nanosecondsSinceEpoch)
        #expect(times == times.sorted())
    }

    @Test func theServerReceivesTheContextOfTheExchange() async throws {
        let server = try RawServer { _ in [.respond(200, body: "[]")] }
        let loop = EventLoop(name: "tracing")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let client = Client(
            baseURL: server.baseURL, transport: CurlTransport(loop: loop, configuration: configuration))
        let tracer = W3CTracer()
        client.traceCalls(with: tracer)
        let outer = tracer.startSpan("outer")
        try await ServiceContext.withValue(outer.context) {
            for _ in 0..<2 { _ = try await client.get("/goods", query: ["token": "s7"]).value() }
        }
        let exchanges = tracer.memory.finishedSpans.filter { $0.kind == .client }
        let calls = tracer.memory.finishedSpans.filter { $0.kind == .internal }
        #expect(calls.map(\.parentSpanID) == [outer.spanID, outer.spanID])
        #expect(exchanges.map(\.parentSpanID) == calls.map(\.spanID))
        #expect(
            server.record.requests.map { $0.field("traceparent") }
                == exchanges.map { "00-\(outer.traceID)-\($0.spanID)-01" })
        #expect(exchanges.map { $0["network.protocol.version"] } == ["1.1", "1.1"])
        #expect(exchanges.map { $0["network.peer.address"] } == ["127.0.0.1", "127.0.0.1"])
        #expect(exchanges.map { $0["network.peer.port"] } == ["\(server.port)", "\(server.port)"])
        #expect(exchanges[0].events.map(\.name).contains("connect"))
        #expect(exchanges[1].events.map(\.name) == ["first byte"])
        for span in exchanges {
            #expect(span.startInstant.nanosecondsSinceEpoch <= span.events[0].nanosecondsSinceEpoch)
            #expect(span.milliseconds < 60_000)
        }
    }
}
#endif
