import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A session costs one challenge (RFC 7616 §3.6).
@Suite struct DigestMemoryTests {
    private let clock = VirtualScheduler()
    private let digest = Authentication.digest(user: "anna", password: "p")

    private func request(
        _ authentication: Authentication? = nil, _ method: HTTPRequest.Method = .get,
        _ url: String = "http://a.test/x?y", body: Body = .empty
    ) throws -> Request {
        var request = Request(method: method, url: try #require(URL(string: url)), body: body)
        try request.authenticate(by: authentication ?? digest)
        return request
    }

    private func status(
        _ request: Request, over transport: ScriptedTransport
    ) throws -> Recorder<Int, NetworkError> {
        let recorder = Recorder(
            transport.send(request, following: RedirectPolicy()).response(to: request).map(\.status.code),
            on: clock)
        try clock.run()
        return recorder
    }

    /// One challenge for a hundred requests, one after the other.
    @Test func session() throws {
        let server = DigestServerScript()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        for number in 0..<100 {
            let body = Body.bytes(Array("\(number)".utf8))
            #expect(try status(request(nil, .post, body: body), over: transport).values == [200])
        }
        #expect(server.challenges == 1)
        #expect(transport.requests.count == 101)
        #expect(transport.requests[0].body.isEmpty && !transport.requests[1].body.isEmpty)
    }

    /// Simultaneous requests have separate counts.
    @Test func concurrent() throws {
        let server = DigestServerScript()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        #expect(try status(request(), over: transport).values == [200])
        let recorders = try (0..<50).map { _ in
            let request = try request()
            return Recorder(
                transport.send(request, following: RedirectPolicy()).response(to: request), on: clock)
        }
        try clock.run()
        #expect(recorders.allSatisfy { $0.values.first?.status == .ok })
        #expect(server.challenges == 1)
        #expect(transport.requests.count == 52)
    }

    /// The server's next nonce is used, without another challenge.
    @Test func nextNonce() throws {
        let server = DigestServerScript(namesNext: true)
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        for _ in 0..<5 { #expect(try status(request(), over: transport).values == [200]) }
        #expect(server.challenges == 1)
        #expect(transport.requests.count == 6)
    }

    /// An expired nonce costs one more exchange, whose response is not delivered.
    @Test func stale() throws {
        let server = DigestServerScript(usesOfNonce: 3)
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        for _ in 0..<9 { #expect(try status(request(), over: transport).values == [200]) }
        #expect(server.challenges == 3)
        #expect(transport.requests.count == 12)
    }

    /// A server that has forgotten its nonces costs one more challenge.
    @Test func forgotten() throws {
        let server = DigestServerScript()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        #expect(try status(request(), over: transport).values == [200])
        server.forget()
        #expect(try status(request(), over: transport).values == [200])
        #expect(server.challenges == 2)
        #expect(transport.requests.count == 4)
    }

    /// A wrong password is tried once, and its challenge is forgotten.
    @Test func wrongPassword() throws {
        let server = DigestServerScript(password: "other")
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        for round in 1...2 {
            #expect(try status(request(), over: transport).values == [401])
            #expect(transport.requests.count == 2 * round)
        }
        #expect(
            transport.requests.map { $0.headerFields[.authorization] != nil } == [false, true, false, true])
    }

    /// A server that calls every nonce expired does not cause endless retries.
    @Test func alwaysStale() throws {
        let server = DigestServerScript(usesOfNonce: 0)
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        #expect(try status(request(), over: transport).values == [401])
        #expect(transport.requests.count == 4)
    }

    /// Content that can be sent only once is sent after a challenge of its own.
    @Test func onceOnly() throws {
        let server = DigestServerScript()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        for _ in 0..<3 {
            let body = Body.stream(Observable<[UInt8], NetworkError>.just([1]), length: 1)
            #expect(try status(request(nil, .post, body: body), over: transport).values == [200])
        }
        #expect(transport.requests.map(\.body.isEmpty) == [true, false, true, false, true, false])
    }

    /// Each origin has its own challenge, and another value with the same password starts anew.
    @Test func origins() throws {
        let servers = [DigestServerScript(), DigestServerScript(), DigestServerScript()]
        let transport = ScriptedTransport(on: clock) { request in
            servers[request.url.scheme == "https" ? 1 : request.url.port == 8080 ? 2 : 0].answer(request)
        }
        let other = Authentication.digest(user: "anna", password: "p")
        for (authentication, url, count) in [
            (digest, "http://a.test/", 2), (digest, "http://a.test/b", 3), (digest, "http://a.test:8080/", 5),
            (digest, "https://a.test/", 7), (digest, "http://A.test:80/c", 8), (other, "http://a.test/", 10),
        ] {
            #expect(try status(request(authentication, .get, url), over: transport).values == [200])
            #expect(transport.requests.count == count, "\(url)")
        }
    }

    /// A redirect within the origin is authenticated, too, and one to another origin is not.
    @Test func redirects() throws {
        let server = DigestServerScript()
        let transport = ScriptedTransport(on: clock) { request in
            let answer = server.answer(request)
            let isProven = request.headerFields[.authorization] != nil
            switch request.url.path {
            case "/1" where isProven: return .status(.found, headers: [.location: "/2"])
            case "/2" where isProven: return .status(.found, headers: [.location: "http://b.test/3"])
            case "/3": return .json("{}")
            default: return answer
            }
        }
        #expect(try status(request(nil, .get, "http://a.test/1"), over: transport).values == [200])
        #expect(
            transport.requests.map { $0.headerFields[.authorization] != nil } == [false, true, true, false])
    }

    /// Cancelling between challenge and proof sends nothing more.
    @Test func cancel() throws {
        let transport = ScriptedTransport(on: clock) { _ in
            .bytes(
                [], status: .unauthorized, headers: [.wwwAuthenticate: "Digest realm=r, nonce=n"],
                after: .seconds(1))
        }
        let request = try request()
        let recorder = Recorder(transport.send(request, following: RedirectPolicy()), on: clock)
        try clock.advance(by: .milliseconds(500))
        recorder.cancel()
        try clock.run()
        #expect(transport.exchanges.count == 1)
        #expect(transport.runningCount == 0)
    }
}
