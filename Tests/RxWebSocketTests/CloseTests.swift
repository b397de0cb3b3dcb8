import RxWebSocket
import Testing

/// The close handshake (RFC 6455 §5.5.1, §7).
@Suite struct CloseTests {
    @Test(arguments: [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ])
    func aCloseFrameIsReplied(_ code: UInt16) {
        let outcome = Outcome(of: close(code, "bye") + text("too late"))
        #expect(outcome.inputs == [.close(code: WebSocketCloseCode(rawValue: code), reason: "bye")])
        #expect(outcome.output == close(code, key: rfcKey))
        #expect(outcome.phase == .closeReceived)
    }

    @Test func aCloseFrameWithoutCodeIsRepliedWithoutCode() {
        let outcome = Outcome(of: frame(0x88), .client)
        #expect(outcome.inputs == [.close(code: nil, reason: "")])
        #expect(outcome.output == frame(0x88, key: rfcKey))
    }

    @Test func aReplyIsNotReplied() throws {
        var peer = Peer()
        try peer.state.close(.goingAway, reason: "bye", into: &peer.output)
        #expect(peer.output == close(1001, "bye", key: rfcKey))
        #expect(peer.state.phase == .closeSent)
        // The peer may still send; a ping is answered (RFC 6455 §5.5.2).
        peer.receive(text("a") + frame(0x89, [7]) + close(1001))
        #expect(
            peer.inputs == [.message(.text("a")), .ping([7]), .close(code: .goingAway, reason: "")])
        #expect(peer.output == close(1001, "bye", key: rfcKey) + frame(0x8A, [7], key: rfcKey))
        #expect(peer.state.phase == .closed)
    }

    @Test func nothingIsSentAfterClosing() throws {
        var closing = Peer()
        try closing.state.close(nil, into: &closing.output)
        #expect(closing.output == frame(0x88, key: rfcKey))
        expectRefusals(&closing)
        var closed = Peer()
        closed.receive(close(1000))
        expectRefusals(&closed)
        var ended = Peer()
        ended.state.end()
        #expect(ended.state.phase == .closed)
        expectRefusals(&ended)
    }

    private func expectRefusals(_ peer: inout Peer) {
        let before = peer.output
        #expect(throws: WebSocketSendRefusal.closing) { try peer.state.send(.text("a"), into: &peer.output) }
        #expect(throws: WebSocketSendRefusal.closing) { try peer.state.ping(into: &peer.output) }
        #expect(throws: WebSocketSendRefusal.closing) { try peer.state.pong(into: &peer.output) }
        #expect(throws: WebSocketSendRefusal.closing) { try peer.state.close(into: &peer.output) }
        #expect(peer.output == before)
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 2999, 5000])
    func someCodesAreNeverSent(_ code: UInt16) {
        var peer = Peer()
        let code = WebSocketCloseCode(rawValue: code)
        #expect(throws: WebSocketSendRefusal.unsendable(code)) {
            try peer.state.close(code, into: &peer.output)
        }
        #expect(peer.output.isEmpty)
        #expect(peer.state.phase == .open)
    }

    @Test func longReasonsAreCutBetweenCharacters() throws {
        var peer = Peer(.server)
        try peer.state.close(.normalClosure, reason: String(repeating: "€", count: 50), into: &peer.output)
        #expect(peer.output == close(1000, String(repeating: "€", count: 41)))
    }

    @Test func codesPrintTheirNames() {
        #expect("\(WebSocketCloseCode.messageTooBig)" == "1009 (message too big)")
        #expect("\(WebSocketCloseCode(rawValue: 4711))" == "4711")
    }
}
