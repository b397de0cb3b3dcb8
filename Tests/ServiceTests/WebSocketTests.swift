import FoundationEssentials
import HTTPTypes
import RxNetworking
import TestServers
import Testing

/// WebSockets of three packages from PyPI.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct WebSocketTests {
    static let messages: [WebSocketMessage] = [
        .text(""), .text("hello"), .text("grüße, 世界, 👩‍👩‍👧"), .binary([]), .binary([0, 1, 255]),
        .text(String(repeating: "tea ", count: 16_384)), .binary((0..<125).map { $0 }),
        .binary((0..<126).map { $0 }), .binary(noise(65_535)), .binary(noise(65_536)),
        .binary(noise(300_000)),
    ]

    /// Bytes that do not compress.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    /// Messages come back as they were sent, whole and in fragments.
    @Test(arguments: SocketPackage.allCases)
    func echo(package: SocketPackage) async throws {
        let client = Client(baseURL: try await package.shared().baseURL)
        for frameSize in [nil, 1000] {
            let conversation = Conversation(client, "/echo", ["test": "echo"]) { $0.frameSize = frameSize }
            for message in Self.messages { #expect(try await conversation.echoes(message)) }
            try await conversation.close()
        }
        struct Note: Codable, Equatable { let id: Int, text: String }
        let sink = WebSocketSink()
        let note = Note(id: 7, text: "tee")
        let notes = client.webSocket("/echo", sending: sink).messages(of: Note.self)
        async let received = notes.value()
        try await sink.send(json: note).value()
        #expect(try await received == note)
    }

    /// The server's choice of a subprotocol is there, or that it made none.
    @Test(arguments: SocketPackage.allCases)
    func subprotocols(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        for (offered, chosen) in [(["graphql-ws", "chat"], "chat"), (["graphql-ws"], nil), ([], nil)] {
            let mark = "protocol-\(offered.count)"
            let conversation = Conversation(client, "/echo", ["test": mark]) {
                $0.subprotocols = offered
            }
            #expect(try await conversation.opened()?.subprotocol == chosen)
            try await conversation.close()
            #expect(try await server.entry(.opened, mark).protocol == chosen)
        }
    }

    /// Pings are answered on both sides.
    @Test(arguments: SocketPackage.allCases)
    func pings(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        let conversation = Conversation(client, "/ping", ["payload": "from the server", "test": "ping"])
        var seen: [String] = []
        while seen.count < 2, let event = try await conversation.next() {
            switch event {
            case .opened: try await conversation.sink.ping(Array("from the client".utf8)).value()
            case .ping(let payload): seen.append("ping " + String(decoding: payload, as: UTF8.self))
            case .pong(let payload): seen.append("pong " + String(decoding: payload, as: UTF8.self))
            default: seen.append("\(event)")
            }
        }
        #expect(seen.sorted() == ["ping from the server", "pong from the client"])
        #expect(try await server.entry(.ping, "test=ping").payload == "from the client")
        #expect(try await server.entry(.pong, "test=ping").payload == "from the server")
        try await conversation.close()
    }

    /// Each side sees the other's code and reason.
    @Test(arguments: SocketPackage.allCases)
    func closes(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        let reason = "tschüss, 世界"
        for code in [1000, 1001, 1003, 3000, 4999] as [UInt16] {
            let conversation = Conversation(client, "/echo", ["test": "leave-\(code)"])
            #expect(try await conversation.echoes(.text("a")))
            try await conversation.close(WebSocketCloseCode(rawValue: code), reason)
            let entry = try await server.entry(.closed, "leave-\(code)")
            #expect(entry.code == Int(code))
            #expect(entry.reason == reason)
        }
        for code in [1000, 1001, 1002, 1008, 1011, 3000, 4999] {
            let conversation = Conversation(
                client, "/close", ["code": code, "reason": reason, "test": "left-\(code)"])
            _ = try await conversation.opened()
            guard case .closing(let received, let text) = try await conversation.next() else {
                Issue.record("no closing")
                return
            }
            #expect(received.rawValue == UInt16(code))
            #expect(text == reason)
            let failure = await conversation.failure()
            #expect(failure?.code == (code < 1002 ? nil : .webSocketClosed))
            #expect(failure?.closeCode == (code < 1002 ? nil : code))
            #expect(try await server.entry(.closed, "left-\(code)").code == code)
        }
    }

    /// A cancel closes with 1000, a limit with 1009.
    @Test(arguments: SocketPackage.allCases)
    func leaving(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        _ = try await client.webSocket("/echo", query: ["test": "cancel"]).value()
        #expect(try await server.entry(.closed, "test=cancel").code == 1000)

        let conversation = Conversation(client, "/large", ["size": 2000, "test": "limit"]) {
            $0.messageLimit = 1999
        }
        let failure = await conversation.failure()
        #expect(failure?.code == .webSocketProtocol)
        #expect(failure?.closeCode == 1009)
        #expect(try await server.entry(.closed, "test=limit").code == 1009)
    }

    /// A handshake that is refused with 401 logs in and is sent again.
    @Test(arguments: SocketPackage.allCases)
    func login(package: SocketPackage) async throws {
        let server = try await package.shared()
        let refused = await Conversation(Client(baseURL: server.baseURL), "/private").failure()
        #expect(refused?.status == .unauthorized)

        var configuration = ClientConfiguration(baseURL: server.baseURL)
        let logins = Board(0)
        configuration.session = Session(credential: Credential(token: "stale")) {
            logins.update { $0 += 1 }
            return .just(Credential(token: "fresh"))
        }
        let client = Client(configuration: configuration)
        for _ in 0..<2 {
            let conversation = Conversation(client, "/private")
            #expect(try await conversation.echoes(.text("a")))
            try await conversation.close()
        }
        #expect(logins.contents == 1)
    }

    /// Cookies and the query are sent, and cookies of the handshake kept.
    @Test(
        arguments: SocketPackage.allCases
    )
    func cookies(package: SocketPackage) async throws {
        let server = try await package.shared()
        var configuration = ClientConfiguration(baseURL: server.baseURL)
        configuration.cookies = CookieJar()
        let client = Client(configuration: configuration)
        for (index, cookie) in [nil, "place=window"].enumerated() {
            let conversation = Conversation(client, "/echo", ["test": "cookie-\(index)", "q": "a b&c"])
            _ = try await conversation.opened()
            try await conversation.close()
            let entry = try await server.entry(.opened, "cookie-\(index)")
            #expect(entry.cookie == cookie)
            #expect(entry.target.contains("q=a%20b%26c"))
        }
    }

    /// A redirected handshake is followed as the policy says.
    @Test(arguments: SocketPackage.allCases)
    func redirects(package: SocketPackage) async throws {
        let server = try await package.shared()
        func conversation(_ policy: RedirectPolicy) -> Conversation {
            var configuration = ClientConfiguration(baseURL: server.baseURL)
            configuration.redirects = policy
            return Conversation(
                Client(configuration: configuration), "/redirect", ["to": "/echo?test=redirected"])
        }
        let followed = conversation(RedirectPolicy())
        #expect(try await followed.echoes(.text("a")))
        try await followed.close()
        #expect(try await server.entry(.opened, "test=redirected").target == "/echo?test=redirected")
        #expect(await conversation(.manual).failure()?.status == .found)
        #expect(await conversation(.refused).failure()?.code == .invalidRedirect)
    }
}
