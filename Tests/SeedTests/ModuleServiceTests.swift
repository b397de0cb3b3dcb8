import HTTPTypes
import RxNetworking
import RxTesting
import Synchronization
import TestServers
import Testing

/// An app with one network for all, and a service for each module on top of it (`ZORNetworking` and its categories).
@Suite(.timeLimit(.minutes(1))) struct ModuleServiceTests {
    /// The network of the app. The base URL can be changed at the login.
    private static func network(_ server: RawServer, token: String) -> Client {
        var configuration = ClientConfiguration(baseURL: server.baseURL)
        configuration.options.timeouts = Timeouts(total: .seconds(45))
        configuration.options.envelope = Envelope(
            code: "code", message: "message", payload: "data", success: 0)
        configuration.options.contentTypes = [
            "application/json", "text/json", "text/javascript", "text/html",
        ]
        configuration.session = Session(
            credential: Credential(token: token), placement: .header("token"))
        return Client(configuration: configuration)
    }

    private func server(_ answer: @escaping @Sendable (RawServer.Request) -> String) throws -> RawServer {
        try RawServer { [.respond(200, ["Content-Type": "text/html"], body: answer($0))] }
    }

    /// A module's service hides URL, parameters and parsing.
    @Test func service() async throws {
        let server = try server { request in
            request.target == "/home/banners?city=hz&count=2"
                ? #"{"code":0,"message":"","data":["spring","summer"]}"# : #"{"code":1,"message":"暂无数据"}"#
        }
        let client = Self.network(server, token: "t1")
        #expect(try await client.home.banners(in: "hz").value() == ["spring", "summer"])
        let error = await #expect(throws: NetworkError.self) {
            try await client.home.banners(in: "?").value()
        }
        #expect(error?.envelopeCode == "1" && error?.message == "暂无数据")
        #expect(server.record.requests.allSatisfy { $0.field("token") == "t1" })
    }

    /// The base URL is changed at run time.
    @Test func baseURL() async throws {
        let (test, production) = (
            try server { _ in #"{"code":0,"data":["t"]}"# }, try server { _ in #"{"code":0,"data":["p"]}"# }
        )
        let client = Self.network(test, token: "t1")
        #expect(try await client.home.banners(in: "hz").value() == ["t"])
        client.servers.main = production.baseURL
        #expect(try await client.home.banners(in: "hz").value() == ["p"])
    }

    /// An encrypted text is sent as it is.
    @Test func text() async throws {
        let server = try server { _ in #"{"code":0,"data":"paid"}"# }
        let client = Self.network(server, token: "t1")
        #expect(try await client.post("/pay", .text("=%a b")).decode(String.self).value() == "paid")
        let request = try #require(server.record.requests.first)
        #expect(request.text == "=%a b")
        #expect(request.field("Content-Type")?.hasPrefix("text/plain") == true)
    }

    /// The state of the network is followed, and read at any time.
    @Test func networkStatus() async throws {
        let reachability = ScriptedReachability(.wifi)
        let seen = Mutex<[NetworkStatus]>([])
        let subscription = reachability.statuses.subscribe { status in seen.withLock { $0.append(status) } }
        reachability.set(.unreachable)
        #expect(reachability.status == .unreachable)
        #expect(seen.withLock { $0 } == [.wifi, .unreachable])
        subscription.cancel()
    }
}

extension Client {
    fileprivate var home: Home { Home(client: self) }
}

/// The services of the first screen.
private struct Home: Sendable {
    let client: Client

    func banners(in city: String) -> Observable<[String], NetworkError> {
        client.get("/home/banners", query: ["city": city, "count": 2]).decode([String].self)
    }
}
