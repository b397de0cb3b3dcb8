import HTTPTypes
import RxHTTP
import TestServers
import Testing

@testable import RxCurl

/// Heads of any size over HTTP/2: they arrive complete, or the error says that they are too large.
@Suite(.timeLimit(.minutes(1))) struct HTTP2HeadTests {
    /// A 200 whose field lines have `count` KiB, in frames of 16 KiB, the default maximum (RFC 9113 §4.2).
    private static func head(kibibytes count: Int) -> [UInt8] {
        // `name: value` with its line end has 1 KiB; a literal field without indexing (RFC 7541 §6.2.2).
        let value = [UInt8](repeating: 0x78, count: 1024 - 4 - name.count)
        let rest = value.count - 127
        let field =
            [0, UInt8(name.count)] + name + [0x7F, UInt8(rest & 0x7F | 0x80), UInt8(rest >> 7)] + value
        let block = [0x88] + Array(repeatElement(field, count: count).joined())
        let pieces = stride(from: 0, to: block.count, by: 16_384).map {
            block[$0..<min(block.count, $0 + 16_384)]
        }
        return pieces.enumerated().flatMap { index, piece -> [UInt8] in
            let length = [piece.count >> 16, piece.count >> 8 & 0xFF, piece.count & 0xFF].map(UInt8.init)
            let isLast: UInt8 = index == pieces.count - 1 ? 4 : 0
            return length + [index == 0 ? 1 : 9, isLast, 0, 0, 0, 1] + piece
        }
    }
    /// The size in KiB up to which heads arrive: libcurl before 8.1 takes 128 KiB with the status line and line ends,
    /// and nghttp2 from 1.61 on takes nine frames.
    private static let limit = LibcurlFeatures.running.has(.stallsLongHTTP2Heads) ? 127 : 140
    private static let name = Array("big".utf8)

    @Test(arguments: [10, 50, 64, 66, 100, 120, 127, 130, 140, 150, 200, 250, 257, 300])
    func anySize(kibibytes: Int) async throws {
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
        let body: [UInt8] = [0, 0, 4, 0, 1, 0, 0, 0, 1] + Array("well".utf8)
        let preface = 24 + (9 + 18) + (9 + 4)
        let server = try RawServer([
            [
                .drop(preface + 9), .send(settings + Self.head(kibibytes: kibibytes) + body),
                .waitForClientClose,
            ]
        ])
        try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            var request = try Request.to(server.baseURL)
            request.timeouts.idle = .seconds(3)
            let log = try await Recording(transport.send(request)).ended()
            if kibibytes <= Self.limit {
                #expect(log.error == nil)
                #expect(log.head?.headerFields.count == kibibytes)
                #expect(log.body == Array("well".utf8))
            } else {
                #expect(log.error?.code == .tooLarge)
            }
        }
    }
}
