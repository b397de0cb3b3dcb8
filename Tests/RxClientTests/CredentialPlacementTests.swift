import FoundationEssentials
import HTTPTypes
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Placements of credentials other than header fields.
@Suite struct CredentialPlacementTests {
    private func fixture(_ placement: CredentialPlacement, token: String = "t0") -> LoginFixture {
        let fixture = LoginFixture(credential: Credential(token: token), placement: placement)
        fixture.server.contents.withLock { $0.token = token }
        return fixture
    }

    private func body(_ request: Request) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A parameter goes into the form and replaces parameters of the same name.
    @Test(arguments: [
        (["b": "2"], "b=2&token=t0%26"), (["token": "own", "z": "1"], "z=1&token=t0%26"),
        (["tokens": "1"], "tokens=1&token=t0%26"),
    ])
    func form(parameters: [String: String], expected: String) throws {
        let fixture = fixture(.parameter("token"), token: "t0&")
        fixture.client.post("/1", .form(parameters)).subscribe()
        try fixture.clock.run()
        let request = try #require(fixture.transport.requests.first)
        #expect(body(request) == expected)
        #expect(request.url.query() == nil)
        #expect(!request.curlCommand().contains("t0"))
    }

    /// A parameter is replaced after a text that ends with a prepended mark, which is one `Character` with the `&`.
    @Test func formWithMarks() throws {
        let fixture = fixture(.parameter("token"))
        let headers: Headers = ["Content-Type": "application/x-www-form-urlencoded"]
        fixture.client.post("/1", .text("a=\u{600}&token=x"), headers: headers).subscribe()
        try fixture.clock.run()
        #expect(fixture.transport.requests.first.flatMap(body) == "a=\u{600}&token=t0")
    }

    /// The parameter's name is escaped like the form.
    @Test func formName() throws {
        let fixture = fixture(.parameter("auth token"))
        fixture.client.post("/1", .form(["auth token": "x", "a": 1])).subscribe()
        try fixture.clock.run()
        #expect(fixture.transport.requests.first.flatMap(body) == "a=1&auth+token=t0")
    }

    /// Without a form a parameter goes into the query.
    @Test(arguments: [Parameters.none, .json(["a": 1])])
    func query(parameters: Parameters) throws {
        let fixture = fixture(.parameter("token"))
        let recorder = Recorder(fixture.client.post("/1", parameters), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.transport.requests.map { $0.url.query() } == ["token=t0"])
    }

    /// A replay has the new token in the form, once.
    @Test func replay() throws {
        let fixture = LoginFixture(placement: .parameter("token"))
        let recorder = Recorder(fixture.client.post("/1", .form(["a": 1])), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.transport.requests.map(body) == ["a=1&token=old", nil, "a=1&token=t1"])
    }

    /// A cookie comes before others and replaces those of the same name.
    @Test(arguments: [
        ([:], "token=t0"), (["Cookie": "a=1; token=x; b=2"], "token=t0; a=1; b=2"),
        (["cookie": "token"], "token=t0"), (["Cookie": "tokens=1"], "token=t0; tokens=1"),
    ])
    func cookie(headers: [String: String], expected: String) throws {
        let fixture = fixture(.cookie("token"))
        let recorder = Recorder(fixture.client.get("/1", headers: Headers(headers)), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        let request = try #require(fixture.transport.requests.last)
        #expect(request.headerFields[.cookie] == expected)
        #expect(!request.description.contains("t0"))
    }

    /// A cookie comes before those of the jar, and replaces one of the same name.
    @Test func cookieAndJar() throws {
        let fixture = fixture(.cookie("token"))
        let jar = CookieJar(publicSuffixes: PublicSuffixes { $0 == "test" })
        let url = try #require(URL(string: "https://shop.test/"))
        for line in ["token=jar", "a=1"] { try jar.set(line, from: url) }
        var configuration = fixture.client.configuration
        configuration.cookies = jar
        let client = Client(configuration: configuration, transport: fixture.transport)
        client.get("/1").subscribe()
        try fixture.clock.run()
        #expect(fixture.transport.requests.map { $0.headerFields[.cookie] } == ["token=t0; a=1"])
    }

    /// The cookie is not sent to another origin.
    @Test func cookieElsewhere() throws {
        let fixture = fixture(.cookie("token"))
        fixture.server.contents.withLock {
            $0.answers["/1"] = [.status(.found, headers: [.location: "https://other.test/2"])]
        }
        fixture.client.get("/1").subscribe()
        try fixture.clock.run()
        #expect(fixture.transport.requests.map { $0.headerFields[.cookie] } == ["token=t0", nil])
    }

    /// A token that a cookie cannot contain is an error, and nothing is sent.
    @Test(arguments: [
        ("token", "a;b"), ("token", "a b"), ("token", "a,b"), ("token", "\"a\""), ("token", "a\\b"),
        ("token", "a\r\nX: y"), ("token", "ä"), ("to ken", "a"), ("token=", "a"), ("", "a"),
    ])
    func noCookie(name: String, token: String) throws {
        let fixture = fixture(.cookie(name), token: token)
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(recorder.failure?.description.contains("a;b") == false)
        #expect(fixture.transport.requests.isEmpty)
    }
}
