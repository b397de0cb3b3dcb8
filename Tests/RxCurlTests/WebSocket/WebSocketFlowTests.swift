import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxWebSocket
import TestServers
import Testing

/// Messages in both directions while one side, or both, take nothing.
@Suite(.timeLimit(.minutes(1))) struct WebSocketFlowTests {
    private static let size = 64 << 10

    /// A frame of the server with a binary message.
    private static let frame: [UInt8] =
        [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: size)
    /// The number of bytes of the same message in a frame of the client.
    private static let maskedSize = frame.count + 4

    private static let message = WebSocketMessage.binary([UInt8](repeating: 7, count: size))

    /// The server reads a message, and reads no further before it has sent two. It may read up to twice as much, since what
    /// it reads ends anywhere.
    @Test func bothSidesSendMoreThanTheNetworkHolds() async throws {
        let count = 1000
        let server = try RawServer { request in
            let round = [RawServer.Step.drop(Self.maskedSize), .send(Self.frame + Self.frame)]
            return [.send(request.webSocketResponse())]
                + [[RawServer.Step]](repeating: round, count: count / 2).joined() + [.waitForClientClose]
        }
        try await withTransport { transport in
            let sink = WebSocketSink()
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/", sending: sink), on: transport.loop)
            for _ in 0..<count { sink.send(Self.message).subscribe() }
            _ = try await recording.until { $0.events.count == 1 + count ? () : nil }
            recording.cancel()
        }
    }

    @Test func theEndComesAlthoughTheOutputIsFull() async throws {
        let gate = try Gate()
        let server = try RawServer { request in
            [.send(request.webSocketResponse()), .wait(gate), .send([0x81, 1, 0x61]), .close]
        }
        try await withTransport { transport in
            let sink = WebSocketSink()
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/", sending: sink), on: transport.loop)
            for _ in 0..<1000 { sink.send(Self.message).subscribe() }
            try await recording.event("opened")
            for _ in 0..<100 { await transport.loop.poll() }
            gate.open()
            #expect(try await recording.ended().end == "connectionLost 1006")
            #expect(recording.log.events == ["opened", "a"])
        }
    }

    /// Messages that the network does not take wait in the sink.
    @Test func aServerThatReadsNothingStopsTheSink() async throws {
        let server = try RawServer { request in [.send(request.webSocketResponse()), .stall] }
        try await withTransport { transport in
            let sink = WebSocketSink()
            let client = Client(baseURL: server.baseURL, transport: transport)
            let sent = Board(0)
            for _ in 0..<1000 { sink.send(Self.message).subscribe(onFinish: { sent.update { $0 += 1 } }) }
            let recording = SocketRecording(client.webSocket("/", sending: sink), on: transport.loop)
            try await recording.event("opened")
            for _ in 0..<500 { await transport.loop.poll() }
            #expect(sent.contents < 500)
            recording.cancel()
        }
    }

    /// A connection that breaks while the subscriber has paused takes no message with it that is reported as sent.
    @Test func messagesWaitForTheNextConnection() async throws {
        let gate = try Gate()
        let server = try RawServer { request in
            request.connection == 0
                ? [.send(request.webSocketResponse()), .wait(gate), .reset]
                : [.send(request.webSocketResponse()), .keep]
        }
        try await withTransport { transport in
            let sink = WebSocketSink()
            var settings = WebSocketSettings()
            settings.reconnection = .always(.constant(.milliseconds(1)))
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(
                client.webSocket("/", sending: sink, settings: settings), on: transport.loop,
                pausesAt: "opened")
            try await recording.event("opened")
            gate.open()
            _ = try await server.connectionEnded(0)
            let sent = Board<[String]>([])
            for text in ["a", "b", "c"] {
                for _ in 0..<20 { await transport.loop.poll() }
                sink.send(text).subscribe(onFinish: { sent.update { $0.append(text) } })
            }
            recording.resume()
            _ = try await sent.until { $0.last == "c" ? () : nil }
            let expected = sent.contents.map { Array($0.utf8) }
            _ = try await server.until { record in
                record.connections.count == 2
                    && record.connections[1].webSocketFrames.map(\.payload) == expected ? () : nil
            }
            recording.cancel()
        }
    }

    /// The server sends the next ping when it has the pong.
    @Test func pingsAreAnsweredWhileTheSubscriberIsPaused() async throws {
        let gates = try (0..<20).map { _ in try Gate() }
        let server = try RawServer { request in
            let rounds = gates.enumerated().flatMap { number, gate in
                [.wait(gate), .send([0x81, 1, 0x61, 0x89, 1, UInt8(number)]), .drop(7)] as [RawServer.Step]
            }
            return [.send(request.webSocketResponse())] + rounds + [.send([0x88, 0]), .keep]
        }
        try await withTransport { transport in
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/"), on: transport.loop, pausesAt: "opened")
            try await recording.event("opened")
            for gate in gates { gate.open() }
            // The server has read a pong in each round, and then the answer to its close frame.
            _ = try await server.until { record in
                record.connections.first.map { $0.webSocketCloseCodes == [1005] } == true ? () : nil
            }
            #expect(recording.log.events == ["opened"])
            recording.resume()
            let log = try await recording.ended()
            #expect(log.end == "finished")
            #expect(
                log.events == ["opened"]
                    + [[String]](repeating: ["a", "ping 1"], count: gates.count).joined()
                    + ["closing 1005 "])
        }
    }

    @Test func aCloseFrameWithoutACodeIsSent() async throws {
        let server = try RawServer { request in [.send(request.webSocketResponse()), .keep] }
        try await withTransport { transport in
            let sink = WebSocketSink()
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/", sending: sink), on: transport.loop)
            try await recording.event("opened")
            try await sink.close(nil).value()
            _ = try await server.until { record in
                let frames = record.connections.first?.webSocketFrames ?? []
                return frames.map(\.opcode) == [8] && frames[0].payload.isEmpty ? () : nil
            }
            recording.cancel()
        }
    }

    /// A server that refuses with an error page that never ends.
    @Test(arguments: [true, false]) func anEndlessRefusalEnds(isSocket: Bool) async throws {
        let times = 4096
        let server = try RawServer { _ in
            [
                .send("HTTP/1.1 503 Busy\r\nContent-Type: text/html\r\n\r\n"),
                .sendRepeatedly([UInt8](repeating: 0x61, count: 64 << 10), times: times), .close,
            ]
        }
        try await withTransport { transport in
            let client = Client(baseURL: server.baseURL, transport: transport)
            let error = await #expect(throws: NetworkError.self) {
                if isSocket {
                    for try await _ in client.webSocket("/") {}
                } else {
                    for try await _ in client.events(.get("/")) {}
                }
            }
            #expect(error?.code == .status)
            #expect(error?.body.count == 1 << 20)
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections[0].bytesSent < times * 64 << 10)
        }
    }

    /// All messages arrive at once.
    @Test func aSubscriberThatPausesAtEachMessageGetsOneAtATime() async throws {
        let texts = (0..<60).map { "\($0)" }
        let server = try RawServer { request in
            let frames = texts.map { [0x81, UInt8($0.utf8.count)] + Array($0.utf8) }
            return [.send(request.webSocketResponse() + frames.joined()), .keep]
        }
        try await withTransport { transport in
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/"), on: transport.loop, pausesAt: "")
            for count in 1...texts.count + 1 {
                _ = try await recording.until { $0.events.count >= count ? () : nil }
                for _ in 0..<3 { await transport.loop.poll() }
                #expect(recording.log.events.count == count)
                recording.resume()
            }
            #expect(recording.log.events == ["opened"] + texts)
            recording.cancel()
        }
    }
}
