import TestServers
import Testing

@Suite(.timeLimit(.minutes(2))) struct EventTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    /// Events come as sent; a new connection names the last one; 204 is the end.
    @Test func reconnects() async throws {
        let gate = try Gate()
        let server = try RawServer([
            [
                .readRequest, .send(Self.head + "retry: 100\n\n"), .wait(gate),
                .send("event: tea\nid: 7\ndata: one\ndata: two\n\ndata: three\n\n: no event\n\n"), .close,
            ],
            [.readRequest, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close],
        ])
        let driver = try DriverProcess()
        try driver.send("sse-open", 2, ["url": server.baseURL, "headers": [["X-A", "b"]]])
        #expect(try await driver.answer(to: 2).sse == "open")
        gate.open()
        let first = try await driver.answer(to: 2), second = try await driver.answer(to: 2)
        #expect(
            [first.sse, first.type, first.data, first.lastEventId] == ["message", "tea", "one\ntwo", "7"])
        #expect(
            [second.sse, second.type, second.data, second.lastEventId] == [
                "message", "message", "three", "7",
            ])
        let broken = try await driver.answer(to: 2)
        #expect(broken.sse == "error" && broken.reconnecting == true)
        let over = try await driver.answer(to: 2)
        #expect(over.sse == "error" && over.reconnecting == false)
        let requests = server.record.requests
        #expect(requests.map { $0.field("Last-Event-ID") } == [nil, "7"])
        #expect(requests.allSatisfy { $0.field("X-A") == "b" && $0.field("Accept") == "text/event-stream" })
        #expect(try await driver.end().answers.isEmpty)
    }

    /// Closing ends it without an answer, and so does the end of input.
    @Test func closing() async throws {
        let server = try RawServer([[.readRequest, .send(Self.head), .waitForClientClose]])
        let driver = try DriverProcess()
        for id in 1...2 {
            try driver.send("sse-open", id, ["url": server.baseURL])
            #expect(try await driver.answer(to: id).sse == "open")
        }
        try driver.send("sse-close", 1)
        #expect(try await server.connectionEnded(0) == .clientClosed)
        let end = try await driver.end()
        #expect(end.answers.isEmpty && end.ending == .exited(0))
    }

    @Test(arguments: [
        ("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "status"),
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n", "invalidResponse"),
    ])
    func whatIsNoEventSource(answer: String, code: String) async throws {
        let server = try RawServer([[.readRequest, .send(answer), .close]])
        let driver = try DriverProcess()
        try driver.send("sse-open", 2, ["url": server.baseURL])
        let end = try await driver.answer(to: 2)
        #expect(end.sse == "error" && end.reconnecting == false)
        #expect(end.code == code)
    }
}
