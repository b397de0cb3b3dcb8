#if Metrics
import CoreMetrics
import MetricsTestKit
import RxMetrics
import RxNetworking
import TestServers
import Testing

/// The metrics of real exchanges and connections.
@Suite(.timeLimit(.minutes(1))) struct SocketMetricsTests {
    @Test func exchangesAndTheirConnectionAreRecorded() async throws {
        let server = try RawServer { _ in [.respond(200, body: "[1, 2]")] }
        let metrics = TestMetrics()
        let loop = EventLoop(name: "metrics")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let client = Client(baseURL: server.baseURL, transport: transport)
        client.recordMetrics(in: metrics)
        for _ in 0..<2 { _ = try await client.get("/goods").value() }
        let place = [
            ("server.address", "127.0.0.1"), ("server.port", "\(server.port)"), ("url.scheme", "http"),
        ]
        let outcome =
            place + [
                ("http.request.method", "GET"), ("url.template", "/goods"),
                ("http.response.status_code", "200"), ("network.protocol.version", "1.1"),
            ]
        let duration = try metrics.expectTimer("http.client.request.duration", outcome)
        #expect(duration.values.count == 2)
        #expect(duration.values.allSatisfy { $0 > 0 })
        #expect(
            try metrics.expectRecorder("http.client.response.body.size", outcome).values == [6, 6])
        #expect(
            try metrics.expectRecorder("http.client.request.body.size", outcome).values == [0, 0])
        transport.shutDown()
        while metrics.timers(label: "http.client.connection.duration").first?.values.isEmpty != false {
            await Task.yield()
        }
        let peer = place + [("network.peer.address", "127.0.0.1")]
        #expect(
            try metrics.expectMeter(
                "http.client.open_connections", peer + [("http.connection.state", "active")]
            ).values == [1, 0, 1, 0])
        #expect(
            try metrics.expectMeter(
                "http.client.open_connections", peer + [("http.connection.state", "idle")]
            ).values == [1, 0, 1, 0])
    }

    @Test func connectionsDoNotCountAfterTheRecording() async throws {
        let server = try RawServer { _ in [.respond(200, body: "[1, 2]")] }
        let metrics = TestMetrics()
        let loop = EventLoop(name: "metrics")
        defer { loop.shutDown() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let client = Client(baseURL: server.baseURL, transport: transport)
        let recording = client.recordMetrics(in: metrics)
        _ = try await client.get("/goods").value()
        let meters = { metrics.meters.filter { $0.label == "http.client.open_connections" } }
        while meters().map({ $0.values.last ?? 0 }).sorted() != [0, 1] { await Task.yield() }
        recording.cancel()
        while meters().map({ $0.values.last ?? 0 }) != [0, 0] { await Task.yield() }
        transport.shutDown()
    }
}
#endif
