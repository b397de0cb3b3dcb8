#if Metrics && Outbox
import CoreMetrics
import HTTPTypes
import MetricsTestKit
import RxClient
import RxHTTP
import RxLite
import RxMetrics
import RxOutbox
import RxParameters
import RxTesting
import Testing

/// The metrics of an outbox.
@Suite struct OutboxMetricsTests {
    private struct Order: OutboxEndpoint {
        static let outboxName = "order"
        typealias Output = Response
        var path: String { "/orders" }
        var method: HTTPRequest.Method { .post }
    }

    /// Entries, attempts, deliveries and deaths are recorded.
    @Test func life() throws {
        let clock = VirtualScheduler()
        let metrics = TestMetrics()
        let script = ScriptedTransport.Script([
            .status(.serviceUnavailable), .json("{}"), .status(.badRequest),
        ])
        let transport = ScriptedTransport(on: clock) { _ in script.next() }
        let client = Client(baseURL: "https://shop.test", transport: transport)
        let outbox = try Outbox(store: MemoryOutboxStore(), client: client, endpoints: [Order.self])
        let recording = outbox.recordMetrics(in: metrics)
        for _ in 0..<2 {
            outbox.enqueue(Order(), key: .withoutKey(.atLeastOnce), order: "a").subscribe()
        }
        try clock.advance(by: .seconds(60))

        let endpoint = [("rxnetworking.outbox.endpoint", "order")]
        #expect(try metrics.total(of: "rxnetworking.outbox.enqueued", endpoint) == 2)
        #expect(try metrics.total(of: "rxnetworking.outbox.attempts.failed", endpoint) == 1)
        #expect(try metrics.total(of: "rxnetworking.outbox.deaths", endpoint) == 1)
        let durations = try metrics.expectTimer("rxnetworking.outbox.delivery.duration", endpoint).values
        #expect(durations.count == 1 && durations[0] > 1_000_000_000)
        for (phase, count) in [("queued", 0), ("sending", 0), ("waiting", 0), ("dead", 1)] {
            let value = try metrics.value(
                of: "rxnetworking.outbox.entries", [("rxnetworking.outbox.phase", phase)])
            #expect(value == Double(count))
        }
        #expect(try metrics.value(of: "rxnetworking.outbox.sender") == 1)

        recording.cancel()
        outbox.enqueue(Order(), key: .withoutKey(.atLeastOnce)).subscribe()
        #expect(try metrics.total(of: "rxnetworking.outbox.enqueued", endpoint) == 2)
    }
}
#endif
