import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxParameters
import TestServers
import Testing

/// Names and passwords for servers.
@Suite(.timeLimit(.minutes(1))) struct AuthenticationTests {
    static let server = DigestServer()
    /// A new server each time: another one may have met challenges at the same port.
    static var right: Authentication { .digest(user: server.user, password: server.password) }

    static let bodies: [(String, Body)] = {
        let content = BodyTests.content
        let chunks = Observable<[UInt8], NetworkError>.sequence(BodyTests.pieces)
        return [
            ("none", .empty), ("few bytes", .bytes([1, 2, 3])), ("many bytes", .bytes(content)),
            ("chunks once", .stream(chunks, length: Int64(content.count))),
            ("chunks of no length", .stream(chunks)),
        ]
    }()

    @Test(arguments: DigestServer.Algorithm.allCases, bodies.map(\.0))
    func aChallengeIsAnswered(algorithm: DigestServer.Algorithm, name: String) async throws {
        let server = try DigestServer(algorithm: algorithm).serve()
        let body = try #require(Self.bodies.first { $0.0 == name }).1
        try await withTransport { transport in
            var request = try Request.to(
                server.baseURL + "/a?b=c", method: name == "none" ? .get : .post, body: body)
            try request.authenticate(by: Self.right)
            for _ in 0..<2 {
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
                #expect(log.head?.status == .ok)
                #expect(log.body == Array("well".utf8))
            }
            // Other requests are not authenticated by it.
            #expect(try await transport.get(server.baseURL).status == .unauthorized)
        }
        let requests = server.record.requests
        // The challenge is remembered; a request with content that can be sent only once waits for its own
        // nevertheless.
        #expect(
            requests.map { $0.field("Authorization") != nil }
                == (body.isReplayable ? [false, true, true, false] : [false, true, false, true, false]))
        let content: [UInt8] =
            switch name {
            case "none": []
            case "few bytes": [1, 2, 3]
            default: BodyTests.content
            }
        #expect(requests[0].body.isEmpty)
        #expect(Bytes(requests[1].body) == Bytes(content))
    }

    /// RFC 7616 §3.6, over sockets.
    @Test func aSessionCostsOneChallenge() async throws {
        let server = try Self.server.serve()
        try await withTransport { transport in
            var configuration = ClientConfiguration(baseURL: server.baseURL)
            configuration.authentication = Self.right
            configuration.options.retry = .never
            let client = Client(configuration: configuration, transport: transport)
            for _ in 0..<20 {
                let (one, other) = (
                    try await client.get("/a").value(), try await client.post("/a", ["b": 1]).value()
                )
                #expect(one.text == "well" && other.text == "well")
            }
        }
        let requests = server.record.requests
        #expect(requests.count == 41)
        #expect(requests.count { $0.field("Authorization") == nil } == 1)
        let counts = requests.compactMap { $0.field("Authorization")?.firstRange(of: "nc=000000") }
        #expect(counts.count == 40)
    }

    @Test(arguments: ["GET", "POST"])
    func aWrongPasswordIsTriedOnce(method: String) async throws {
        let server = try Self.server.serve()
        try await withTransport { transport in
            var request = try Request.to(
                server.baseURL, method: try #require(HTTPRequest.Method(method)),
                body: method == "POST" ? .bytes([1]) : .empty)
            try request.authenticate(by: .digest(user: Self.server.user, password: "wrong"))
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
            #expect(log.head?.status == .unauthorized)
            #expect(log.body == Array("no".utf8))
        }
        #expect(server.record.requests.count == 2)
    }

    /// The first request is without content, and its response is not the result.
    @Test(arguments: ["GET", "POST", "DELETE"])
    func aServerThatAsksForNothingAnswers(method: String) async throws {
        let server = try RawServer { request in [.respond(body: "\(request.body.count)")] }
        try await withTransport { transport in
            var request = try Request.to(
                server.baseURL, method: try #require(HTTPRequest.Method(method)),
                body: method == "POST" ? .bytes([1]) : .empty)
            try request.authenticate(by: Self.right)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            #expect(log.kinds.filter { $0 != "uploaded" } == ["head", "chunk", "finished"])
            #expect(log.body == Array(method == "POST" ? "1".utf8 : "0".utf8))
        }
        #expect(server.record.requests.count == (method == "POST" ? 2 : 1))
    }

    @Test func aServerThatAsksForSomethingElseIsNotAnswered() async throws {
        let server = try RawServer { _ in
            [.respond(401, ["WWW-Authenticate": "Basic realm=\"tea\""], body: "no")]
        }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL)
            try request.authenticate(by: Self.right)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.head?.status == .unauthorized)
            #expect(log.body == Array("no".utf8))
        }
        #expect(server.record.requests.count == 1)
    }

    @Test(arguments: [Self.right, .basic(user: "anna", password: "secret"), .bearer("secret")])
    func anotherOriginGetsNoCredentials(_ authentication: Authentication) async throws {
        let other = try Self.server.serve()
        let server = try RawServer { _ in [.respond(307, ["Location": other.baseURL + "/"])] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL)
            try request.authenticate(by: authentication)
            let log = try await Recording(transport.send(request, following: RedirectPolicy())).ended()
            #expect(log.head?.status == .unauthorized)
        }
        #expect(other.record.requests.count == 1)
        #expect(other.record.requests.allSatisfy { $0.field("Authorization") == nil })
    }

    @Test func aClientHasThemForItsOwnOriginOnly() async throws {
        let (server, other) = (try Self.server.serve(), try Self.server.serve())
        try await withTransport { transport in
            var configuration = ClientConfiguration(baseURL: server.baseURL)
            configuration.authentication = Self.right
            configuration.allowsOtherOrigins = true
            configuration.options.retry = .never
            let client = Client(configuration: configuration, transport: transport)
            let answer = try await client.get("/a").value()
            #expect(answer.text == "well")
            let error = await #expect(throws: NetworkError.self) {
                try await client.get(other.baseURL + "/b").value()
            }
            #expect(error?.status == .unauthorized)
        }
        #expect(other.record.requests.count == 1)
    }

    @Test(
        arguments: [
            (.basic(user: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            (.basic(user: "anna", password: "ä:"), "Basic YW5uYTrDpDo="), (.bearer("abc.d"), "Bearer abc.d"),
        ] as [(Authentication, String)])
    func aFieldIsEnoughForSome(authentication: Authentication, field: String) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL)
            try request.authenticate(by: Self.right)
            try request.authenticate(by: authentication)
            _ = try await Recording(transport.send(request)).ended()
        }
        #expect(server.record.requests.map { $0.field("Authorization") } == [field])
    }

    @Test func nothingSecretIsShown() throws {
        var request = try Request.to("http://a.test")
        for authentication: Authentication in [
            .basic(user: "name1", password: "secret1"), .bearer("secret1"),
            .digest(user: "name1", password: "secret1"),
        ] {
            try request.authenticate(by: authentication)
            var shown = "\(request) \(authentication) \(String(reflecting: request))"
            dump(request, to: &shown)
            dump(authentication, to: &shown)
            #expect(!shown.contains("1\""))
            #expect(!shown.contains("secret1"))
            #expect(!shown.contains("name1"))
        }
    }

    @Test(
        arguments: [
            .basic(user: "a:b", password: ""), .basic(user: "a:\u{301}b", password: ""),
            .basic(user: "a\n", password: ""),
            .digest(user: "a", password: "b\r\n"), .digest(user: "a:b", password: ""),
        ] as [Authentication])
    func whatIsAmbiguousIsRefused(_ authentication: Authentication) throws {
        var request = try Request.to("http://a.test")
        let error = #expect(throws: NetworkError.self) { try request.authenticate(by: authentication) }
        #expect(error?.code == .invalidParameters)
    }
}
