#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import RxNetworking
import Synchronization
import TestServers
import Testing

@testable import RxAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The listener for the redirect, on sockets.
@Suite struct LoopbackTests {
    private typealias Event = LoopbackListener.Event

    private static func listener(
        port: UInt16 = 0, path: String = "/callback",
        at address: OAuth.Redirect.LoopbackAddress = .automatic, sockets: LoopbackSockets = .system
    ) -> LoopbackListener {
        LoopbackListener(port: port, path: path, at: address, on: .shared, sockets: sockets) { response in
            guard response.state == "S" else { return nil }
            return response.code.map { .success($0) }
                ?? .failure(NetworkError(.oauthRefused, response.error ?? ""))
        }
    }

    private static func port(of url: String) -> UInt16 {
        URL(string: url).flatMap { $0.port }.flatMap { UInt16(exactly: $0) } ?? 0
    }

    /// Runs a login: `visit` gets the port, and the result is that of the listener.
    private static func login(
        _ listener: LoopbackListener, visit: @escaping @Sendable (UInt16) async throws -> Void
    ) async throws -> String {
        for try await event in listener.events.values(buffering: .unbounded) {
            switch event {
            case .listening(let url): try await visit(port(of: url))
            case .code(let code, _): return code
            }
        }
        throw NetworkError(.noValue, "")
    }

    private static func get(_ target: String, port: UInt16) async throws -> String {
        try await PlainClient.exchange("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", port: port)
    }

    /// One response is answered with a page, and then nobody listens any more.
    @Test func oneResponse() async throws {
        let pages = Notes<String>(), ports = Notes<UInt16>()
        let code = try await Self.login(Self.listener()) { port in
            ports.add(port)
            pages.add(try await Self.get("/callback?code=C%2B1&state=S", port: port))
        }
        #expect(code == "C+1")
        let page = try #require(pages.all.first)
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n") && page.contains("You can close this window"))
        #expect(page.contains("Cache-Control: no-store") && !page.contains("C+1"))
        let port = try #require(ports.all.first)
        await #expect(throws: (any Error).self) { try await Self.get("/callback?code=D&state=S", port: port) }
    }

