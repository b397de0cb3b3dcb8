import Testing

@testable import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.timeLimit(.minutes(1)))
struct RawServerTests {
    @Test func sendsExactlyTheScriptAndRecordsTheRequest() async throws {
        let server = try RawServer([
            [.readRequest, .send("HTTP/1.1 2"), .sendInPieces("00 X\r\n\r\nend"), .close]
        ])
        do {
            let client = try PlainClient(port: server.port)
            try client.send(
                "POST /a?b=c HTTP/1.1\r\nContent-Length: 5\r\nX-One: 1\r\nx-one:  2 \r\n\r\nhello")
            #expect(try client.receive() == "HTTP/1.1 200 X\r\n\r\nend")
        }
        let request = try await server.nextRequest()
        #expect(request.method == "POST")
        #expect(request.target == "/a?b=c")
        #expect(request.fields.map(\.name) == ["Content-Length", "X-One", "x-one"])
        #expect(request.field("content-length") == "5")
        #expect(request.text == "hello")
        #expect(try await server.connectionEnded(0) == .clientClosed)
        #expect(server.record.connections[0].bytesSent == 21)
    }

    @Test func decodesChunkedRequestsAndKeepsWhatIsPipelined() async throws {
        let server = try RawServer { .init(arrayLiteral: .respond(body: "\($0.index)\($0.text)")) }
        let client = try PlainClient(port: server.port)
        try client.send(
            "PUT /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"
                + "GET /2 HTTP/1.1\r\n\r\n")
        let expected = ["0abcd", "1"].map {
            "HTTP/1.1 200 Scripted\r\nContent-Length: \($0.count)\r\n\r\n\($0)"
        }
        #expect(try client.receive(limit: expected.joined().utf8.count) == expected.joined())
        #expect(server.record.requests.map(\.target) == ["/1", "/2"])
    }

    @Test(arguments: [[RawServer.Step.readRequest, .reset], [.closeWithoutReading]])
    func resets(script: [RawServer.Step]) async throws {
        let server = try RawServer([script])
        let client = try PlainClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        let error = #expect(throws: SystemError.self) { try client.receive() }
        #expect(error?.code == ECONNRESET)
        #expect(try await server.connectionEnded(0) == .script)
    }

    @Test func eachConnectionHasItsScriptAndTheLastOneStays() async throws {
        let server = try RawServer([[.send("a")], [.send("b")]])
        for expected in ["a", "b", "b"] {
            #expect(try PlainClient(port: server.port).receive() == expected)
        }
        #expect(try await server.connectionEnded(2) == .clientClosed)
        #expect(server.record.connections.count == 3)
    }

    @Test func aGateHoldsTheScriptBack() async throws {
        let gate = try Gate()
        let server = try RawServer([[.send("first"), .wait(gate), .send("second"), .close]])
        let client = try PlainClient(port: server.port)
        #expect(try client.receive(limit: 5) == "first")
        _ = try await server.until { $0.connections[0].bytesSent == 5 ? true : nil }
        gate.open()
        #expect(try client.receive() == "second")
    }

    @Test(arguments: [RawServer.Step.stall, .waitForClientClose])
    func noticesThatTheClientCloses(step: RawServer.Step) async throws {
        let server = try RawServer([[step]])
        do {
            let client = try PlainClient(port: server.port)
            try client.send("unread")
            _ = try await server.until { $0.connections.isEmpty ? nil : true }
            #expect(server.record.openConnections == 1)
        }
        #expect(try await server.connectionEnded(0) == .clientClosed)
    }

    @Test func anUnreadFloodStopsAtTheClient() async throws {
        let block = [UInt8](repeating: 7, count: 65_536)
        let server = try RawServer([[.sendRepeatedly(block, times: .max)]])
        do {
            let client = try PlainClient(port: server.port)
            _ = try client.receive(limit: 1)
            _ = try await server.until { $0.connections.first.flatMap { $0.sendStalls > 0 ? $0 : nil } }
        }
        #expect(try await server.connectionEnded(0) == .clientReset)
        #expect(server.record.connections[0].bytesSent > 65_536)
    }

    @Test func garbageIsRecordedAsSuch() async throws {
        let server = try RawServer([[.readRequest]])
        let client = try PlainClient(port: server.port)
        try client.send("\u{1}\u{2}\r\n\r\n")
        guard case .malformedRequest = try await server.connectionEnded(0) else {
            Issue.record("\(server.record)")
            return
        }
    }

    @Test func stoppingEndsEverythingAndFailsWhoWaits() async throws {
        let server = try RawServer([[.stall]])
        let client = try PlainClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        let waiting = Task { try await server.connectionEnded(1) }
        _ = try await server.until { $0.connections.isEmpty ? nil : true }
        server.stop()
        await #expect(throws: BoardStopped.self) { try await waiting.value }
        #expect(server.record.connections[0].end == .stopped)
        #expect(throws: SystemError.self) { _ = try PlainClient(port: server.port) }
    }

    @Test func waitingEndsWithTheTask() async throws {
        let server = try RawServer([[.stall]])
        let waiting = Task { try await server.nextRequest() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
