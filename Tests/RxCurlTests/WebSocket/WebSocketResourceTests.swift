import RxClient
import RxCurl
import RxHTTP
import RxLoop
import RxWebSocket
import TestServers
import Testing

/// The memory and the descriptors of WebSockets. Each test is a process of its own, since it looks at all that the
/// process has.
@Suite(.serialized, .timeLimit(.minutes(3))) struct WebSocketResourceTests {
    @Test func aThousandIdleConnectionsLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            // Answers the close frame, the first bytes that come, and ends the connection.
            let server = try RawServer { request in
                [.send(request.webSocketResponse()), .drop(1), .send([0x88, 0x02, 0x03, 0xE8]), .close]
            }
            EventLoop(name: "first").shutDown()
            let before = try openDescriptors()
            try await withTransport { transport in
                let client = Client(baseURL: server.baseURL, transport: transport)
                func open(_ count: Int) async throws {
                    let first = server.record.connections.count
                    let recordings = (0..<count).map { _ in
                        SocketRecording(client.webSocket("/"), on: transport.loop)
                    }
                    for recording in recordings { try await recording.event("opened") }
                    #expect(try openDescriptors() >= before + 2 * count)
                    for recording in recordings { recording.cancel() }
                    for index in first..<first + count {
                        #expect(try await server.connectionEnded(index) == .clientClosed)
                    }
                }
                try await open(1)
                let idle = try openDescriptors()
                try await open(1000)
                #expect(try await descriptorsReturn(to: idle))
            }
            #expect(try await descriptorsReturn(to: before))
        }
    }

    /// The server sends all the time; some of the subscribers have paused.
    @Test func cancellingAtAnyMomentLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            let messages = Array(
                repeating: [0x82, 0x7E, 0x04, 0] + [UInt8](repeating: 7, count: 1024), count: 16)
            let server = try RawServer { request in
                [
                    .send(request.webSocketResponse()),
                    .sendRepeatedly(Array(messages.joined()), times: 1 << 16),
                ]
            }
            EventLoop(name: "first").shutDown()
            let before = try openDescriptors()
            try await withTransport { transport in
                var settings = WebSocketSettings()
                settings.closeTimeout = .milliseconds(20)
                let client = Client(baseURL: server.baseURL, transport: transport)
                for round in 0..<200 {
                    let recording = SocketRecording(
                        client.webSocket("/", settings: settings), on: transport.loop,
                        pausesAt: round % 4 == 3 ? "opened" : nil)
                    // It has subscribed then.
                    await transport.loop.poll()
                    switch round % 5 {
                    case 0: break
                    case 1: _ = try await server.until { $0.requests.count > round / 2 ? () : nil }
                    case 2: try await recording.event("opened")
                    case 3 where round % 4 != 3: try await recording.event("1024 bytes")
                    default: for _ in 0..<round { await transport.loop.poll() }
                    }
                    recording.cancel()
                }
                _ = try await server.until { $0.openConnections == 0 ? () : nil }
            }
            #expect(try await descriptorsReturn(to: before))
        }
    }

    /// The loop ends while WebSockets are open, paused and closing.
    @Test func theEndOfTheLoopLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { request in [.send(request.webSocketResponse()), .keep] }
            EventLoop(name: "first").shutDown()
            let before = try openDescriptors()
            let recordings = try await withTransport { transport in
                let client = Client(baseURL: server.baseURL, transport: transport)
                let recordings = (0..<3).map { _ in
                    SocketRecording(client.webSocket("/"), on: transport.loop)
                }
                for recording in recordings { try await recording.event("opened") }
                recordings[1].pause()
                recordings[2].cancel()
                return recordings
            }
            for index in 0..<3 { _ = try await server.connectionEnded(index) }
            #expect(recordings.map { $0.log.ends.count } == [1, 1, 0])
            #expect(try await descriptorsReturn(to: before))
        }
    }

    @Test func aServerWhoseSubscriberPausesTakesNoMemory() async {
        await #expect(processExitsWith: .success) {
            let messages = Array(
                repeating: [0x82, 0x7E, 0x40, 0] + [UInt8](repeating: 7, count: 16_384), count: 4)
            let server = try RawServer { request in
                [
                    .send(request.webSocketResponse()),
                    .sendRepeatedly(Array(messages.joined()), times: 512), .close,
                ]
            }
            try await withTransport { transport in
                let client = Client(baseURL: server.baseURL, transport: transport)
                let before = try peakMemory()
                let recording = SocketRecording(
                    client.webSocket("/"), on: transport.loop, pausesAt: "opened")
                try await recording.event("opened")
                #expect(try await bytesUntilItStalls(server, transport) < 512 * 65_552)
                #expect(recording.log.events == ["opened"])
                #expect(try peakMemory() - before < 16 << 20)
                recording.resume()
                #expect(try await recording.ended().events.count == 1 + 2048)
                #expect(try peakMemory() - before < 16 << 20)
            }
        }
    }

    /// The server reads no pong.
    @Test func aFloodOfPingsTakesNoMemory() async {
        await #expect(processExitsWith: .success) {
            let pings = Array(repeating: [0x89, 125] + [UInt8](repeating: 7, count: 125), count: 500)
            let server = try RawServer { request in
                [.send(request.webSocketResponse()), .sendRepeatedly(Array(pings.joined()), times: 1024)]
            }
            try await withTransport { transport in
                var settings = WebSocketSettings()
                settings.closeTimeout = .milliseconds(20)
                let client = Client(baseURL: server.baseURL, transport: transport)
                let before = try peakMemory()
                let recording = SocketRecording(
                    client.webSocket("/", settings: settings), on: transport.loop)
                try await recording.event("ping 125")
                #expect(try await bytesUntilItStalls(server, transport) < 1024 * 500 * 127)
                #expect(try peakMemory() - before < 24 << 20)
                recording.cancel()
                _ = try await server.connectionEnded(0)
            }
        }
    }
}

/// The number of bytes that a server has sent when it can send no more for many rounds of the loop.
private func bytesUntilItStalls(_ server: RawServer, _ transport: CurlTransport) async throws -> Int {
    _ = try await server.until { ($0.connections.first?.sendStalls ?? 0) > 0 ? () : nil }
    var last = -1
    while let sent = server.record.connections.first?.bytesSent, sent != last {
        last = sent
        for _ in 0..<500 { await transport.loop.poll() }
    }
    return last
}

/// Whether as many descriptors are open as before. The kernel, the threads of the server and the runtime may close
/// theirs a moment later than the test sees the end.
private func descriptorsReturn(to count: Int) async throws -> Bool {
    for _ in 0..<10_000 {
        if try openDescriptors() == count { return true }
        try await Task.sleep(for: .milliseconds(1))
    }
    return false
}
