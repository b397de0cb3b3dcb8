import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import RxWebSocket
import TestServers
import Testing

/// Servers that break the rules of WebSockets. Each test runs on a loop of its own, whose end proves that nothing
/// is left on it.
@Suite(.timeLimit(.minutes(2))) struct WebSocketFaultTests {
    // MARK: - The handshake

    /// Responses that open no WebSocket, and the codes of the errors. `ACCEPT` stands for the right value.
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", "invalidResponse 200"),
            ("HTTP/1.1 204 None\r\n\r\n", "invalidResponse 204"),
            ("HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nno socket", "status 404 no socket"),
            ("HTTP/1.1 426 Upgrade\r\nUpgrade: TLS/1.0\r\nContent-Length: 0\r\n\r\n", "status 426 "),
            ("HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nno", "partialBody 404"),
            ("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", "status 302 "),
            (upgraded("Upgrade: h2c", "Connection: Upgrade", accept), "invalidResponse 101"),
            (upgraded("Connection: Upgrade", accept), "invalidResponse 101"),
            (upgraded("Upgrade: websocket", accept), "invalidResponse 101"),
            (upgraded("Upgrade: websocket", "Connection: close", accept), "invalidResponse 101"),
            (upgraded(agreeing), "invalidResponse 101"),
            (upgraded(agreeing, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "invalidResponse 101"),
            (upgraded(agreeing, accept, accept), "invalidResponse 101"),
            (upgraded(agreeing, accept, "Sec-WebSocket-Protocol: other"), "invalidResponse 101"),
            (upgraded(agreeing, accept, "Sec-WebSocket-Protocol: chat, other"), "invalidResponse 101"),
            (upgraded(agreeing, accept, extensions("x-unknown")), "invalidResponse 101"),
            (
                upgraded(agreeing, accept, extensions("permessage-deflate, permessage-deflate")),
                "invalidResponse 101"
            ),
            (upgraded(agreeing, accept, extensions("permessage-deflate; x=1")), "invalidResponse 101"),
            (
                upgraded(agreeing, accept, extensions("permessage-deflate; server_max_window_bits=7")),
                "invalidResponse 101"
            ),
            (upgraded(agreeing, accept, extensions("permessage-deflate;;")), "invalidResponse 101"),
            ("", "emptyReply"),
            ("HTTP/1.1 101 Switching", "emptyReply"),
            ("SSH-2.0-OpenSSH\r\n\r\n", "invalidResponse"),
        ])
    func handshakes(response: String, expected: String) async throws {
        let server = try RawServer { request in
            let text = response.replacing("ACCEPT", with: request.webSocketAccept)
            return expected == "emptyReply" || expected == "partialBody 404"
                ? [.send(text), .close] : [.send(text), .keep]
        }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            settings.subprotocols = ["chat"]
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop)
            let log = try await recording.ended()
            let error = try #require(log.error)
            var text = error.code.rawValue
            if let status = error.status { text += " \(status.code)" }
            if error.code == .status { text += " " + String(decoding: error.body, as: UTF8.self) }
            #expect(text == expected)
            #expect(log.events.isEmpty && log.ends.count == 1)
            // No frame may follow a handshake that failed.
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections.map(\.received) == [[]])
        }
    }

    static let agreeing = "Upgrade: websocket\r\nConnection: Upgrade"
    static let accept = "Sec-WebSocket-Accept: ACCEPT"

    static func upgraded(_ lines: String...) -> String {
        (["HTTP/1.1 101 Switching Protocols"] + lines + ["", ""]).joined(separator: "\r\n")
    }
    static func extensions(_ list: String) -> String { "Sec-WebSocket-Extensions: \(list)" }

    @Test func aServerThatSpeaksHTTP2OnlyIsRefused() async throws {
        let nginx = try NginxServer.shared()
        try await withTransport { transport in
            let url = "http://127.0.0.1:\(nginx.http2Port)"
            let client = Client(baseURL: url, transport: transport)
            let log = try await SocketRecording(client.webSocket("/"), on: transport.loop).ended()
            #expect(log.end == "emptyReply")
        }
    }

    /// As handshakes have URLs with `ws`, so may the `Location` of their responses.
    @Test func aRedirectMayNameAWebSocket() async throws {
        let server = try RawServer { request in
            request.target == "/end"
                ? [.send(request.webSocketResponse() + [0x88, 0x00]), .keep]
                : [.respond(302, ["Location": "ws://\(request.field("Host") ?? "")/end"])]
        }
        try await withTransport { transport in
            let client = Client(baseURL: server.baseURL, transport: transport)
            let log = try await SocketRecording(client.webSocket("/"), on: transport.loop).ended()
            #expect(log.end == "finished")
            // A close frame without a code is answered by one without a code.
            #expect(log.events == ["opened", "closing 1005 "])
            _ = try await server.until { $0.connections.last?.webSocketCloseCodes == [1005] ? () : nil }
        }
    }

    // MARK: - Frames

    /// Bytes after the handshake, and the code that the error and the close frame have.
    @Test(arguments: FrameFault.all)
    func frames(fault: FrameFault) async throws {
        let server = try RawServer { request in
            let fields = fault.isCompressed ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : ""
            return [.send(request.webSocketResponse(fields) + fault.bytes), .keep]
        }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            settings.closeTimeout = .milliseconds(20)
            (settings.frameLimit, settings.messageLimit) = (1000, 1500)
            (settings.expansionLimit, settings.expansionFloor) = (20, 100)
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop)
            let log = try await recording.ended()
            #expect(log.end == "webSocketProtocol \(fault.code)")
            #expect(log.events == ["opened"])
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections.first?.webSocketCloseCodes == [fault.code])
            #expect(recording.log.ends.count == 1)
        }
    }

    /// A server that goes on after it has broken the protocol is read, but not kept.
    @Test func aFloodAfterAViolationIsDropped() async throws {
        let chunk = Array(repeating: UInt8(0xFF), count: 1 << 16)
        let server = try RawServer { request in
            [.send(request.webSocketResponse() + [0x83, 0]), .sendRepeatedly(chunk, times: 1024), .keep]
        }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            settings.closeTimeout = .milliseconds(300)
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop)
            #expect(try await recording.ended().end == "webSocketProtocol 1002")
            _ = try await server.connectionEnded(0)
        }
    }

    // MARK: - Ends

    /// The ends of a connection without a close frame.
    @Test(
        arguments: [
            [0x81], [0x81, 0x05, 0x68, 0x65], [0x01, 0x01, 0x61], [0x82, 0x7F, 0, 0], [0x88, 0x02, 0x03], [],
        ] as [[UInt8]])
    func cuts(bytes: [UInt8]) async throws {
        for end in [RawServer.Step.close, .reset] {
            let server = try RawServer { request in [.send(request.webSocketResponse()), .send(bytes), end] }
            try await withTransport { transport in
                let client = Client(baseURL: server.baseURL, transport: transport)
                let log = try await SocketRecording(client.webSocket("/"), on: transport.loop).ended()
                // A reset may overtake the response.
                if case .close = end { #expect(log.events == ["opened"]) }
                #expect(log.end == (log.events.isEmpty ? "connectionLost" : "connectionLost 1006"))
                _ = try await server.connectionEnded(0)
            }
        }
    }

    @Test func aCloseWithoutAnswerEndsInTime() async throws {
        let server = try RawServer { request in [.send(request.webSocketResponse()), .keep] }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            settings.closeTimeout = .milliseconds(20)
            let client = Client(baseURL: server.baseURL, transport: transport)
            let sink = WebSocketSink()
            let closed = SocketRecording(
                client.webSocket("/", sending: sink, settings: settings), on: transport.loop)
            try await closed.event("opened")
            try await sink.close(.goingAway, reason: "bye").value()
            #expect(try await closed.ended().end == "finished")
            _ = try await server.connectionEnded(0)

            let cancelled = SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop)
            try await cancelled.event("opened")
            cancelled.cancel()
            _ = try await server.connectionEnded(1)
            #expect(server.record.connections.map(\.webSocketCloseCodes) == [[1001], [1000]])
            #expect(
                server.record.connections.first?.webSocketFrames.first?.payload.dropFirst(2) == [
                    98, 121, 101,
                ])
        }
    }

    /// The server has sent its close frame, and neither ends the connection nor is silent.
    @Test func aServerThatGoesOnAfterItsCloseIsLeft() async throws {
        let text = [0x81, 0x01, 0x61] as [UInt8]
        let server = try RawServer { request in
            [.send(request.webSocketResponse() + [0x88, 0x02, 0x03, 0xE8] + text), .send(text), .keep]
        }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            settings.closeTimeout = .milliseconds(20)
            let client = Client(baseURL: server.baseURL, transport: transport)
            let log = try await SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop
            ).ended()
            #expect(log.end == "finished")
            #expect(log.events == ["opened", "closing 1000 "])
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections.first?.webSocketCloseCodes == [1000])
        }
    }

    @Test func silenceEnds() async throws {
        let server = try RawServer { request in [.send(request.webSocketResponse()), .keep] }
        try await withTransport { transport in
            var settings = WebSocketSettings()
            (settings.pingInterval, settings.pongTimeout) = (.milliseconds(20), .milliseconds(20))
            let client = Client(baseURL: server.baseURL, transport: transport)
            let log = try await SocketRecording(
                client.webSocket("/", settings: settings), on: transport.loop
            ).ended()
            #expect(log.end == "idleTimeout")
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections.first?.webSocketFrames.first?.opcode == 9)
        }
    }

    /// A server that takes the request and answers nothing, or answers a refusal without an end.
    @Test(arguments: [nil, "HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n"])
    func theHandshakeHasItsTimeouts(response: String?) async throws {
        let server = try RawServer { _ in response.map { [.send($0), .keep] } ?? [.keep] }
        let limits = [
            Timeouts(firstByte: .milliseconds(50), idle: .milliseconds(50)),
            Timeouts(total: .milliseconds(50)),
            Timeouts(attempt: .milliseconds(50)),
        ]
        for timeouts in limits {
            try await withTransport { transport in
                var configuration = ClientConfiguration(baseURL: server.baseURL)
                configuration.options.timeouts = timeouts
                let client = Client(configuration: configuration, transport: transport)
                let log = try await SocketRecording(client.webSocket("/"), on: transport.loop).ended()
                #expect(log.end?.hasSuffix("Timeout") == true, "\(log.end ?? "")")
                _ = try await server.until { $0.openConnections == 0 ? () : nil }
            }
        }
    }

    /// Cancelling while the connection is being opened ends it without a close frame.
    @Test func cancellingTheHandshakeClosesTheConnection() async throws {
        let server = try RawServer { _ in [.keep] }
        try await withTransport { transport in
            let client = Client(baseURL: server.baseURL, transport: transport)
            let recording = SocketRecording(client.webSocket("/"), on: transport.loop)
            _ = try await server.nextRequest()
            recording.cancel()
            _ = try await server.connectionEnded(0)
            #expect(server.record.connections.first?.received == [])
            #expect(recording.log.ends.isEmpty)
        }
    }
}
