import HTTPTypes
import Testing

@testable import RxWebSocket

/// The opening handshake (RFC 6455 §4), with the example of §1.3.
@Suite struct HandshakeTests {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    static func response(_ change: (inout HTTPFields) -> Void = { _ in }) -> HTTPFields {
        var fields: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: accept]
        change(&fields)
        return fields
    }

    static func failure(
        _ fields: HTTPFields, status: Int = 101, subprotocols: [String] = [],
        compression: WebSocketCompression = .off
    ) -> WebSocketHandshakeError? {
        let handshake = WebSocketHandshake(key: key, subprotocols: subprotocols, compression: compression)
        do {
            _ = try handshake.verify(status: status, fields: fields)
            return nil
        } catch {
            return error
        }
    }

    @Test func theAcceptValueIsThatOfTheRFC() {
        #expect(WebSocketHandshake.accept(for: Self.key) == Self.accept)
    }

    @Test(
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
        ])
    func digestsAreThoseOfFIPS180(text: String, digest: String) {
        let bytes = HandshakeHash.digest(of: Array(text.utf8))
        #expect(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == digest)
    }

    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
    func base64IsThatOfRFC4648(text: String, coded: String) {
        #expect(Base64.text(of: Array(text.utf8)) == coded)
        #expect(Base64.byteCount(of: coded) == text.utf8.count)
    }

    @Test(arguments: ["a", "ab=c", "a===", "Zm9$", "Zg==Zg=="])
    func whatIsNoBase64HasNoLength(text: String) { #expect(Base64.byteCount(of: text) == nil) }

    /// Fields of any size take linear time. The marks have another order in the form that `String` compares.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [HTTPField.Name.upgrade, .connection, .secWebSocketAccept, .secWebSocketProtocol])
    func largeFields(name: HTTPField.Name) {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(Self.failure(Self.response { $0[name] = marks }, subprotocols: ["chat"]) != nil)
    }

    @Test func theRequestAsksForAWebSocket() throws {
        var random = Steps(1)
        let handshake = try WebSocketHandshake(
            subprotocols: ["chat", "superchat"], compression: .permessageDeflate, using: &random)
        let fields = handshake.fields
        #expect(fields[.upgrade] == "websocket")
        #expect(fields[.connection] == "Upgrade")
        #expect(fields[.secWebSocketVersion] == "13")
        #expect(fields[.secWebSocketKey] == handshake.key)
        #expect(Base64.byteCount(of: handshake.key) == 16)
        #expect(fields[.secWebSocketProtocol] == "chat, superchat")
        #expect(fields[.secWebSocketExtensions] == "permessage-deflate; client_max_window_bits")
        let other = try WebSocketHandshake(using: &random)
        #expect(other.key != handshake.key)
        #expect(other.fields[.secWebSocketProtocol] == nil)
        #expect(other.fields[.secWebSocketExtensions] == nil)
    }

    @Test(arguments: [["a b"], [""], ["a", "a"], ["a,b"], ["é"]])
    func onlyTokensAreOffered(_ names: [String]) {
        var random = Steps(1)
        #expect(throws: WebSocketHandshakeError.invalidSubprotocol(at: names.count - 1)) {
            try WebSocketHandshake(subprotocols: names, using: &random)
        }
    }

    @Test func responsesAreTaken() throws {
        let handshake = WebSocketHandshake(key: Self.key, subprotocols: ["chat", "superchat"])
        #expect(try handshake.verify(status: 101, fields: Self.response()) == WebSocketAgreement())
        let fields = Self.response {
            $0[.upgrade] = "h2c, WebSocket"
            $0[.connection] = "keep-alive,\tUPGRADE"
            $0[.secWebSocketProtocol] = "superchat"
        }
        #expect(
            try handshake.verify(status: 101, fields: fields) == WebSocketAgreement(subprotocol: "superchat"))
    }

    @Test func responsesAreRefused() {
        #expect(Self.failure(Self.response(), status: 200) == .status(200))
        #expect(Self.failure(Self.response { $0[.upgrade] = nil }) == .field("Upgrade", value: nil))
        #expect(Self.failure(Self.response { $0[.upgrade] = "h2c" }) == .field("Upgrade", value: "h2c"))
        #expect(
            Self.failure(Self.response { $0[.upgrade] = "websockets" })
                == .field("Upgrade", value: "websockets"))
        #expect(
            Self.failure(Self.response { $0[.connection] = "close" }) == .field("Connection", value: "close"))
        #expect(Self.failure(Self.response { $0[.secWebSocketAccept] = nil }) == .acceptKey)
        #expect(Self.failure(Self.response { $0[.secWebSocketAccept] = Self.key }) == .acceptKey)
        #expect(
            Self.failure(Self.response { $0[.secWebSocketAccept] = Self.accept.lowercased() }) == .acceptKey)
        #expect(
            Self.failure(
                Self.response { $0.append(HTTPField(name: .secWebSocketAccept, value: Self.accept)) })
                == .acceptKey)
    }

    @Test(arguments: ["chats", "Chat", "", "chat, superchat"])
    func subprotocolsMustBeOffered(_ name: String) {
        let fields = Self.response { $0[.secWebSocketProtocol] = name }
        #expect(Self.failure(fields, subprotocols: ["chat", "superchat"]) == .subprotocol)
    }

    @Test func onlyOneSubprotocolIsTaken() {
        let fields = Self.response { $0[values: .secWebSocketProtocol] = ["chat", "chat"] }
        #expect(Self.failure(fields, subprotocols: ["chat"]) == .subprotocol)
        #expect(Self.failure(Self.response { $0[.secWebSocketProtocol] = "chat" }) == .subprotocol)
    }

    @Test func bothSidesAgree() throws {
        var random = Steps(1)
        var compression = WebSocketCompression.permessageDeflate
        compression.clientWindowBits = 12
        let handshake = try WebSocketHandshake(
            subprotocols: ["a", "b"], compression: compression, using: &random)
        let answer = try WebSocketHandshake.answer(
            to: handshake.fields, subprotocols: ["c", "b"], compression: .permessageDeflate)
        #expect(answer.agreement.subprotocol == "b")
        #expect(answer.agreement.deflate?.clientWindowBits == 12)
        #expect(try handshake.verify(status: 101, fields: answer.fields) == answer.agreement)
        let plain = try WebSocketHandshake.answer(to: handshake.fields)
        #expect(plain.agreement == WebSocketAgreement())
        #expect(try handshake.verify(status: 101, fields: plain.fields) == plain.agreement)
    }

    @Test(
        arguments: [
            (.upgrade, "h2c"), (.connection, nil), (.secWebSocketVersion, "8"), (.secWebSocketKey, nil),
            (.secWebSocketKey, "YQ=="), (.secWebSocketKey, "dGhlIHNhbXBsZSBub25jZQ"),
        ] as [(HTTPField.Name, String?)])
    func requestsAreRefused(_ name: HTTPField.Name, _ value: String?) {
        var fields = WebSocketHandshake(key: Self.key).fields
        fields[name] = value
        #expect(throws: WebSocketHandshakeError.field(name.rawName, value: value)) {
            try WebSocketHandshake.answer(to: fields)
        }
    }
}