    /// Requests that are no response to this login are answered, and the listener stays.
    @Test func strangers() async throws {
        let pages = Notes<String>()
        let code = try await Self.login(Self.listener()) { port in
            for target in [
                "/favicon.ico", "/callback?code=X&state=T", "/callback", "/callbackx?code=X&state=S",
                "/callback?state=S&state=S", "//callback?state=S",
            ] {
                pages.add(String(try await Self.get(target, port: port).prefix(12)))
            }
            for text in [
                "POST /callback?code=X&state=S HTTP/1.1\r\n\r\n", "\u{0}\u{1}\r\n\r\n",
                "GET  / HTTP/1.1\r\n\r\n",
            ] {
                pages.add(String(try await PlainClient.exchange(text, port: port).prefix(12)))
            }
            _ = try await Self.get("/callback?code=C&state=S", port: port)
        }
        #expect(code == "C")
        #expect(
            pages.all.map { $0.suffix(3) } == ["404", "400", "400", "404", "400", "404", "400", "400", "400"])
    }

    /// A refusal is answered as well, and ends the login.
    @Test func refusal() async throws {
        let pages = Notes<String>()
        let error = await #expect(throws: NetworkError.self) {
            try await Self.login(Self.listener()) { port in
                pages.add(try await Self.get("/callback?error=access_denied&state=S", port: port))
            }
        }
        #expect(error?.code == .oauthRefused && pages.all.first?.contains("has failed") == true)
    }

    /// A fixed port can be used again at once, and a taken one says so.
    @Test func fixedPort() async throws {
        let ports = Notes<UInt16>()
        for _ in 0..<3 {
            _ = try await Self.login(Self.listener(port: ports.all.first ?? 0)) { port in
                ports.add(port)
                _ = try await Self.get("/callback?code=C&state=S", port: port)
            }
        }
        #expect(Set(ports.all).count == 1)
        let error = await #expect(throws: NetworkError.self) {
            try await Self.login(Self.listener()) { port in
                _ = try await Self.login(Self.listener(port: port)) { _ in }
            }
        }
        #expect(error?.code == .oauthLoopback && error?.systemError == Int(EADDRINUSE))
        #expect(error?.message.contains("is taken; end the program that uses it") == true)
    }

    /// Whether this machine has the loopback of IPv6.
    private static let hasIPv6: Bool = {
        let descriptor = LoopbackSockets.system.open(.ipv6)
        defer { _ = close(descriptor) }
        return descriptor >= 0 && LoopbackHost.ipv6.bind(descriptor, to: 0) != nil
    }()

    /// The response arrives at the address of the redirect URL, and `automatic` is that of IPv6 where there is no IPv4.
    @Test(
        .enabled(if: hasIPv6),
        arguments: [
            (.ipv6, nil, "[::1]"), (.automatic, EAFNOSUPPORT, "[::1]"), (.automatic, nil, "127.0.0.1"),
            (.ipv4, nil, "127.0.0.1"),
        ] as [(OAuth.Redirect.LoopbackAddress, Int32?, String)])
    func addresses(address: OAuth.Redirect.LoopbackAddress, failure: Int32?, host: String) async throws {
        let sockets = LoopbackSockets(open: { place in
            guard place == .ipv4, let failure else { return LoopbackSockets.system.open(place) }
            errno = failure
            return -1
        })
        var pages: [String] = []
        for try await event in Self.listener(at: address, sockets: sockets).events.values(
            buffering: .unbounded)
        {
            switch event {
            case .listening(let url):
                #expect(url.hasPrefix("http://\(host):") && url.hasSuffix("/callback"))
                let page = Client(baseURL: "http://\(host):\(Self.port(of: url))")
                    .get("/callback", query: ["code": "C", "state": "S"])
                pages.append(String(decoding: try await page.value().body, as: UTF8.self))
            case .code(let code, let url): #expect(code == "C" && url.contains(host))
            }
        }
        #expect(pages.count == 1 && pages[0].contains("You can close this window"))
    }

    /// A machine without the address that the app requires.
    @Test(arguments: [EAFNOSUPPORT, EMFILE])
    func missingAddress(failure: Int32) async throws {
        let sockets = LoopbackSockets(open: { _ in
            errno = failure
            return -1
        })
        for address in OAuth.Redirect.LoopbackAddress.allCases {
            let error = await #expect(throws: NetworkError.self) {
                try await Self.login(Self.listener(at: address, sockets: sockets)) { _ in }
            }
            #expect(error?.code == .oauthLoopback && error?.systemError == Int(failure))
        }
    }

    /// Cancelling closes the socket.
    @Test func cancelled() async throws {
        let port = try await Self.listener().events.map { event throws(NetworkError) in
            guard case .listening(let url) = event else { return UInt16(0) }
            return Self.port(of: url)
        }
        .value()
        #expect(port > 0)
        // The loop closes the socket before it runs this.
        await withCheckedContinuation { continuation in EventLoop.shared.schedule { continuation.resume() } }
        await #expect(throws: (any Error).self) { try await Self.get("/", port: port) }
    }

    /// Without descriptors, the listener waits instead of running hot, and takes the connection later.
    @Test func noDescriptors() async throws {
        let attempts = Notes<Int>()
        let sockets = LoopbackSockets(
            accept: { listener in
                attempts.add(1)
                guard attempts.all.count > 3 else {
                    errno = EMFILE
                    return -1
                }
                return LoopbackSockets.system.accept(listener)
            }, pause: 20)
        let start = ContinuousClock.now
        let code = try await Self.login(Self.listener(sockets: sockets)) { port in
            _ = try await Self.get("/callback?code=C&state=S", port: port)
        }
        #expect(code == "C" && attempts.all.count <= 6)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
    }

    /// More connections than are read at a time wait for their turn.
    @Test func manyConnections() async throws {
        let code = try await Self.login(Self.listener()) { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { _ = try await Self.get("/x", port: port) } }
                try await group.waitForAll()
            }
            _ = try await Self.get("/callback?code=C&state=S", port: port)
        }
        #expect(code == "C")
    }

    /// Paths that no redirect can have.
    @Test(arguments: ["", "callback", "/a b", "/a?b", "/a#b", "/ä"])
    func paths(path: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await Self.login(Self.listener(path: path)) { _ in }
        }
        #expect(error?.code == .invalidConfiguration)
    }

    /// A whole login: the listener's URL is the redirect URL of both requests.
    @Test func wholeLogin() async throws {
        let calls = Notes<String>()
        let transport = LoopTransport { request in
            calls.add(AuthorizationServerDouble.Call(request)["redirect_uri"] ?? "")
            return (200, #"{"access_token":"T1","token_type":"Bearer"}"#)
        }
        var metadata = OAuth.Metadata(
            issuer: "https://id.test", authorizationEndpoint: URL(string: "https://id.test/authorize"),
            tokenEndpoint: URL(string: "https://id.test/token"))
        metadata.returnsIssuer = true
        let pages = Notes<AuthorizationURL>()
        let login = OAuth.Login(
            .known(metadata), client: .public("cli"),
            grant: .authorizationCode { url in
                let page = AuthorizationURL(url)
                pages.add(page)
                let port = Self.port(of: page["redirect_uri"] ?? "")
                Task {
                    _ = try await Self.get(
                        "/callback?code=C&iss=https://id.test&state=\(page["state"] ?? "")", port: port)
                }
            })
        login.transport = transport
        #expect(try await login.logIn().value().token == "T1")
        let redirect = try #require(pages.all.first?["redirect_uri"])
        #expect(redirect.hasPrefix("http://127.0.0.1:") && redirect.hasSuffix("/callback"))
        #expect(calls.all == [redirect])
    }

    // MARK: - Requests

    /// Heads in parts of any size, and those that are none.
    @Test(
        arguments: [
            ("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n", .get("/a?b")), ("\r\n\r\nGET / HTTP/1.0\n\n", .get("/")),
            ("GET /a#b HTTP/1.1\r\n\r\n", .get("/a")), ("GET http://x/ HTTP/1.1\r\n\r\n", .malformed),
            ("GET / HTTP/2\r\n\r\n", .malformed), ("GET /\r\n\r\n", .malformed),
            ("GET /\rx HTTP/1.1\r\n\r\n", .malformed),
            ("get / HTTP/1.1\r\n\r\n", .malformed), ("GET /\u{E4} HTTP/1.1\r\n\r\n", .malformed),
            ("GET / HTTP/1.1\r\nHost: x\r\n", nil), ("GET / HTTP/1.1", nil),
        ] as [(String, LoopbackRequest?)])
    func heads(text: String, request: LoopbackRequest?) {
        for size in [1, 2, 7, 1000] {
            var parser = LoopbackRequest.Parser()
            var rest = Array(text.utf8)[...]
            var found: LoopbackRequest?
            while found == nil, !rest.isEmpty {
                found = parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == request, "\(text)")
        }
    }

    /// A head without end is not read forever.
    @Test func endlessHeads() {
        var parser = LoopbackRequest.Parser()
        let line = Array("a: b\r\n".utf8)
        var count = 0
        while parser.append(line[...]) == nil { count += line.count }
        #expect(count <= LoopbackRequest.sizeLimit)
    }
}

/// A transport that answers on the shared loop.
private struct LoopTransport: Transport {
    let answer: @Sendable (Request) -> (status: Int, body: String)

    var scheduler: any Scheduler { EventLoop.shared }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        .deferred(on: scheduler) {
            let (status, body) = answer(request)
            let head = ResponseHead(status: HTTPResponse.Status(code: status))
            return .sequence([.head(head), .chunk(Array(body.utf8)), .finished(TransferMetrics())])
        }
    }
}
#endif
