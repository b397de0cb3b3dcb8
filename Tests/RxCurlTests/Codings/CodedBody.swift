import RxHTTP
import TestServers
import Testing

/// A body as a server codes it, and the expected result.
struct CodedBody: Sendable, CustomTestStringConvertible {
    /// The framing by which the server marks the end of the body.
    enum Framing: CaseIterable {
        case length, chunks, close
    }

    enum Outcome: Sendable {
        case body(String)
        case fails(NetworkError.Code)
    }

    let name: String
    /// The value of `Content-Encoding`.
    let coding: String
    let bytes: [UInt8]
    let outcome: Outcome

    var testDescription: String { name }

    init(_ name: String, _ coding: String, _ bytes: [UInt8], _ outcome: Outcome) {
        self.name = name
        self.coding = coding
        self.bytes = bytes
        self.outcome = outcome
    }

    /// The whole response, after which the server closes.
    func response(_ framing: Framing) -> [UInt8] {
        var head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nConnection: close\r\n"
        switch framing {
        case .length:
            head += "Content-Length: \(bytes.count)\r\n\r\n"
            return Array(head.utf8) + bytes
        case .chunks:
            head += "Transfer-Encoding: chunked\r\n\r\n"
            let chunk =
                bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
            return Array(head.utf8) + chunk + Array("0\r\n\r\n".utf8)
        case .close: return Array((head + "\r\n").utf8) + bytes
        }
    }
}

extension CodedBody {
    private static let content = Array("whole".utf8)
    private static let gzip = Gzip.stored(content)
    private static let members = Gzip.stored(Array("who".utf8)) + Gzip.stored(Array("le".utf8))

    static let all =
        [
            CodedBody("gzip", "gzip", gzip, .body("whole")),
            CodedBody("gzip by its old name", "x-gzip", gzip, .body("whole")),
            CodedBody("gzip in capitals", "GZip", gzip, .body("whole")),
            CodedBody("gzip of two members (RFC 1952 §2.2)", "gzip", members, .body("whole")),
            CodedBody(
                "gzip with an empty member", "gzip", Gzip.stored([]) + gzip + Gzip.stored([]), .body("whole")),
            CodedBody(
                "gzip with padding", "gzip", gzip + [UInt8](repeating: 0, count: 512), .body("whole")),
            CodedBody("gzip and a line feed", "gzip", gzip + [10], .body("whole")),
            CodedBody("gzip and half a magic number", "gzip", gzip + [0x1F], .body("whole")),
            CodedBody(
                "gzip and a tail that begins like a member", "gzip", gzip + [0x1F, 0x20, 0x20], .body("whole")
            ),
            CodedBody(
                "gzip whose second member has a magic only", "gzip", gzip + [0x1F, 0x8B], .fails(.partialBody)
            ),
            CodedBody(
                "gzip whose second member breaks off", "gzip", members.dropLast(9), .fails(.partialBody)),
            CodedBody(
                "gzip whose second member is broken", "gzip", members.dropLast(8) + [1, 2, 3, 4, 2, 0, 0, 0],
                .fails(.invalidResponse)),
            CodedBody("gzip without trailer", "gzip", gzip.dropLast(8), .fails(.partialBody)),
            CodedBody("deflate", "deflate", Gzip.deflated(content, isWrapped: true), .body("whole")),
            CodedBody(
                "deflate without the header of zlib", "deflate", Gzip.deflated(content, isWrapped: false),
                .body("whole")),
            CodedBody(
                "deflate with a tail", "deflate", Gzip.deflated(content, isWrapped: true) + [1, 2],
                .body("whole")),
            CodedBody(
                "deflate with a wrong checksum", "deflate",
                Gzip.deflated(content, isWrapped: true).dropLast(4) + [1, 2, 3, 4], .fails(.invalidResponse)),
            CodedBody(
                "two codings", "deflate, gzip", Gzip.stored(Gzip.deflated(content, isWrapped: true)),
                .body("whole")),
            CodedBody(
                "two codings, of which the inner one breaks off", "gzip,gzip", Gzip.stored(gzip.dropLast(1)),
                .fails(.partialBody)),
            CodedBody("identity", "identity", content, .body("whole")),
            CodedBody("gzip among identities", "identity, gzip , identity", gzip, .body("whole")),
            CodedBody("an unknown coding", "odd", content, .body("whole")),
            CodedBody("an unknown coding inside of gzip", "odd, gzip", content, .body("whole")),
            CodedBody("no coding", "", content, .body("whole")),
            CodedBody("nothing in gzip", "gzip", [], .body("")),
            CodedBody("nothing in two codings", "deflate, gzip", [], .body("")),
        ] + brotli + zstd

    #if Brotli
    static let brotli = [
        CodedBody("br", "br", Brotli.whole, .body("whole")),
        CodedBody("br in gzip", "br, gzip", Gzip.stored(Brotli.whole), .body("whole")),
        CodedBody("br with a tail", "br", Brotli.whole + content, .body("whole")),
        CodedBody("br that breaks off", "br", Brotli.whole.dropLast(1), .fails(.partialBody)),
        CodedBody("nothing in br", "br", [], .body("")),
    ]
    #else
    static let brotli = [CodedBody("br", "br", content, .body("whole"))]
    #endif

    #if Zstd
    static let zstd = [
        CodedBody("zstd", "zstd", Zstd.stored(content), .body("whole")),
        CodedBody(
            "zstd of two frames", "zstd",
            Zstd.stored(Array("who".utf8)) + Zstd.skippable(count: 9) + Zstd.stored(Array("le".utf8)),
            .body("whole")),
        CodedBody("zstd with a tail", "zstd", Zstd.stored(content) + content, .body("whole")),
        CodedBody(
            "zstd and a tail that begins like a frame", "zstd",
            Zstd.stored(content) + [0x28, 1, 2, 3, 4, 5, 6, 7],
            .body("whole")),
        CodedBody(
            "zstd and the first byte of a frame", "zstd", Zstd.stored(content) + [0x28], .body("whole")),
        CodedBody(
            "zstd and the first byte of a skippable frame", "zstd", Zstd.stored(content) + [0x50],
            .body("whole")),
        CodedBody(
            "zstd whose second frame has half a magic only", "zstd", Zstd.stored(content) + [0x28, 0xB5],
            .fails(.partialBody)),
        CodedBody("zstd that breaks off", "zstd", Zstd.stored(content).dropLast(1), .fails(.partialBody)),
        CodedBody(
            "zstd whose second frame breaks off", "zstd",
            Zstd.stored(content) + Zstd.stored(content).dropLast(1),
            .fails(.partialBody)),
        // RFC 9659: 8 MiB.
        CodedBody(
            "zstd with a window of 16 MiB", "zstd", Zstd.stored(content, windowLog: 24),
            .fails(.invalidResponse)),
        CodedBody("nothing in zstd", "zstd", [], .body("")),
    ]
    #else
    static let zstd = [CodedBody("zstd", "zstd", content, .body("whole"))]
    #endif
}
