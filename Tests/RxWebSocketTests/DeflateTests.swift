import Testing

@testable import RxWebSocket

/// Compressed messages (RFC 7692 §7.2), with the examples of §7.2.3.
@Suite struct DeflateTests {
    static let hello: WebSocketInput = .message(.text("Hello"))
    static let compressed: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    static let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
    static let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]

    static func parameters(
        _ change: (inout PermessageDeflate) -> Void = { _ in }
    ) -> PermessageDeflate {
        var parameters = PermessageDeflate()
        change(&parameters)
        return parameters
    }

    @Test(
        arguments: [
            ("one block", frame(0xC1, compressed), 1),
            ("fragments", frame(0x41, [0xF2, 0x48, 0xCD]) + frame(0x80, [0xC9, 0xC9, 0x07, 0x00]), 1),
            ("shared window", frame(0xC1, compressed) + frame(0xC1, again), 2),
            (
                "not compressed",
                [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00], 1
            ),
            ("BFINAL", frame(0xC1, final), 1),
            ("BFINAL twice", frame(0xC1, final) + frame(0xC1, final), 2),
            ("BFINAL without the last byte", frame(0xC1, final.dropLast()) + frame(0xC1, compressed), 2),
            (
                "an empty block with BFINAL",
                frame(0xC1, [0, 5, 0, 0xFA, 0xFF] + Array("Hello".utf8) + [1]), 1
            ),
            ("two blocks", frame(0xC1, [0xF2, 0x48, 0x05, 0, 0, 0, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 7, 0]), 1),
            ("beside a message that is not compressed", frame(0xC1, compressed) + text("Hello"), 2),
        ])
    func readsTheExamples(_ name: String, _ bytes: [UInt8], _ count: Int) {
        let outcome = Outcome(of: bytes, deflate: PermessageDeflate())
        #expect(outcome.inputs == [WebSocketInput](repeating: Self.hello, count: count))
        for size in 1..<6 { #expect(Outcome(of: bytes, by: size, deflate: PermessageDeflate()) == outcome) }
        let masked = MessageTests.masked(bytes)
        #expect(Outcome(of: masked, .server, deflate: PermessageDeflate()).inputs == outcome.inputs)
        #expect(Outcome(of: masked, by: 1, .server, deflate: PermessageDeflate()).inputs == outcome.inputs)
    }

    @Test(arguments: [
        frame(0xC1, [0]), frame(0xC1), frame(0x41) + frame(0x80), frame(0x41, [0]) + frame(0x80),
    ])
    func emptyMessagesMayBeCompressed(_ bytes: [UInt8]) {
        let outcome = Outcome(of: bytes + frame(0xC1, Self.compressed), deflate: PermessageDeflate())
        #expect(outcome.inputs == [.message(.text("")), Self.hello])
    }

    @Test func theWindowIsForgottenWithoutTakeover() {
        let bytes = frame(0xC1, Self.compressed) + frame(0xC1, Self.again)
        let deflate = Self.parameters { $0.serverKeepsContext = false }
        let outcome = Outcome(of: bytes, deflate: deflate)
        #expect(outcome.inputs == [Self.hello, .violation(.invalidCompression)])
        // The client's flag is about the other direction.
        let other = Self.parameters { $0.clientKeepsContext = false }
        #expect(Outcome(of: bytes, deflate: other).inputs == [Self.hello, Self.hello])
    }

    @Test(
        arguments: [
            ("a reserved block type", [0x06]), ("a distance too far", again),
            ("a block that does not end", Array(compressed.dropLast(3))),
            ("a stored block that does not end", [0x00, 0x20, 0x00, 0xDF, 0xFF, 0x61]),
            ("lengths that differ", [0x00, 0x05, 0x00, 0xFA, 0xFE]),
        ] as [(String, [UInt8])])
    func brokenDataIsRefused(_ name: String, _ payload: [UInt8]) {
        let bytes = frame(0xC2, payload)
        let outcome = Outcome(of: bytes, deflate: PermessageDeflate())
        #expect(outcome.inputs == [.violation(.invalidCompression)])
        #expect(Outcome(of: bytes, by: 1, deflate: PermessageDeflate()) == outcome)
    }

    @Test func textIsCheckedWhileItIsDecompressed() {
        // A stored block of 6 bytes, of which the third is no UTF-8; the rest never arrives.
        let bytes: [UInt8] = [0x00, 0x06, 0x00, 0xF9, 0xFF, 0x61, 0x62, 0xFF]
        let violation = Outcome(of: frame(0xC1, bytes, length: 100), deflate: PermessageDeflate()).violation
        #expect(violation == .invalidText)
        #expect(
            Outcome(of: frame(0x41, bytes), by: 1, deflate: PermessageDeflate()).violation == .invalidText)
    }

    // MARK: - Limits

    @Test func messagesAtTheLimitAreTaken() throws {
        for count in [999, 1000, 1001] {
            let bytes = try Self.sent([.binary([UInt8](repeating: 7, count: count))])
            let limits = WebSocketLimits(messageBytes: 1000)
            let outcome = Outcome(of: bytes, limits: limits, deflate: PermessageDeflate())
            if count <= 1000 {
                #expect(outcome.inputs == [.message(.binary([UInt8](repeating: 7, count: count)))])
            } else {
                #expect(outcome.inputs == [.violation(.largeMessage(1000))])
            }
            #expect(Outcome(of: bytes, by: 1, limits: limits, deflate: PermessageDeflate()) == outcome)
        }
    }

    @Test func bombsAreRefused() throws {
        let bytes = try Self.sent([.binary([UInt8](repeating: 0, count: 8 << 20))])
        #expect(bytes.count < 10_000)
        let outcome = Outcome(of: bytes, deflate: PermessageDeflate())
        #expect(outcome.violation == .expanded(100))
        #expect(Outcome(of: bytes, by: 100, deflate: PermessageDeflate()) == outcome)
        let wide = WebSocketLimits(expansion: 2000)
        #expect(Outcome(of: bytes, limits: wide, deflate: PermessageDeflate()).inputs.count == 1)
        #expect(Outcome(of: bytes, limits: wide, deflate: PermessageDeflate()).violation == nil)
    }

    @Test func earlierMessagesAllowNoBomb() throws {
        var random = Steps(1)
        let noise = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let bytes = try Self.sent([.binary(noise), .binary([UInt8](repeating: 0, count: 8 << 20))])
        let outcome = Outcome(of: bytes, deflate: PermessageDeflate())
        #expect(outcome.inputs == [.message(.binary(noise)), .violation(.expanded(100))])
    }

    @Test(arguments: [Int.max, .min, -1, 0])
    func limitsMayBeAnyNumber(_ number: Int) throws {
        var limits = WebSocketLimits()
        (limits.frameBytes, limits.messageBytes) = (number, number)
        (limits.expansion, limits.expansionFloor) = (number, number)
        let bytes = try Self.sent([.binary([]), .text("Hello"), .binary([UInt8](repeating: 0, count: 9999))])
        let outcome = Outcome(of: bytes, limits: limits, deflate: PermessageDeflate())
        #expect(outcome.inputs.count == (number > 0 ? 3 : 2))
        #expect(outcome.violation == (number > 0 ? nil : .largeFrame(0)))
    }

    // MARK: - Sending

    /// The frames of a server.
    static func sent(
        _ messages: [WebSocketMessage], deflate: PermessageDeflate = PermessageDeflate(),
        frameSize: Int = .max
    ) throws -> [UInt8] {
        var peer = Peer(.server, deflate: deflate, frameSize: frameSize)
        for message in messages { try peer.state.send(message, into: &peer.output) }
        return peer.output
    }

    @Test func writesTheExamples() throws {
        let twice: [WebSocketMessage] = [.text("Hello"), .text("Hello")]
        #expect(try Self.sent(twice) == frame(0xC1, Self.compressed) + frame(0xC1, Self.again))
        let forgetful = Self.parameters { $0.serverKeepsContext = false }
        #expect(
            try Self.sent(twice, deflate: forgetful) == frame(0xC1, Self.compressed)
                + frame(0xC1, Self.compressed))
        #expect(
            try Self.sent([.text("Hello")], frameSize: 4)
                == frame(0x41, Array(Self.compressed.prefix(4)))
                + frame(0x80, Array(Self.compressed.suffix(3))))
    }

    @Test func smallMessagesAreNotCompressed() throws {
        let deflate = Self.parameters { $0.minimumSize = 5 }
        #expect(try Self.sent([.text("Hell")], deflate: deflate) == text("Hell"))
        #expect(try Self.sent([.text("Hello")], deflate: deflate) == frame(0xC1, Self.compressed))
        #expect(try Self.sent([.text(""), .binary([])]) == [0x81, 0, 0x82, 0])
    }

    @Test func aWindowOf8BitsIsNotCompressedInto() throws {
        let deflate = Self.parameters { $0.serverWindowBits = 8 }
        #expect(try Self.sent([.text("Hello")], deflate: deflate) == text("Hello"))
        #expect(Outcome(of: frame(0xC1, Self.compressed), deflate: deflate).inputs == [Self.hello])
    }

    @Test(arguments: [8, 9, 12, 15], [true, false])
    func whatIsSentIsReceived(bits: Int, keepsContext: Bool) throws {
        var random = Steps(UInt64(bits))
        let words = ["alpha ", "beta ", "gamma ", "é€😀 ", "\u{0}"]
        let messages: [WebSocketMessage] = (0..<40).map { index in
            let count = [0, 1, 5, 100, 30_000][index % 5]
            let text = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            return index % 2 == 0
                ? .text(text) : .binary((0..<count).map { _ in UInt8.random(in: 0...3, using: &random) })
        }
        let deflate = Self.parameters {
            ($0.serverWindowBits, $0.clientWindowBits) = (bits, bits)
            ($0.serverKeepsContext, $0.clientKeepsContext) = (keepsContext, keepsContext)
        }
        for role in [WebSocketConnectionState.Role.client, .server] {
            var sender = Peer(role, deflate: deflate, frameSize: 1 << 12, random: Steps(1))
            for message in messages { try sender.state.send(message, into: &sender.output) }
            let other: WebSocketConnectionState.Role = role == .client ? .server : .client
            for size in [Int.max, 1000, 7] {
                let outcome = Outcome(of: sender.output, by: size, other, deflate: deflate)
                #expect(outcome.inputs == messages.map { .message($0) })
            }
        }
    }
}
