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
    private func bench(_ placement: CredentialPlacement, token: String = "t0") -> LoginBench {
        let bench = LoginBench(credential: Credential(token: token), placement: placement)
        bench.server.contents.withLock { $0.token = token }
        return bench
    }

    private func body(_ request: Request) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "A parameter goes into the form and replaces parameters of the same name",
        arguments: [
            (["b": "2"], "b=2&token=t0%26"), (["token": "own", "z": "1"], "z=1&token=t0%26"),
            (["tokens": "1"], "tokens=1&token=t0%26"),
        ])
    func form(parameters: [String: String], expected: String) throws {
        let bench = bench(.parameter("token"), token: "t0&")
        bench.client.post("/1", .form(parameters)).subscribe()
        try bench.clock.run()
        let request = try #require(bench.transport.requests.first)
        #expect(body(request) == expected)
        #expect(request.url.query() == nil)
        #expect(!request.curlCommand().contains("t0"))
    }

    @Test("The parameter's name is escaped like the form")
    func formName() throws {
        let bench = bench(.parameter("auth token"))
        bench.client.post("/1", .form(["auth token": "x", "a": 1])).subscribe()
        try bench.clock.run()
        #expect(bench.transport.requests.first.flatMap(body) == "a=1&auth+token=t0")
    }

    @Test("Without a form a parameter goes into the query", arguments: [Parameters.none, .json(["a": 1])])
    func query(parameters: Parameters) throws {
        let bench = bench(.parameter("token"))
        let recorder = Recorder(bench.client.post("/1", parameters), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.transport.requests.map { $0.url.query() } == ["token=t0"])
    }

    @Test("A replay has the new token in the form, once")
    func replay() throws {
        let bench = LoginBench(placement: .parameter("token"))
        let recorder = Recorder(bench.client.post("/1", .form(["a": 1])), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.transport.requests.map(body) == ["a=1&token=old", nil, "a=1&token=t1"])
    }

    @Test(
        "A cookie comes before others and replaces those of the same name",
        arguments: [
            ([:], "token=t0"), (["Cookie": "a=1; token=x; b=2"], "token=t0; a=1; b=2"),
            (["cookie": "token"], "token=t0"), (["Cookie": "tokens=1"], "token=t0; tokens=1"),
        ])
    func cookie(headers: [String: String], expected: String) throws {
        let bench = bench(.cookie("token"))
        let recorder = Recorder(bench.client.get("/1", headers: Headers(headers)), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished)
        let request = try #require(bench.transport.requests.last)
        #expect(request.headerFields[.cookie] == expected)
        #expect(!request.description.contains("t0"))
    }

    @Test("A cookie comes before those of the jar, and replaces one of the same name")
    func cookieAndJar() throws {
        let bench = bench(.cookie("token"))
        let jar = CookieJar(publicSuffixes: PublicSuffixes { $0 == "test" })
        let url = try #require(URL(string: "https://shop.test/"))
        for line in ["token=jar", "a=1"] { try jar.set(line, from: url) }
        var configuration = bench.client.configuration
        configuration.cookies = jar
        let client = Client(configuration: configuration, transport: bench.transport)
        client.get("/1").subscribe()
        try bench.clock.run()
        #expect(bench.transport.requests.map { $0.headerFields[.cookie] } == ["token=t0; a=1"])
    }

    @Test("The cookie is not sent to another origin")
    func cookieElsewhere() throws {
        let bench = bench(.cookie("token"))
        bench.server.contents.withLock {
            $0.answers["/1"] = [.status(.found, headers: [.location: "https://other.test/2"])]
        }
        bench.client.get("/1").subscribe()
        try bench.clock.run()
        #expect(bench.transport.requests.map { $0.headerFields[.cookie] } == ["token=t0", nil])
    }

    @Test(
        "A token that a cookie cannot contain is an error, and nothing is sent",
        arguments: [
            ("token", "a;b"), ("token", "a b"), ("token", "a,b"), ("token", "\"a\""), ("token", "a\\b"),
            ("token", "a\r\nX: y"), ("token", "ä"), ("to ken", "a"), ("token=", "a"), ("", "a"),
        ])
    func noCookie(name: String, token: String) throws {
        let bench = bench(.cookie(name), token: token)
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(recorder.failure?.description.contains("a;b") == false)
        #expect(bench.transport.requests.isEmpty)
    }
}
