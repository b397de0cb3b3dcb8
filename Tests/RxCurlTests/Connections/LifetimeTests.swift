import RxCurl
import RxHTTP
import RxLoop
import TestServers
import Testing

/// The lifetime of connections, as the server observes it.
@Suite(.timeLimit(.minutes(1))) struct LifetimeTests {
    /// curl counts whole seconds: older than one means two or more.
    @Test(arguments: [(Duration.seconds(1), 2), (.seconds(60), 1)])
    func anIdleConnectionIsUsedAgainForSoLong(lifetime: Duration, connections: Int) async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withTransport(configured: { $0.idleConnectionLifetime = lifetime }) { transport in
            _ = try await transport.get(server.baseURL)
            await transport.loop.pass(.milliseconds(2100))
            _ = try await transport.get(server.baseURL)
        }
        #expect(server.record.connections.count == connections)
    }

    @Test(arguments: [Duration.zero, .milliseconds(999)])
    func withoutALifetimeTheConnectionIsClosedAtOnce(lifetime: Duration) async throws {
        let server = try RawServer { _ in [.respond(body: "well")] }
        try await withTransport(configured: { $0.idleConnectionLifetime = lifetime }) { transport in
            for index in 0..<2 {
                _ = try await transport.get(server.baseURL)
                #expect(try await server.connectionEnded(index) == .clientClosed)
            }
        }
    }
}
