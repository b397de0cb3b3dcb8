import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// How many connections stay.
@Suite(.timeLimit(.minutes(1))) struct IdleConnectionTests {
    /// More connections in use than may be idle are used again all the same.
    @Test func connectionsInUseDoNotCountAsIdle() async throws {
        let server = try RawServer { _ in [.respond()] }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.maxIdleConnections = 2
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let request = try Request.to(server.baseURL)
        // On the loop, where each request follows its predecessor at once.
        let reused = try await Observable<Int, NetworkError>.sequence(0..<400).subscribe(on: loop)
            .flatMap(.merge(limit: 8)) { _ in transport.send(request).response(to: request) }
            .filter(\.metrics.isConnectionReused)
            .collect().first()
        #expect(server.record.connections.count == 8)
        #expect(reused?.count == 392)
    }
}
