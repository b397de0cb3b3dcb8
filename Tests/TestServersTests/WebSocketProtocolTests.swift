import Testing

@testable import TestServers

struct WebSocketProtocolTests {
    /// The examples of FIPS 180-4 and of RFC 6455 §1.3.
    @Test func theHandshakeIsAcceptedAsInTheExample() throws {
        #expect(
            Octets(SHA1.digest(Array("abc".utf8)))
                == Octets(hex: "A9993E364706816ABA3E25717850C26C9CD0D89D"))
        #expect(
            Octets(SHA1.digest([UInt8](repeating: UInt8(ascii: "a"), count: 119)))
                == Octets(hex: "EE971065AAA017E0632A8CA6C77BB3BF8B1DFC56"))
        let request = try UpgradeRequest(
            "GET /runCase?agent=a&case=12 HTTP/1.1\r\nHost: a\r\nupgrade: WebSocket\r\n"
                + "Connection: a, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        #expect(request.caseNumber == 12)
        let response = String(decoding: request.response(extensions: "x; y"), as: UTF8.self)
        #expect(response.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(response.hasSuffix("\r\nSec-WebSocket-Extensions: x; y\r\n\r\n"))
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536])
    func framesComeBackAsTheyWereSent(length: Int) throws {
        let payload = Octets(repeating: Octets(hex: "00FF7E"), count: length)
        var bytes: [UInt8] = []
        Frame(opcode: .binary, payload: payload, isFinal: false, reserved: 5).encode(into: &bytes)
        #expect(bytes.count == length + (length < 126 ? 2 : length < 65_536 ? 4 : 10))
        var reader = FrameReader()
        for chunk in stride(from: 0, to: bytes.count, by: 1000) {
            #expect(try reader.next() == nil)
            reader.append(Array(bytes[chunk..<min(chunk + 1000, bytes.count)]))
        }
        let received = try #require(try reader.next())
        #expect(received.frame.payload == payload)
        #expect(received.frame.opcode == .binary)
        #expect(received.frame.reserved == 5)
        #expect(!received.frame.isFinal && !received.isMasked && received.isMinimal)
        #expect(try reader.next() == nil)
    }

    /// The example of RFC 6455 §5.7, and the same with a length in a long form.
    @Test(arguments: [("8185", true), ("81FE0005", false), ("81FF0000000000000005", false)])
    func masksAreRemoved(header: String, isMinimal: Bool) throws {
        var reader = FrameReader()
        reader.append(Octets(hex: header + "37FA213D7F9F4D5158").bytes)
        let received = try #require(try reader.next())
        #expect(received.frame.payload == "Hello")
        #expect(received.isMasked)
        #expect(received.isMinimal == isMinimal)
    }

    @Test func aFrameThatIsTooLongIsNotAwaited() {
        var reader = FrameReader()
        reader.append(Octets(hex: "82FF7FFFFFFFFFFFFFFF00000000").bytes)
        #expect(throws: Violation.self) { try reader.next() }
    }

    @Test(arguments: [
        (10, 5, [5, 5, 0]), (11, 5, [5, 5, 1]), (4, 5, [4]), (5, 5, [5]), (3, 1, [1, 1, 1, 0]),
    ])
    func fragmentsEndLikeTheSuites(length: Int, size: Int, lengths: [Int]) {
        let frames = Frame.fragments(.text, Octets(repeating: "x", count: length), size: size, reserved: 4)
        #expect(frames.map(\.payload.count) == lengths)
        #expect(frames.map(\.isFinal) == lengths.indices.map { $0 == lengths.count - 1 })
        #expect(frames.map(\.opcode) == lengths.indices.map { $0 == 0 ? .text : .continuation })
        #expect(frames.map(\.reserved) == lengths.indices.map { $0 == 0 ? 4 : 0 })
    }

    @Test(
        arguments: [
            ("permessage-deflate", [DeflateRequest()], "permessage-deflate"),
            (
                "x, permessage-deflate; client_max_window_bits", [DeflateRequest(clientBits: 9)],
                "permessage-deflate; client_max_window_bits=9"
            ),
            ("permessage-deflate", [DeflateRequest(clientBits: 9)], nil),
            (
                "permessage-deflate",
                [DeflateRequest(clientBits: 9), DeflateRequest(clientWithoutContext: true)],
                "permessage-deflate; client_no_context_takeover"
            ),
            (
                "permessage-deflate; server_max_window_bits=10; server_no_context_takeover",
                [DeflateRequest()],
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=10"
            ),
            (
                "permessage-deflate; server_max_window_bits=8, permessage-deflate", [DeflateRequest()],
                "permessage-deflate"
            ),
            ("", [DeflateRequest()], nil),
        ] as [(String, [DeflateRequest], String?)])
    func compressionIsAgreed(offer: String, requests: [DeflateRequest], field: String?) throws {
        #expect(DeflateRequest.agree(requests, on: try DeflateOffer.all(in: offer))?.field == field)
    }

    @Test(arguments: [
        "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=09", "permessage-deflate; x",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
    ])
    func wrongOffersAreRefused(offer: String) {
        #expect(throws: DeflateOffer.Invalid.self) { try DeflateOffer.all(in: offer) }
    }

    @Test(arguments: [9, 15], [true, false])
    func compressedMessagesComeBack(bits: Int, keepsContext: Bool) throws {
        let deflater = MessageDeflater(bits: bits, keepsContext: keepsContext)
        let inflater = MessageInflater(bits: bits, keepsContext: keepsContext)
        var sizes: [Int] = []
        for index in [0, 0, 5] {
            let message = CompressionSample.json.slice(index, length: 4096)
            let payload = deflater.compress(message)
            sizes.append(payload.count)
            #expect(try inflater.decompress(payload) == message)
        }
        #expect(try inflater.decompress(deflater.compress([])) == [])
        // A repeated message refers to the one before only if the context is kept and the window holds it.
        #expect((sizes[1] < sizes[0] / 4) == (keepsContext && bits == 15))
    }

    @Test func aClientWithAnotherWindowOrContextIsFound() throws {
        let message = CompressionSample.german.slice(0, length: 4096)
        let deflater = MessageDeflater(bits: 15, keepsContext: true)
        let first = deflater.compress(message)
        #expect(throws: Violation.self) {
            try MessageInflater(bits: 9, keepsContext: true).decompress(first)
        }
        let second = deflater.compress(message)
        let inflater = MessageInflater(bits: 15, keepsContext: false)
        #expect(try inflater.decompress(first) == message)
        #expect(throws: Violation.self) { try inflater.decompress(second) }
    }

    @Test func theSamplesHaveTheSizesOfTheSuitesFiles() {
        let sizes = CompressionSample.all.map { $0.slice(0, length: 1 << 17).count }
        #expect(sizes.prefix(3) == [131_072, 131_072, 131_072])
        // A message of text is measured in characters.
        #expect(sizes[3] > 131_072 && sizes[3] < 132_000)
        for sample in CompressionSample.all where sample.isText {
            for index in 0..<40 {
                #expect(
                    String(validating: sample.slice(index, length: 16_384).bytes, as: UTF8.self)?
                        .unicodeScalars.count == 16_384)
            }
        }
        #expect(
            CompressionSample.json.slice(1, length: 1000)
                == Octets(
                    Array(CompressionSample.json.slice(0, length: 2000).bytes.suffix(1000))))
    }
}
