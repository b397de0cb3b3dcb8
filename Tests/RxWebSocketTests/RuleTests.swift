import RxWebSocket
import Testing

/// Input that violates the protocol, with the close code that the RFC names.
@Suite struct RuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var code = WebSocketCloseCode.protocolError
        var deflate: PermessageDeflate?
        var limits = WebSocketLimits()
        /// The inputs before the failure.
        var before: [WebSocketInput] = []
        var testDescription: String { name }
    }

    static let small = WebSocketLimits(frameBytes: 200, messageBytes: 300)

    static let cases: [Case] =
        [0x10, 0x20, 0x40, 0x30].map { Case(name: "reserved bit \($0)", bytes: frame(0x81 | $0)) }
        + ([0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8]).map {
            Case(name: "reserved opcode \($0)", bytes: frame(0x80 | $0))
        }
        + ([0x08, 0x09, 0x0A] as [UInt8]).map { Case(name: "fragmented control \($0)", bytes: frame($0)) }
        + ([0x88, 0x89, 0x8A] as [UInt8]).map { first in
            Case(name: "long control \(first)", bytes: frame(first, [UInt8](repeating: 0x61, count: 126)))
        } + [
            Case(name: "long control with 8 bytes of length", bytes: frame(0x89, [], lengthBytes: 8)),
            Case(name: "short control, long form", bytes: frame(0x89, [1], lengthBytes: 2)),
            Case(name: "continuation of nothing", bytes: frame(0x80, [0x61])),
            Case(
                name: "continuation of a complete message", bytes: text("a") + frame(0x00, [0x61]),
                before: [.message(.text("a"))]),
            Case(name: "text within a message", bytes: frame(0x01, [0x61]) + text("b")),
            Case(name: "fragment within a message", bytes: frame(0x02) + frame(0x02)),
            Case(name: "masked by a server", bytes: text("a", key: rfcKey)),
            Case(name: "2 bytes of length for 125", bytes: frame(0x82, [], lengthBytes: 2, length: 125)),
            Case(
                name: "8 bytes of length for 65,535", bytes: frame(0x82, [], lengthBytes: 8, length: 65_535)),
            Case(name: "8 bytes of length for 0", bytes: frame(0x82, [], lengthBytes: 8)),
            Case(name: "highest bit of the length", bytes: frame(0x82, [], lengthBytes: 8, length: 1 << 63)),
            Case(name: "half a close code", bytes: frame(0x88, [3])),
            Case(name: "reason not UTF-8", bytes: frame(0x88, [3, 0xE8, 0xFF]), code: .invalidPayload),
            Case(name: "reason ends early", bytes: frame(0x88, [3, 0xE8, 0xC3]), code: .invalidPayload),
            Case(name: "compressed control", bytes: frame(0xC9), deflate: PermessageDeflate()),
            Case(name: "compressed close", bytes: frame(0xC8), deflate: PermessageDeflate()),
            Case(
                name: "compressed continuation", bytes: frame(0x41, [0]) + frame(0xC0),
                deflate: PermessageDeflate()),
            Case(name: "RSV2 with compression", bytes: frame(0xE1), deflate: PermessageDeflate()),
            Case(
                name: "large frame", bytes: frame(0x82, [], length: 201), code: .messageTooBig,
                limits: small),
            Case(
                name: "huge frame", bytes: frame(0x82, [], length: UInt64(Int64.max)), code: .messageTooBig),
            Case(
                name: "large message",
                bytes: frame(0x02, [UInt8](repeating: 0, count: 200)) + frame(0x80, [], length: 101),
                code: .messageTooBig, limits: small),
        ]
        + ([0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] as [UInt16]).map {
            Case(name: "close code \($0)", bytes: close($0))
        }

    @Test(arguments: cases)
    func violationsEndTheConnection(_ example: Case) throws {
        let more = text("more") + frame(0x89)
        let outcome = Outcome(of: example.bytes + more, limits: example.limits, deflate: example.deflate)
        let violation = try #require(outcome.violation)
        #expect(outcome.inputs == example.before + [.violation(violation)])
        #expect(violation.code == example.code)
        #expect(outcome.phase == .closed)
        #expect(outcome.output == close(violation.code.rawValue, violation.message, key: rfcKey))
        // It is found without what follows, and however the bytes arrive.
        #expect(Outcome(of: example.bytes, limits: example.limits, deflate: example.deflate) == outcome)
        #expect(
            Outcome(of: example.bytes + more, by: 1, limits: example.limits, deflate: example.deflate)
                == outcome)
    }

    @Test func clientsMustMask() {
        let violation = Outcome(of: text("a"), .server).violation
        #expect(violation?.code == .protocolError)
        #expect(Outcome(of: text("a", key: [0, 0, 0, 0]), .server).inputs == [.message(.text("a"))])
    }

    @Test func nothingIsAwaitedThatCannotHelp() {
        // The first byte says enough, and so does the length.
        #expect(Outcome(of: [0x83]).violation?.code == .protocolError)
        #expect(Outcome(of: [0x89, 0x7E]).violation?.code == .protocolError)
        let header = Array(frame(0x82, [], length: 201).prefix(4))
        #expect(Outcome(of: header, limits: Self.small).violation?.code == .messageTooBig)
        let masked = Array(frame(0x82, [], key: rfcKey, length: 201).prefix(4))
        #expect(Outcome(of: masked, .server, limits: Self.small).violation?.code == .messageTooBig)
    }

    @Test func limitsAreReached() {
        let frames =
            frame(0x02, [UInt8](repeating: 1, count: 200)) + frame(0x80, [UInt8](repeating: 1, count: 100))
        let expected: [WebSocketInput] = [.message(.binary([UInt8](repeating: 1, count: 300)))]
        #expect(Outcome(of: frames, limits: Self.small).inputs == expected)
        #expect(Outcome(of: frames, by: 1, limits: Self.small).inputs == expected)
    }

    @Test func aFrameMayHoldTheLargestMessage() {
        for limit in [10, 20 << 20] {
            let limits = WebSocketLimits(messageBytes: limit)
            let bytes = [UInt8](repeating: 1, count: limit)
            #expect(Outcome(of: frame(0x82, bytes), limits: limits).inputs == [.message(.binary(bytes))])
            let violation = Outcome(of: frame(0x82, bytes + [1]), limits: limits).violation
            #expect(violation?.code == .messageTooBig)
        }
        // Control frames are independent of the size of messages.
        let ping = [UInt8](repeating: 1, count: 125)
        let limits = WebSocketLimits(messageBytes: 10)
        #expect(Outcome(of: frame(0x89, ping), limits: limits).inputs == [.ping(ping)])
    }

    @Test func aViolationAfterTheCloseFrameSendsNoSecondOne() throws {
        var peer = Peer()
        try peer.state.close(into: &peer.output)
        let sent = peer.output
        peer.receive(frame(0x83))
        #expect(peer.output == sent)
        #expect(peer.outcome.violation?.code == .protocolError)
        #expect(peer.state.phase == .closed)
    }
}
