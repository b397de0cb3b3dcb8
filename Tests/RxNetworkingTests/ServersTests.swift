import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Two servers over real sockets: chosen, changed, and one of them stopped and started again.
@Suite(.timeLimit(.minutes(1))) struct ServersTests {
    private func server(_ name: String, port: UInt16 = 0) throws -> RawServer {
        try RawServer(port: port) { request in
            if request.target == "/busy" && name == "main" { return [.respond(503, body: "busy")] }
            return [.respond(200, ["Set-Cookie": "\(name)=1; Path=/"], body: name)]
        }
    }

    private func client(
        _ main: RawServer, _ standby: RawServer, _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration()
        configuration.options.retry = .never
        // Another host for cookies and credentials.
        configuration.standbyURL = "http://localhost:\(standby.port)"
        configure(&configuration)
        return Client(baseURL: main.baseURL, configuration: configuration)
    }

    /// An endpoint chooses its server, and the base URL is changed at run time.
    @Test func choice() async throws {
        let (main, standby, staging) = (try server("main"), try server("standby"), try server("staging"))
        let client = client(main, standby)
        var call = InlineEndpoint(.get, "/x")
        #expect(try await client.request(call).value().text == "main")
        call.options.server = .standby
        #expect(try await client.request(call).value().text == "standby")
        client.servers.main = staging.baseURL
        #expect(try await client.get("/x").value().text == "staging")
        client.servers.use(.standby)
        #expect(try await client.get("/x").value().text == "standby")
    }

    /// The standby server takes over from one that has stopped, which takes over again when it runs.
    @Test func failover() async throws {
        let (main, standby) = (try server("main"), try server("standby"))
        // Each request that may be sent twice probes the main server.
        let client = client(main, standby) { $0.failoverProbeInterval = .zero }
        let states = Mutex<[Servers.Role]>([])
        client.servers.active.observable.subscribe { state in states.withLock { $0.append(state) } }
        #expect(try await client.get("/x").value().text == "main")
        main.stop()
        for _ in 0..<3 { #expect(try await client.get("/x").value().text == "standby") }
        #expect(try await client.post("/x", .text("order")).value().text == "standby")
        #expect(client.servers.active.value == .standby)

        let again = try server("main", port: main.port)
        #expect(try await client.get("/x").value().text == "main")
        #expect(try await client.post("/x", .text("order")).value().text == "main")
        #expect(states.withLock { $0 } == [.main, .standby, .main])
        #expect(again.record.requests.count == 2)
        #expect(standby.record.requests.count == 4)
    }

    /// After 503 a GET goes to the standby server, and a POST does not.
    @Test func busy() async throws {
        let (main, standby) = (try server("main"), try server("standby"))
        let client = client(main, standby) { $0.failoverProbeInterval = .seconds(30) }
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client.post("/busy", .text("order")).value()
        }
        #expect(error?.status == .serviceUnavailable)
        #expect(try await client.get("/busy").value().text == "standby")
        #expect(main.record.requests.map(\.method) == ["POST", "GET"])
        #expect(standby.record.requests.map(\.method) == ["GET"])
    }

    /// Credential and cookies belong to the service.
    @Test func credentials() async throws {
        let (main, standby) = (try server("main"), try server("standby"))
        let client = client(main, standby) {
            $0.cookies = CookieJar()
            $0.session = Session(credential: Credential(token: "t")) { .never() }
        }
        _ = try await client.get("/x").value()
        client.servers.use(.standby)
        for _ in 0..<2 { _ = try await client.get("/x").value() }
        #expect(standby.record.requests.map { $0.field("Authorization") } == ["Bearer t", "Bearer t"])
        #expect(standby.record.requests.map { $0.field("Cookie") } == ["main=1", "main=1; standby=1"])
    }
}
