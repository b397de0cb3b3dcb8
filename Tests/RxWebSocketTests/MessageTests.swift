import RxWebSocket
import Testing

/// Messages in fragments, and control frames between them.
@Suite struct MessageTests {
    @Test func fragmentsAreJoined() {
        let bytes =
            frame(0x01, Array("a€".utf8)) + frame(0x00) + frame(0x00, Array("😀".utf8)) + frame(0x80)
        #expect(Outcome(of: bytes).inputs == [.message(.text("a€😀"))])
        #expect(Outcome(of: frame(0x02) + frame(0x80)).inputs == [.message(.binary([]))])
    }

    @Test func charactersMaySpanFragments() {
        let bytes = frame(0x01, [0xF0, 0x9F]) + frame(0x00, [0x98]) + frame(0x80, [0x80])
        #expect(Outcome(of: bytes).inputs == [.message(.text("😀"))])
    }

    @Test func controlFramesGoBetweenFragments() {
        let bytes =
            frame(0x01, [0x61]) + frame(0x89, [1]) + frame(0x00, [0x62]) + frame(0x8A, [2]) + frame(0x89)
            + frame(0x80, [0x63]) + close(1000)
        let outcome = Outcome(of: bytes)
        #expect(
            outcome.inputs == [
                .ping([1]), .pong([2]), .ping([]), .message(.text("abc")),
                .close(code: .normalClosure, reason: ""),
            ])
        #expect(
            outcome.output == frame(0x8A, [1], key: rfcKey) + frame(0x8A, key: rfcKey)
                + close(1000, key: rfcKey))
    }

    @Test func thousandsOfEmptyFragmentsAreTaken() {
        let bytes = frame(0x02) + (0..<20_000).flatMap { _ in frame(0x00) } + frame(0x80, [1])
        #expect(Outcome(of: bytes).inputs == [.message(.binary([1]))])
    }

    static let stream: [UInt8] = {
        let long = Array(String(repeating: "äb", count: 70).utf8)
        return text("Hello") + frame(0x01, Array("a€".utf8)) + frame(0x89, [1, 2, 3]) + frame(0x80, [0x62])
            + frame(0x81, long) + frame(0x82) + frame(0x8A) + frame(0x82, [UInt8](repeating: 9, count: 130))
            + close(3000, "bye ü")
    }()

    @Test(arguments: [WebSocketConnectionState.Role.client, .server])
    func anySplitGivesTheSame(_ role: WebSocketConnectionState.Role) {
        let bytes = role == .client ? Self.stream : Self.masked(Self.stream)
        let whole = Outcome(of: bytes, role)
        #expect(whole.inputs.count == 8)
        #expect(Outcome(of: bytes, by: 1, role) == whole)
        for position in 1..<bytes.count {
            var peer = Peer(role)
            peer.receive(Array(bytes[..<position]))
            peer.receive(Array(bytes[position...]))
            #expect(peer.outcome == whole, "split at \(position)")
        }
        for size in 2..<40 { #expect(Outcome(of: bytes, by: size, role) == whole) }
    }

    /// The same frames with masks.
    static func masked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var masked: [UInt8] = []
        while let first = rest.popFirst(), var length = rest.popFirst().map(Int.init) {
            if length == 126 { length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst()) }
            masked += frame(first, Array(rest.prefix(length)), key: [0x80, UInt8(length & 0xFF), 3, 0])
            rest = rest.dropFirst(length)
        }
        return masked
    }

    @Test func theOwnerMayStopBetweenItems() {
        var peer = Peer()
        let bytes = text("a") + text("b") + text("c")
        var offset = 0
        let first = unsafe peer.state.next(in: bytes.span.bytes, from: &offset, replies: &peer.output)
        #expect(first == .message(.text("a")))
        #expect(offset == 3)
        peer.receive(Array(bytes[offset...]))
        #expect(peer.inputs == [.message(.text("b")), .message(.text("c"))])
    }
}
