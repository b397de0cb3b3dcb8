#if Metrics && Fleet
import CoreMetrics
import MetricsTestKit
import RxCache
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxMetrics
import RxTesting
import Testing

/// The metrics of a fleet.
@Suite struct FleetMetricsTests {
    /// Members, logins, limits, removals, and the loss of the store are recorded.
    @Test func life() throws {
        let clock = VirtualScheduler()
        let store = MemoryStore(on: clock)
        let metrics = TestMetrics()
        let keys = SealingKeys(try SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)))
        let connections = (0..<2).map { _ in store.connection(on: clock) }
        let fleets = connections.map { Fleet(sharing: $0, clock: clock) }
        let recording = fleets[0].recordMetrics(in: metrics)
        for fleet in fleets { fleet.join() }
        let sessions = fleets.map { fleet in
            Session(sharing: fleet.credential("shop", sealing: keys), clock: clock) {
                .just(Credential(token: "t", refreshToken: "r"))
            }
        }
        let caches = fleets.map { $0.cache() }
        try clock.advance(by: .seconds(10))
        sessions[0].logIn(with: Credential(token: "a", refreshToken: "b"))
        try clock.advance(by: .seconds(1))
        sessions[1].logIn(with: Credential(token: "c", refreshToken: "d"))
        try clock.advance(by: .seconds(1))
        sessions[1].logOut()
        let closures = fleets[0].quota.closures.subscribe { _ in }
        caches[1].remove(.tag("goods")).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .seconds(1))
        #expect(try metrics.value(of: "rxnetworking.fleet.members") == 2)
        func total(_ metric: FleetMetric) throws -> Int64 { try metrics.total(of: metric.rawValue) }
        #expect(try total(.renewals) == 1)
        #expect(try total(.receivedCredentials) == 1)
        #expect(try total(.logouts) == 1)
        #expect(try total(.invalidations) == 1)
        fleets[1].quota.close("key", for: .seconds(1))
        try clock.advance(by: .seconds(1))
        #expect(try total(.closures) == 1)
        let changes = fleets[0].circuits.changes(of: "https://shop.test:443").subscribe { _ in }
        try clock.advance(by: .seconds(1))
        fleets[1].circuits.report(.opened(for: .seconds(1)), of: "https://shop.test:443")
        try clock.advance(by: .seconds(1))
        #expect(try total(.openings) == 1)
        changes.cancel()
        connections[0].isConnected = false
        try clock.advance(by: .seconds(20))
        #expect(try metrics.value(of: "rxnetworking.fleet.degraded") == 1)
        connections[0].isConnected = true
        try clock.advance(by: .seconds(20))
        #expect(try metrics.value(of: "rxnetworking.fleet.degraded") == 0)
        recording.cancel()
        closures.cancel()
        caches[1].remove(.tag("goods")).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.advance(by: .seconds(1))
        #expect(try total(.invalidations) == 1)
    }
}
#endif
