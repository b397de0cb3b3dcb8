import RxNetworking
import TestServers
import Testing

/// `permessage-deflate` (RFC 7692) with all its parameters, as either side asks for them.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct WebSocketCompressionTests {
    /// Messages that refer to earlier ones, by more than any window, and one that does not compress.
    private static let messages: [WebSocketMessage] = {
        let words = WebSocketTests.noise(30_000).map { String($0, radix: 3) }.joined(separator: " ")
        return [
            .text(words), .text("short"), .text(String(words.suffix(600))), .text(words),
            .binary(WebSocketTests.noise(5000)), .binary(Array(words.utf8)), .text(""),
        ]
    }()

    private func exchange(
        _ client: Client, _ query: Parameters.Values, isCompressed: Bool = true,
        _ change: (inout WebSocketCompression) -> Void = { _ in }
    ) async throws {
        let conversation = Conversation(client, "/echo", query) { change(&$0.compression) }
        #expect(try await conversation.opened()?.isCompressed == isCompressed)
        for message in Self.messages { #expect(try await conversation.echoes(message)) }
        try await conversation.close()
    }

    /// Windows and contexts that the client asks for.
    @Test(arguments: SocketPackage.allCases)
    func offers(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        for bits in 9...15 {
            for contexts in 0..<4 {
                let mark = "offer-\(bits)-\(contexts)"
                try await exchange(client, ["test": mark]) {
                    ($0.serverWindowBits, $0.clientWindowBits) = (bits, 24 - bits)
                    ($0.keepsServerContext, $0.keepsClientContext) = (contexts & 1 == 0, contexts & 2 == 0)
                }
                let agreed = try #require(try await server.entry(.opened, mark).extensions)
                #expect(agreed.hasPrefix("permessage-deflate"))
                #expect(agreed.contains("server_max_window_bits=\(bits)") == (bits < 15))
                #expect(agreed.contains("server_no_context_takeover") == (contexts & 1 == 1))
            }
        }
        try await exchange(client, ["test": "none"], isCompressed: false) { $0.isOffered = false }
        #expect(try await server.entry(.opened, "test=none").extensions == nil)
        try await exchange(client, ["test": "small"]) { $0.minimumSize = 0 }
    }

    /// Windows and contexts that the server asks for.
    @Test(arguments: [SocketPackage.websockets, .wsproto])
    func demands(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        for bits in 9...15 {
            for contexts in ["", ",server_no_context_takeover", ",client_no_context_takeover"] {
                let parameters = "client_max_window_bits=\(bits)\(contexts)"
                try await exchange(client, ["deflate": parameters, "test": "demand"])
            }
        }
        let agreed = try await server.entries(.opened, "test=demand", atLeast: 21).compactMap(\.extensions)
        for bits in 9...14 {
            #expect(agreed.count { $0.contains("client_max_window_bits=\(bits)") } == 3)
        }
        #expect(agreed.count { $0.contains("client_no_context_takeover") } == 7)
    }

    /// A server that declines.
    @Test(arguments: SocketPackage.allCases)
    func off(package: SocketPackage) async throws {
        let client = Client(baseURL: try await package.shared().baseURL)
        try await exchange(client, ["deflate": "off"], isCompressed: false)
    }
}
