import HTTPTypes

@testable import RxHTTP

/// Multipart responses. However they arrive, the outcome is the same, and no part holds a boundary.
extension Parser {
    static let parts: [Parser] = [
        Parser(
            "multipart response",
            [
                "--b\r\nA: 1\r\n\r\nx\r\ny\r\n--b\r\n\r\nz\r\n--b--\r\n",
                "before\r\n--b \t\r\n\r\nx\r\n--b--",
                "--b\nA: 1\n b\n\nx\n--b\n--b\n\n\n--b--\nafter", "--b--",
                "--b\r\n\r\n--b\r\n--bc\r\n\r\n--b--",
            ]
        ) { bytes in
            let whole = try outcome(of: bytes, by: bytes.count)
            for size in [1, 2 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF } % 29] {
                let pieces = try outcome(of: bytes, by: size)
                try demand(pieces == whole, "\(pieces) by pieces of \(size), not \(whole)")
            }
            return whole
        }
    ]

    private static let limit = 40

    private static func outcome(of bytes: [UInt8], by size: Int) throws -> String {
        var parser = MultipartParser(limit: limit)
        parser.begin(
            ResponseHead(status: .ok, headerFields: [.contentType: "multipart/mixed; boundary=b"]))
        var parts: [ResponsePart] = []
        var end = "end"
        do throws(NetworkError) {
            for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
                try parser.read(Array(bytes[start..<min(start + size, bytes.count)]), into: &parts)
            }
            try parser.finish(into: &parts)
        } catch {
            end = error.code.rawValue
        }
        try demand(parts.count <= bytes.count / 4 + 1, "\(parts.count) parts")
        for part in parts {
            try demand(part.body.count <= limit, "\(part.body.count) bytes")
            let text = String(decoding: part.body, as: UTF8.self)
            try demand(!text.contains("\r\n--b\r\n"), "a boundary in a part")
        }
        return "\(parts.map { "\($0.headerFields) \($0.body)" }) \(end)"
    }
}
