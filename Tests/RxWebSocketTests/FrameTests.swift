import RxWebSocket
import Testing

/// Frames on the wire, among them the examples of RFC 6455 §5.7.
@Suite struct FrameTests {
    static let hello = Array("Hello".utf8)

    @Test func readsTheExamplesOfAServer() {
        let unmasked: [UInt8] = [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        let fragments: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]
        let ping: [UInt8] = [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        #expect(Outcome(of: unmasked).inputs == [.message(.text("Hello"))])
        #expect(Outcome(of: fragments).inputs == [.message(.text("Hello"))])
        let pong = Outcome(of: ping)
        #expect(pong.inputs == [.ping(Self.hello)])
        #expect(pong.output == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }

    @Test func readsTheExamplesOfAClient() {
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        let pong: [UInt8] = [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(Outcome(of: masked + pong, .server).inputs == [.message(.text("Hello")), .pong(Self.hello)])
    }

    @Test(arguments: [(256, [0x82, 0x7E, 0x01, 0x00]), (65_536, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])])
    func readsAndWritesLongFrames(count: Int, header: [UInt8]) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(Outcome(of: header + payload).inputs == [.message(.binary(payload))])
        var server = Peer(.server)
        try server.state.send(.binary(payload), into: &server.output)
        #expect(server.output == header + payload)
    }

    @Test(arguments: [0, 1, 2, 7, 8, 9, 15, 16, 17, 125, 126, 127, 65_535, 65_536, 100_000])
    func whatIsSentIsReceived(count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let word = String(repeating: "é", count: count / 2) + (count % 2 == 0 ? "" : "a")
        for role in [WebSocketConnectionState.Role.client, .server] {
            var sender = Peer(role, random: Steps(7))
            var sent: [UInt8] = []
            try sender.state.send(.binary(payload), into: &sent)
            #expect(sent == Self.expected(0x82, payload, role))
            try sender.state.send(.text(word), into: &sent)
            let received = Outcome(of: sent, role == .client ? .server : .client)
            #expect(received.inputs == [.message(.binary(payload)), .message(.text(word))])
        }
    }

    /// The frame as the RFC has it, with the first key of `Steps(7)`.
    private static func expected(
        _ first: UInt8, _ payload: [UInt8], _ role: WebSocketConnectionState.Role
    ) -> [UInt8] {
        guard role == .client else { return frame(first, payload) }
        var keys = Steps(7)
        let number = UInt32(truncatingIfNeeded: keys.next())
        return frame(first, payload, key: (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    @Test func appendsBehindWhatIsThere() throws {
        var peer = Peer()
        var output: [UInt8] = [1, 2, 3]
        try peer.state.send(.text("Hello"), into: &output)
        #expect(output == [1, 2, 3] + text("Hello", key: rfcKey))
    }

    @Test func everyFrameHasAnotherKey() throws {
        var peer = Peer(random: SystemRandomBlocks())
        var keys: Set<[UInt8]> = []
        for _ in 0..<500 {
            var output: [UInt8] = []
            try peer.state.send(.binary([0]), into: &output)
            keys.insert(Array(output[2..<6]))
        }
        #expect(keys.count > 495)
    }

    @Test func largeMessagesGoInFragments() throws {
        var peer = Peer(.server, frameSize: 4)
        try peer.state.send(.text("Hello, you"), into: &peer.output)
        #expect(
            peer.output == frame(0x01, Array("Hell".utf8)) + frame(0x00, Array("o, y".utf8))
                + frame(0x80, Array("ou".utf8)))
        peer.output = []
        try peer.state.send(.text("Hell"), into: &peer.output)
        #expect(peer.output == text("Hell"))
        peer.output = []
        try peer.state.send(.binary([]), into: &peer.output)
        #expect(peer.output == [0x82, 0])
    }

    @Test func pingsAndPongsAreSent() throws {
        var peer = Peer(.server)
        try peer.state.ping([1], into: &peer.output)
        try peer.state.pong(into: &peer.output)
        #expect(peer.output == [0x89, 1, 1, 0x8A, 0])
        peer.output = []
        #expect(throws: WebSocketSendRefusal.largeControlFrame(126)) {
            try peer.state.ping([UInt8](repeating: 0, count: 126), into: &peer.output)
        }
        #expect(peer.output.isEmpty)
    }

    /// An idle connection holds only the value itself, and no allocated buffers.
    @Test func anIdleConnectionIsSmall() {
        #expect(MemoryLayout<WebSocketConnectionState>.size < 512)
    }
}
