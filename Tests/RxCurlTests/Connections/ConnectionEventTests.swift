import RxCurl
import RxHTTP
import RxLite
import Synchronization
import TestServers
import Testing

/// The events of a transport's connections.
@Suite(.timeLimit(.minutes(1))) struct ConnectionEventTests {
    /// The events so far, in order; `closed` without its time.
    private final class Events: Sendable {
        let board = Board<[(String, Int)]>([])
        private let subscription = Mutex<Subscription?>(nil)

        init(of transport: CurlTransport) {
            let board = board
            let subscription = transport.connections.subscribe(onNext: { event in
                board.update { $0.append((event.text, event.connection)) }
            })
            self.subscription.withLock { $0 = subscription }
        }

        func cancel() { subscription.withLock { $0?.cancel() } }

        func until(_ count: Int) async throws -> [String] {
            try await board.until { $0.count >= count ? $0.map { "\($0) \($1)" } : nil }
        }
    }

    @Test func aConnectionIsUsedAgainAndClosedByTheServer() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [.readRequest, .respond(), .readRequest, .respond(), .wait(gate), .close]
        ])
        try await withTransport { transport in
            let events = Events(of: transport)
            for _ in 0..<2 { _ = try await transport.get(server.baseURL + "/") }
            _ = try await events.until(4)
            gate.open()
            try await server.until { $0.connections[0].hasEndedSending ? () : nil }
            // curl notices the end when it looks for a connection to use.
            _ = try? await transport.get(server.baseURL + "/")
            let seen = try await events.until(5)
            #expect(seen.prefix(5) == ["opened 1", "idle 1", "active 1", "idle 1", "closed 1"])
        }
    }

    @Test func anAbandonedTransferClosesItsConnection() async throws {
        let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"), .stall] }
        try await withTransport { transport in
            let events = Events(of: transport)
            let transfer = transport.send(try .to(server.baseURL + "/")).subscribe(onNext: { _ in })
            _ = try await events.until(1)
            transfer.cancel()
            #expect(try await events.until(3) == ["opened 1", "idle 1", "closed 1"])
        }
    }

    @Test func theEndOfTheTransportClosesAll() async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            let events = Events(of: transport)
            _ = try await transport.get(server.baseURL + "/")
            _ = try await events.until(2)
            transport.shutDown()
            #expect(try await events.until(3) == ["opened 1", "idle 1", "closed 1"])
        }
    }

    @Test func requestsOverHTTP2ShareAConnection() async throws {
        let server = try NginxServer.shared()
        try await withTransport(caBundlePath: server.certificatePath, configured: { $0.httpVersion = .http2 })
        {
            transport in
            let events = Events(of: transport)
            _ = try await transport.get(server.tlsBaseURL + "/json")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { _ = try await transport.get(server.tlsBaseURL + "/json") }
                }
                try await group.waitForAll()
            }
            transport.shutDown()
            let seen = try await events.board.until { $0.contains { $0.0 == "closed" } ? $0 : nil }
            #expect(Set(seen.map(\.1)) == [1])
            #expect(seen.map(\.0).first == "opened")
            #expect(seen.count { $0.0 == "idle" } == seen.count { $0.0 == "active" } + 1)
        }
    }

    @Test func connectionsFromBeforeTheSubscriptionAreNotReported() async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            _ = try await transport.get(server.baseURL + "/")
            let events = Events(of: transport)
            _ = try await transport.get(server.baseURL + "/")
            transport.shutDown()
            for _ in 0..<100 { await transport.loop.poll() }
            #expect(events.board.contents.isEmpty)
        }
    }
}

extension ConnectionEvent {
    fileprivate var text: String {
        switch kind {
        case .opened: "opened"
        case .idle: "idle"
        case .active: "active"
        case .closed(let age): age >= .zero ? "closed" : "closed before it was opened"
        }
    }
}
