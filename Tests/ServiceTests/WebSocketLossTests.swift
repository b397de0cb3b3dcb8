import RxNetworking
import TestServers
import Testing

/// Servers that are killed.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct WebSocketLossTests {
    /// A killed server is a lost connection.
    @Test(arguments: SocketPackage.allCases)
    func killed(package: SocketPackage) async throws {
        let server = try await Service.sockets(package)
        let conversation = Conversation(Client(baseURL: server.baseURL), "/echo")
        #expect(try await conversation.echoes(.text("a")))
        try await server.kill()
        let failure = await conversation.failure()
        #expect(failure?.code == .connectionLost)
        #expect(failure?.closeCode == 1006)
        #expect(conversation.sink.state.value == .idle)
    }

    /// When the server is there again, the connection is, and what waited is sent.
    @Test(arguments: SocketPackage.allCases)
    func killedAndBack(package: SocketPackage) async throws {
        let server = try await Service.sockets(package)
        let conversation = Conversation(Client(baseURL: server.baseURL), "/echo", ["test": "back"]) {
            $0.reconnection = .always(
                .fullJitter(base: .milliseconds(20), cap: .milliseconds(200)),
                resumption: { _ in [.text("subscribe")] })
        }
        #expect(try await conversation.echoes(.text("a")))
        try await server.kill()
        var causes: [NetworkError.Code?] = []
        while causes.count < 3, let event = try await conversation.next() {
            if case .reconnecting(after: _, because: let error) = event { causes.append(error?.code) }
        }
        #expect(causes == [.connectionLost, .connect, .connect])
        let sending = conversation.sink.send("waited")
        async let sent: Void = sending.value()
        let successor = try await Service.sockets(package, on: server.port)
        #expect(try await conversation.opened()?.isCompressed == true)
        #expect(try await conversation.message() == .text("subscribe"))
        #expect(try await conversation.message() == .text("waited"))
        try await sent
        try await conversation.close()
        #expect(try await successor.entry(.closed, "test=back").code == 1000)
    }
}
