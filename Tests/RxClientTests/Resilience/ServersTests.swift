import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Two servers, chosen by endpoint and changed at run time.
@Suite struct ServersTests {
    private let fixture = ResilienceFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func client(
        standby: String? = "https://standby.test/api/",
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.standbyURL = standby
                configure(&$0)
            }, [.json("1")])
    }

    private func call(_ path: String, on server: Servers.Role?) -> InlineEndpoint {
        var call = InlineEndpoint(.get, path, query: ["q": "a b"])
        call.options.server = server
        return call
    }

    /// An endpoint chooses main or standby.
    @Test(arguments: [
        (Servers.Role?.none, "https://main.test/v1/x?q=a%20b"),
        (.main, "https://main.test/v1/x?q=a%20b"), (.standby, "https://standby.test/api/x?q=a%20b"),
    ])
    func choice(server: Servers.Role?, url: String) throws {
        let (client, transport) = client()
        for path in ["/x", "https://main.test/v1/x", "https://standby.test/api/x"] {
            try fixture.outcome(client.request(call(path, on: server)))
            #expect(transport.requests.last?.url.absoluteString == url, "\(path)")
        }
        try fixture.outcome(client.response(.get("/x"), from: server))
        #expect(transport.requests.last?.url.host() == URL(string: url)?.host())
    }

    /// Without a standby server, requests that require it fail before anything is sent.
    @Test func none() throws {
        let (client, transport) = client(standby: nil)
        #expect(try fixture.outcome(client.request(call("/x", on: .standby))).failure?.code == .invalidURL)
        client.servers.use(.standby)
        #expect(client.servers.active.value == .main)
        #expect(transport.requests.isEmpty)
    }

    /// The base URLs can be changed at run time: later requests use them, requests under way do not.
    @Test func change() throws {
        let (client, transport) = fixture(
            { $0.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1))) },
            [.status(.badGateway), .json("1")])
        let running = Recorder(client.get("/x"), on: clock)
        client.servers.main = "https://staging.test"
        #expect(client.servers.main == "https://staging.test")
        let later = Recorder(client.get("/x"), on: clock)
        client.servers.standby = "https://second.test"
        try fixture.outcome(client.request(call("/x", on: .standby)))
        #expect(running.isFinished && later.isFinished)
        #expect(transport.hosts == ["main.test", "staging.test", "second.test", "main.test"])
        client.servers.main = "no url"
        #expect(try fixture.outcome(client.get("/x")).failure?.code == .invalidURL)
    }

    /// The app can make the standby server active, without failover.
    @Test func byHand() throws {
        let (client, transport) = client()
        let states = Recorder(client.servers.active.observable, on: clock)
        client.servers.use(.standby)
        try fixture.outcome(client.get("/x"))
        try clock.advance(by: .seconds(1000))
        try fixture.outcome(client.get("/x"))
        client.servers.use(.main)
        try fixture.outcome(client.get("/x"))
        #expect(transport.hosts == ["standby.test", "standby.test", "main.test"])
        client.servers.use(.standby)
        client.servers.standby = nil
        #expect(states.values == [.main, .standby, .main, .standby, .main])
    }

    /// A URL elsewhere stays there, and gets nothing of the service.
    @Test func elsewhere() throws {
        let session = Session(credential: Credential(token: "t"), clock: clock) { .never() }
        let (client, transport) = client {
            $0.allowsOtherOrigins = true
            $0.session = session
        }
        client.servers.use(.standby)
        for path in ["https://other.test/v1/x", "https://main.test/v2/x", "https://standby.test/x"] {
            try fixture.outcome(client.get(path))
        }
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "https://other.test/v1/x", "https://main.test/v2/x", "https://standby.test/x",
            ])
        let tokens = transport.requests.map { $0.headerFields[.authorization] }
        #expect(tokens == [nil, "Bearer t", "Bearer t"])
    }

    /// The credential and the secret fields go to either server.
    @Test func secrets() throws {
        let session = Session(credential: Credential(token: "t"), clock: clock) { .never() }
        let (client, transport) = client {
            $0.session = session
            $0.options.headers = ["X-Key": "k"]
            if let name = HTTPField.Name("X-Key") { $0.secretFields = [name] }
        }
        for server: Servers.Role in [.main, .standby] {
            try fixture.outcome(client.request(call("/x", on: server)))
        }
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer t", "Bearer t"])
        let keys = try transport.requests.map { $0.headerFields[try #require(HTTPField.Name("X-Key"))] }
        #expect(keys == ["k", "k"])
    }

    /// A signature covers the URL that is sent.
    @Test func signed() throws {
        let (client, transport) = client {
            $0.signature = .parameters { content in
                ["sign": content.request.url.host() ?? ""]
            }
        }
        for server: Servers.Role in [.main, .standby] {
            try fixture.outcome(client.request(call("/x", on: server)))
        }
        #expect(
            transport.requests.map { $0.url.query() ?? "" } == [
                "sign=main.test&q=a%20b", "sign=standby.test&q=a%20b",
            ])
    }

    /// Requests are cancelled by their path, at either server.
    @Test func cancelling() throws {
        let (client, transport) = fixture({ $0.standbyURL = "https://standby.test" }, [.stall])
        client.servers.use(.standby)
        let recorder = Recorder(client.get("/x"), on: clock)
        #expect(transport.hosts == ["standby.test"])
        #expect(client.cancel(.url("/x")) == 1)
        #expect(recorder.failure?.code == .cancelled)
    }

    /// Linked pages stay at the active server, whichever server the links name.
    @Test func links() throws {
        let (client, transport) = fixture({ $0.standbyURL = "https://standby.test" }) { request in
            let page = request.url.query().flatMap { Int($0.dropFirst(5)) } ?? 1
            let link =
                #"<https://\#(page == 1 ? "main.test/v1" : "standby.test")/x?page=\#(page + 1)>; rel="next""#
            return .json("[\(page)]", headers: page < 3 ? [.link: link] : [:])
        }
        client.servers.use(.standby)
        let items = try fixture.outcome(client.items(Numbers(), .link))
        #expect(items.values == [1, 2, 3])
        #expect(transport.hosts == ["standby.test", "standby.test", "standby.test"])
    }

    /// Paths below a base URL.
    @Test(arguments: [
        ("https://a.test/v1", "https://a.test/v1/x", "/x"),
        ("https://a.test/v1/", "https://a.test/v1/x", "/x"),
        ("https://a.test/v1", "https://a.test/v1", ""),
        ("https://a.test/v1", "https://a.test/v1?a=b", "?a=b"),
        ("https://a.test/v1", "https://a.test/v10", nil),
        ("https://a.test", "https://a.test.evil.test/x", nil),
        ("https://a.test", "https://a.test:8443/x", nil),
        ("https://a.test", "https://a.test@evil.test/", nil),
        ("https://a.test", "http://a.test/x", nil), ("", "https://a.test/x", nil),
    ])
    func below(base: String, url: String, path: String?) {
        let server = Server(base, in: HostRegistry(ClientConfiguration(), on: clock))
        #expect(server.path(of: url).map(String.init) == path)
    }
}

private struct Numbers: Endpoint {
    typealias Output = [Int]
    let path = "/x"
    let method = HTTPRequest.Method.get
}
