import FoundationEssentials
import HTTPTypes
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// Cookies belong to the service, not to one of its servers.
@Suite struct FailoverCookieTests {
    private let servers = FailoverFixture()
    private var fixture: ResilienceFixture { servers.fixture }
    private var clock: VirtualScheduler { servers.clock }
    private var health: FailoverFixture.Health { servers.health }

    /// Cookies follow the service: both servers get the cookies of either.
    @Test func cookies() throws {
        let jar = CookieJar(publicSuffixes: .unknown, clock: clock)
        let (client, transport) = servers.client { $0.cookies = jar }
        health["main.test"] = .json("1", headers: [.setCookie: "a=1; Path=/v1"])
        health["standby.test"] = .json("1", headers: [.setCookie: "b=2; Path=/v1"])
        try fixture.outcome(client.get("/x"), within: .zero)
        client.servers.use(.standby)
        for _ in 0..<2 { try fixture.outcome(client.get("/x"), within: .zero) }
        client.servers.use(.main)
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "a=1", "a=1; b=2", "a=1; b=2"])
        #expect(Set(jar.cookies.map(\.domain)) == ["main.test"])
    }

    /// If the standby server has another path, cookies follow the path below the base URL.
    @Test func cookiePaths() throws {
        let jar = CookieJar(publicSuffixes: .unknown, clock: clock)
        let (client, transport) = servers.client {
            $0.cookies = jar
            $0.standbyURL = "https://standby.test/other/place"
        }
        health["main.test"] = .json("1", headers: [.setCookie: "a=1; Path=/v1/shop"])
        try fixture.outcome(client.get("/shop/1"), within: .zero)
        client.servers.use(.standby)
        for path in ["/shop/2", "/x"] { try fixture.outcome(client.get(path), within: .zero) }
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "a=1", nil])
    }

    /// A Secure cookie is not sent to a standby server without TLS.
    @Test func secureCookies() throws {
        let jar = CookieJar(publicSuffixes: .unknown, clock: clock)
        let (client, transport) = servers.client {
            $0.cookies = jar
            $0.standbyURL = "http://standby.test/v1"
        }
        health["main.test"] = .json("1", headers: [.setCookie: "a=1; Secure"])
        try fixture.outcome(client.get("/x"), within: .zero)
        client.servers.use(.standby)
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, nil])
    }

    /// Another main server is another host: it gets none of the cookies.
    @Test func otherService() throws {
        let jar = CookieJar(publicSuffixes: .unknown, clock: clock)
        let (client, transport) = servers.client { $0.cookies = jar }
        health["main.test"] = .json("1", headers: [.setCookie: "a=1"])
        try fixture.outcome(client.get("/x"), within: .zero)
        client.servers.main = "https://staging.test/v1"
        try fixture.outcome(client.get("/x"), within: .zero)
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, nil])
    }
}
