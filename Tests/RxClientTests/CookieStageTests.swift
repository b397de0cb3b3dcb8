import FoundationEssentials
import HTTPTypes
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestCookies
import Testing

@testable import RxClient

/// Cookies in the pipeline: between the credential and the transport, at each hop.
@Suite struct CookieStageTests {
    private let clock = VirtualScheduler()

    private func client(
        _ fixture: CookieFixture, baseURL: String = "https://a.test",
        _ answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: answer)
        var configuration = ClientConfiguration(baseURL: baseURL)
        configuration.cookies = fixture.jar
        return (Client(configuration: configuration, transport: transport), transport)
    }

    private static func setting(
        _ cookies: String..., status: HTTPResponse.Status = .ok, location: String? = nil
    ) -> ScriptedTransport.Reply {
        var headers = HTTPFields()
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        headers[.location] = location
        return .status(status, headers: headers, after: .milliseconds(1))
    }

    /// Cookies of one response are sent with the next request, if there is a jar.
    @Test func keptAndSent() throws {
        let fixture = CookieFixture(on: clock)
        let (client, transport) = client(fixture) { request in
            request.url.path == "/login" ? Self.setting("a=1; Path=/", "b=2; Path=/shop") : .status(.ok)
        }
        client.post("/login").flatMap { _ in client.get("/shop/1") }
            .flatMap { _ in client.get("/other") }.subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "b=2; a=1", "a=1"])
        let other = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        other.get("/shop").subscribe()
        var call = InlineEndpoint(.post, "/login")
        call.options.usesCookies = false
        fixture.jar.removeAll()
        client.request(call).subscribe()
        try clock.run()
        #expect(transport.requests.suffix(2).map { $0.headerFields[.cookie] } == [nil, nil])
        #expect(fixture.jar.cookies.isEmpty)
    }

    /// Each hop of a redirect sends its own cookies, and the cookies that it sets are sent with the next hop.
    @Test func redirects() throws {
        let fixture = CookieFixture(on: clock)
        try fixture.set("there=0; Path=/", from: "https://b.test")
        let (client, transport) = client(fixture) { request in
            switch request.url.absoluteString {
            case "https://a.test/1": Self.setting("a=1; Path=/", status: .found, location: "/2")
            case "https://a.test/2":
                Self.setting("a=2; Path=/", "b=2", status: .seeOther, location: "https://b.test/3")
            case "https://b.test/3":
                Self.setting("c=3", status: .temporaryRedirect, location: "https://a.test/4")
            default: Self.setting("d=4")
            }
        }
        client.get("/1").subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "a=1", "there=0", "a=2; b=2"])
        #expect(fixture.field("https://a.test/") == "a=2; b=2; d=4")
        #expect(fixture.field("https://b.test/") == "there=0; c=3")
    }

    @Test(arguments: [
        ("x=9", "x=9; a=1; b=2"), ("a=9", "a=9; b=2"), ("a = 9; c=3;b=", "a = 9; c=3;b="),
        ("bare", "bare; a=1; b=2"),
        ("A=1", "A=1; a=1; b=2"), ("", "a=1; b=2"),
    ])
    func aFieldOfTheRequestItselfStandsFirst(own: String, sent: String) throws {
        let fixture = CookieFixture(on: clock)
        try fixture.set("a=1", from: "https://a.test")
        try fixture.set("b=2", from: "https://a.test")
        let (client, transport) = client(fixture) { request in
            request.url.path == "/1" ? Self.setting(status: .found, location: "https://b.test") : .status(.ok)
        }
        client.get("/1", headers: ["Cookie": own]).subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [sent, nil])
    }

    /// A page on another origin is requested without cookies, and sets none.
    @Test func otherOrigins() throws {
        let fixture = CookieFixture(on: clock)
        try fixture.set("a=1", from: "https://a.test")
        try fixture.set("b=1", from: "https://b.test")
        let (client, transport) = client(fixture) { request in
            let link = request.url.host() == "a.test" ? #"<https://b.test/2>; rel="next""# : ""
            return .json("[1]", headers: [.link: link, .setCookie: "c=1"])
        }
        client.items(.get("/1"), .link) { Page([$0.status.code]) }.subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["a=1", nil])
        #expect(fixture.field("https://b.test") == "b=1")
    }

    /// A request made by hand carries them, too, unless it opts out.
    @Test func exchanges() throws {
        let fixture = CookieFixture(on: clock)
        try fixture.set("a=1", from: "https://a.test")
        let (client, transport) = client(fixture) { _ in Self.setting("b=1", status: .found, location: "/2") }
        let request = Request(url: try #require(URL(string: "https://a.test/1")))
        client.exchange(request, following: .manual).subscribe()
        client.exchange(request, following: .manual, usesCookies: false).subscribe()
        let refused = Recorder(client.exchange(request, following: .refused).map { _ in 0 }, on: clock)
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["a=1", nil, "a=1"])
        #expect(refused.failure?.code == .invalidRedirect)
    }

    /// Failed responses, retries and replays set and carry cookies, too.
    @Test func retries() throws {
        let fixture = CookieFixture(on: clock)
        let (client, transport) = client(fixture) { request in
            request.headerFields[.cookie] == nil
                ? Self.setting("a=1", status: .serviceUnavailable) : .status(.ok)
        }
        client.get("/").subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "a=1"])
    }

    /// The first request waits for the saved cookies, and is sent without any if they cannot be read.
    @Test(arguments: [
        false, true,
    ])
    func waitsForTheFile(isUnreadable: Bool) throws {
        let old = CookieFixture(isStored: true, on: VirtualScheduler())
        try old.set("a=1; Max-Age=1000", from: "https://a.test")
        try old.clock.run()
        let gate = Signal<Void>()
        old.storage.contents.withLock { contents in
            contents.gate = gate.observable
            contents.loads = 0
            contents.loadErrors = isUnreadable ? [NetworkError(.file, "no")] : []
        }
        let fixture = CookieFixture(isStored: true, on: clock, storage: old.storage)
        let (client, transport) = client(fixture) { _ in .status(.ok) }
        for _ in 0..<3 { client.get("/").subscribe() }
        let cancelled = client.get("/").subscribe()
        try clock.run()
        #expect(transport.requests.isEmpty)
        cancelled.cancel()
        gate.send()
        try clock.run()
        #expect(transport.requests.count == 3)
        let expected = isUnreadable ? nil : "a=1"
        #expect(transport.requests.allSatisfy { $0.headerFields[.cookie] == expected })
        #expect(fixture.storage.loads == 1)
        #expect(fixture.events == (isUnreadable ? ["! no"] : []))
    }

    /// A response to a request from before the logout sets no cookie.
    @Test func lateAnswers() throws {
        let fixture = CookieFixture(on: clock)
        let (client, _) = client(fixture) { _ in Self.setting("a=1") }
        client.get("/").subscribe()
        fixture.jar.removeAll()
        try clock.run()
        #expect(fixture.jar.cookies.isEmpty)
        client.get("/").subscribe()
        try clock.run()
        #expect(fixture.jar.cookies.count == 1)
    }

    /// Refused cookies are reported, with the reason.
    @Test func refusals() throws {
        let fixture = CookieFixture(on: clock)
        let (client, _) = client(fixture) { _ in Self.setting("a=1; Domain=test", "b=1", "=") }
        client.get("/").subscribe()
        try clock.run()
        #expect(fixture.events == ["! publicSuffix", "+ b=1", "! empty"])
    }
}
