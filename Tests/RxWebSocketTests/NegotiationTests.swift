import HTTPTypes
import Testing

@testable import RxWebSocket

/// The negotiation of `permessage-deflate` (RFC 7692 §7.1).
@Suite struct NegotiationTests {
    static func compression(
        server: Int = 15, client: Int = 15, keepsServer: Bool = true, keepsClient: Bool = true
    ) -> WebSocketCompression {
        var compression = WebSocketCompression.permessageDeflate
        (compression.serverWindowBits, compression.clientWindowBits) = (server, client)
        (compression.keepsServerContext, compression.keepsClientContext) = (keepsServer, keepsClient)
        return compression
    }

    static func parameters(
        server: Int = 15, client: Int = 15, keepsServer: Bool = true, keepsClient: Bool = true
    ) -> PermessageDeflate {
        var parameters = PermessageDeflate()
        (parameters.serverWindowBits, parameters.clientWindowBits) = (server, client)
        (parameters.serverKeepsContext, parameters.clientKeepsContext) = (keepsServer, keepsClient)
        parameters.minimumSize = WebSocketCompression.permessageDeflate.minimumSize
        return parameters
    }

    static func verify(_ values: [String], _ compression: WebSocketCompression) throws -> PermessageDeflate? {
        let handshake = WebSocketHandshake(key: HandshakeTests.key, compression: compression)
        let fields = HandshakeTests.response { $0[values: .secWebSocketExtensions] = values }
        return try handshake.verify(status: 101, fields: fields).deflate
    }

    @Test(
        arguments: [
            (compression(), "permessage-deflate; client_max_window_bits"),
            (
                compression(server: 9, client: 10, keepsServer: false, keepsClient: false),
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
                    + "; server_max_window_bits=9; client_max_window_bits=10"
            ),
            (
                compression(server: 1, client: 1),
                "permessage-deflate; server_max_window_bits=8; client_max_window_bits=9"
            ),
            (compression(server: 99, client: 99), "permessage-deflate; client_max_window_bits"),
        ])
    func offersAreWritten(_ compression: WebSocketCompression, _ text: String) {
        #expect(WebSocketHandshake(key: "", compression: compression).fields[.secWebSocketExtensions] == text)
    }

    @Test(
        arguments: [
            ("permessage-deflate", compression(), parameters()),
            (
                " permessage-deflate ; server_no_context_takeover", compression(),
                parameters(keepsServer: false)
            ),
            ("permessage-deflate;client_no_context_takeover", compression(), parameters(keepsClient: false)),
            ("permessage-deflate; server_max_window_bits=10", compression(), parameters(server: 10)),
            (
                "permessage-deflate; server_max_window_bits=\"8\"", compression(server: 9),
                parameters(server: 8)
            ),
            ("permessage-deflate; client_max_window_bits = 8", compression(), parameters(client: 8)),
            ("permessage-deflate", compression(client: 11), parameters(client: 11)),
            ("permessage-deflate", compression(keepsClient: false), parameters(keepsClient: false)),
            (
                ",, permessage-deflate; client_max_window_bits=9; server_no_context_takeover,",
                compression(client: 11, keepsServer: false), parameters(client: 9, keepsServer: false)
            ),
        ])
    func responsesAreTaken(
        _ text: String, _ compression: WebSocketCompression, _ expected: PermessageDeflate
    ) throws {
        #expect(try Self.verify([text], compression) == expected)
    }

    @Test(
        arguments: [
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10",
            "permessage-deflate; client_max_window_bits=10; client_max_window_bits=10",
            "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; unknown",
            "permessage-deflate; server_max_window_bits", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=08", "permessage-deflate; server_max_window_bits=+9",
            "permessage-deflate; server_max_window_bits=99999999999999999999",
            "permessage-deflate; client_max_window_bits=\"8",
            "permessage-deflate; client_max_window_bits=\"\"",
            "permessage-deflate;", "permessage-deflate; =8", "permessage-deflate x", "\"permessage-deflate\"",
            "permessage-deflate, permessage-deflate", "x-webkit-deflate-frame", "Permessage-Deflate; é",
            "permessage-deflate, x-other", ";",
        ])
    func responsesAreRefused(_ text: String) {
        #expect(throws: WebSocketHandshakeError.self) { try Self.verify([text], Self.compression()) }
    }

    @Test func responsesMustKeepToTheOffer() {
        let (text, error) = ("permessage-deflate", WebSocketHandshakeError.self)
        #expect(throws: error) { try Self.verify([text], .off) }
        #expect(throws: error) { try Self.verify([text, text], Self.compression()) }
        #expect(throws: error) { try Self.verify([text], Self.compression(server: 10)) }
        #expect(throws: error) { try Self.verify([text], Self.compression(keepsServer: false)) }
        #expect(throws: error) {
            try Self.verify([text + "; server_max_window_bits=11"], Self.compression(server: 10))
        }
        #expect(throws: error) {
            try Self.verify([text + "; client_max_window_bits=11"], Self.compression(client: 10))
        }
    }

    @Test(
        arguments: [
            ("permessage-deflate", "permessage-deflate", parameters()),
            ("permessage-deflate; client_max_window_bits", "permessage-deflate", parameters()),
            (
                "permessage-deflate; client_max_window_bits=10; server_max_window_bits=15",
                "permessage-deflate; server_max_window_bits=15; client_max_window_bits=10",
                parameters(client: 10)
            ),
            (
                "permessage-deflate; server_max_window_bits=7, x, "
                    + "permessage-deflate; server_no_context_takeover",
                "permessage-deflate; server_no_context_takeover", parameters(keepsServer: false)
            ),
            (
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=9",
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=9",
                parameters(server: 9, keepsClient: false)
            ),
            ("permessage-deflate; unknown", nil, nil), ("permessage-deflate;", nil, nil), ("x", nil, nil),
        ] as [(String, String?, PermessageDeflate?)])
    func aServerAnswersOffers(_ offer: String, _ response: String?, _ agreed: PermessageDeflate?) throws {
        var fields = WebSocketHandshake(key: HandshakeTests.key).fields
        fields[.secWebSocketExtensions] = offer
        let answer = try WebSocketHandshake.answer(to: fields, compression: .permessageDeflate)
        #expect(answer.fields[.secWebSocketExtensions] == response)
        #expect(answer.agreement.deflate == agreed)
    }

    @Test func aServerLimitsOnlyClientsThatOfferIt() throws {
        var fields = WebSocketHandshake(key: HandshakeTests.key).fields
        fields[.secWebSocketExtensions] = "permessage-deflate"
        let strict = Self.compression(server: 10, client: 10, keepsServer: false, keepsClient: false)
        let answer = try WebSocketHandshake.answer(to: fields, compression: strict)
        #expect(
            answer.fields[.secWebSocketExtensions]
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
                + "; server_max_window_bits=10")
        #expect(
            answer.agreement.deflate == Self.parameters(server: 10, keepsServer: false, keepsClient: false))
    }
}
