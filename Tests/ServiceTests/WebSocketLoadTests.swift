import FoundationEssentials
import RxNetworking
import TestServers
import Testing

/// Large messages, many messages and many connections.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct WebSocketLoadTests {
    /// A message of 32 MB there and back.
    @Test(arguments: SocketPackage.allCases)
    func large(package: SocketPackage) async throws {
        let client = Client(baseURL: try await package.shared().baseURL)
        var bytes = WebSocketTests.noise(1 << 16)
        while bytes.count < 32 << 20 { bytes += bytes }
        let message = WebSocketMessage.binary(bytes)
        for compression in [WebSocketCompression.off, .permessageDeflate] {
            let conversation = Conversation(client, "/echo", ["test": "large"]) {
                $0.messageLimit = 33 << 20
                $0.compression = compression
                $0.compression.level = 1
            }
            #expect(try await conversation.echoes(message))
            try await conversation.close()
        }
    }

    /// 10,000 messages each way, in order and in little memory.
    @Test(arguments: SocketPackage.allCases)
    func many(package: SocketPackage) async throws {
        // A process of its own, since it looks at all memory that the process has used.
        await #expect(processExitsWith: .success) { [package] in
            let server = try await Service.sockets(package)
            let client = Client(baseURL: server.baseURL)
            let before = try peakMemory()
            let counting = Conversation(client, "/count", ["count": 10_000, "size": 3000])
            for number in 0..<10_000 {
                guard case .text(let text) = try await counting.message() else { break }
                guard text.utf8.count == 3000, text.hasPrefix("\(number) ") else {
                    Issue.record("\(text.prefix(20)) instead of \(number)")
                    break
                }
            }
            try await counting.close()

            let echo = Conversation(client, "/echo")
            let sink = echo.sink
            async let sending: Void = {
                for number in 0..<10_000 { try await sink.send("\(number)").value() }
            }()
            for number in 0..<10_000 { #expect(try await echo.message() == .text("\(number)")) }
            try await sending
            try await echo.close()
            #expect(try peakMemory() - before < 24 << 20)
        }
    }

    /// 64 connections at once.
    @Test(arguments: SocketPackage.allCases)
    func connections(package: SocketPackage) async throws {
        let server = try await package.shared()
        let client = Client(baseURL: server.baseURL)
        let open = Board(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let conversation = Conversation(client, "/echo", ["test": "crowd"])
                    _ = try await conversation.opened()
                    // All of them are open before the first one is used.
                    open.update { $0 += 1 }
                    _ = try await open.until { $0 == 64 ? () : nil }
                    for index in 0..<10 {
                        let message = WebSocketMessage.text("\(number): \(index)")
                        #expect(try await conversation.echoes(message))
                    }
                    try await conversation.close()
                }
            }
            try await group.waitForAll()
        }
        let codes = try await server.entries(.closed, "test=crowd", atLeast: 64).map(\.code)
        #expect(codes == Array(repeating: 1000, count: 64))
    }
}

/// The maximum memory that this process has used so far, in bytes.
private func peakMemory() throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split(separator: " ")[1])) << 10
}
