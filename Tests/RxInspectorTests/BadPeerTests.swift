#if Inspector
import HTTPTypes
import RxClient
import RxHTTP
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxInspector

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Peers of the server that send too much or too little, or read nothing.
@Suite(.timeLimit(.minutes(2))) struct BadPeerTests {
    /// An inspector whose timeout is no part of the result, unless a test says so.
    private func start(_ change: (inout InspectorLimits) -> Void = { _ in }) async throws -> Inspector {
        var limits = InspectorLimits()
        limits.peerTimeout = .seconds(3600)
        change(&limits)
        return try await Inspector(Inspector.Settings(), limits: limits)
    }

    private func handshake(_ inspector: Inspector) -> [UInt8] {
        let path = "/\(inspector.site.token)/devtools/page/\(inspector.site.targetID)"
        let lines = [
            "GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// A frame of at most 125 bytes with the masking key 0, which changes nothing.
    private func frame(_ text: String) -> [UInt8] {
        [0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8)
    }

    /// The response; `nil` if the server closes while the peer sends.
    private func answer(_ text: String, _ inspector: Inspector) async throws -> String? {
        do {
            return try await PlainClient.exchange(text, port: inspector.port)
        } catch let error as SystemError {
            #expect([EPIPE, ECONNRESET].contains(error.code))
            return nil
        }
    }

    private func isServing(_ inspector: Inspector) async throws -> Bool {
        try await FrontEndProbe(inspector).call("Page.enable")["result"] == [:]
    }

    @Test(arguments: ["GET /", "GET / HTTP/1.1\r\nX: ", "\r\n", "GET / HTTP/1.1\r\nX: 1\r\n"])
    func anEndlessHeadIsCutOff(start text: String) async throws {
        let inspector = try await start()
        let endless = text + String(repeating: text.hasSuffix("\n") ? "X: 1\r\n" : "aaaaaa", count: 200_000)
        let answer = try await answer(endless, inspector)
        #expect(answer?.hasPrefix("HTTP/1.1 431 ") != false)
        #expect(try await isServing(inspector))
        await inspector.stop()
    }

    @Test func aHeadOfTheLimitIsRead() async throws {
        let inspector = try await start()
        let first = "GET /\(inspector.site.token)/json/version?"
        let last = " HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let rest = InspectorServer.headLimit - first.utf8.count - last.utf8.count
        let fitting = try await answer(first + String(repeating: "a", count: rest) + last, inspector)
        #expect(fitting?.hasPrefix("HTTP/1.1 200 ") == true)
        let larger = try await answer(first + String(repeating: "a", count: rest + 1) + last, inspector)
        #expect(larger?.hasPrefix("HTTP/1.1 431 ") != false)
        await inspector.stop()
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: localhost\r\n"])
    func anIncompleteHeadIsNotWaitedFor(text: String) async throws {
        let inspector = try await start { $0.peerTimeout = .milliseconds(20) }
        #expect(try await PlainClient.exchange(text, port: inspector.port).isEmpty)
        await inspector.stop()
    }

    /// A frame that announces 2⁶² bytes, one that is not masked, and a text that is not UTF-8, with the codes of RFC 6455
    /// §7.4.1.
    @Test(
        arguments: [
            ([0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1009), ([0x81, 0x01, 0x61], 1002),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007),
        ] as [([UInt8], UInt16)])
    func malformedFramesEndTheConnection(frame: [UInt8], code: UInt16) async throws {
        let inspector = try await start()
        let answer: [UInt8] = try await PlainClient.exchange(
            handshake(inspector) + frame, port: inspector.port)
        #expect(answer.starts(with: "HTTP/1.1 101 ".utf8))
        let head = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
        let close = Array(answer[head.upperBound...])
        #expect(close.first == 0x88)
        #expect(close.dropFirst(2).prefix(2).elementsEqual([UInt8(code >> 8), UInt8(code & 0xFF)]))
        #expect(try await isServing(inspector))
        await inspector.stop()
    }

    /// A connection that a test keeps.
    private final class HeldClient {
        let client: PlainClient
        init(port: UInt16) throws { client = try PlainClient(port: port) }
    }

    @Test func connectionsWithoutTheTokenKeepNobodyOut() async throws {
        let inspector = try await start()
        let panel = FrontEndProbe(inspector)
        try await panel.call("Network.enable")
        var held: [HeldClient] = []
        for number in 0..<2 * InspectorServer.connectionLimit {
            held.append(try HeldClient(port: inspector.port))
            // Some have sent a part of a request.
            if number.isMultiple(of: 3) {
                try held[number].client.send("GET / HTTP/1.1\r\nHost: localhost\r\n")
            }
        }
        #expect(try await isServing(inspector))
        #expect(try await panel.call("Page.enable")["result"] == [:], "an open panel stays connected")
        #expect(try held[0].client.receive().isEmpty, "the oldest is closed")
        _ = held.last
        await inspector.stop()
    }

    /// With little room the messages do not fit; with more, the connection takes none of them in time.
    @Test(arguments: [1 << 18, 1 << 30])
    func aBrowserThatDoesNotReadIsDisconnected(outboxLimit: Int) async throws {
        let inspector = try await start {
            $0.peerTimeout = .seconds(2)
            $0.outbox = outboxLimit
        }
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock, [.when(.post, "/goods", .json("1"))])
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://a.test"), transport: transport)
        inspector.inspect(client)
        let silent = try PlainClient(port: inspector.port)
        try silent.send(
            handshake(inspector) + frame(#"{"id":1,"method":"Network.enable"}"#)
                + frame(#"{"id":2,"method":"Network.setCacheDisabled","params":{"cacheDisabled":true}}"#))
        while !client.developerTools.isCacheDisabled { try await Task.sleep(for: .milliseconds(1)) }
        let text = String(repeating: "a", count: 60_000)
        // Its settings end with the connection.
        while client.developerTools.isCacheDisabled {
            let recorder = Recorder(client.post("/goods", .text(text)), on: clock)
            try clock.run()
            #expect(recorder.values.count == 1, "the program does not wait")
            // Otherwise a slow recorder leaves out ever more requests, which the transport keeps in memory.
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(try await isServing(inspector))
        _ = silent
        await inspector.stop()
    }
}
#endif
