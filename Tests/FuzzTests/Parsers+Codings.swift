@testable import RxCurl

/// Coded bodies. For any split into pieces the result is the same, and within the limits.
extension Parser {
    static let codings: [Parser] =
        ContentCoding.allCases.map { coding in
            Parser(coding.rawValue, bytes: corpus[coding.rawValue] ?? []) { try decode($0, [coding]) }
        } + [
            Parser("gzip in gzip", bytes: corpus["gzip"] ?? []) { try decode($0, [.gzip, .gzip]) },
            Parser(
                "Content-Encoding",
                text: ["gzip", "deflate, gzip", "br,zstd", "identity ,\tx-gzip", "odd, gzip", ",,", ""]
            ) { text in
                let codings = ContentCoding.list(in: text)
                try demand(codings.count <= text.utf8.count(where: { $0 == 0x2C }) + 1, "\(codings)")
                let line = Array("Content-Encoding:\(text)".utf8)
                let isNamed = unsafe line.withUnsafeBytes { unsafe ContentCoding.isNamed(in: $0) }
                try demand(isNamed, "the field is not found")
                return "\(codings)"
            },
        ]

    private static func decode(_ bytes: [UInt8], _ codings: [ContentCoding]) throws(Violation) -> String {
        let outcomes = [bytes.count, 1, 7].map { outcome(of: bytes, codings, by: max(1, $0)) }
        try demand(outcomes.allSatisfy { $0 == outcomes[0] }, "the size of the pieces matters: \(outcomes)")
        return outcomes[0]
    }

    private static func outcome(of bytes: [UInt8], _ codings: [ContentCoding], by size: Int) -> String {
        let limits = ContentDecoding.Limits(expansion: 10, floor: 128 << 10)
        let decoding = ContentDecoding(codings, limits: limits)
        var (count, sum) = (0, 0)
        do throws(ContentDecoding.Failure) {
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                unsafe piece.withUnsafeBytes { unsafe decoding.feed($0) }
                while let decoded = try decoding.next() {
                    count += decoded.count
                    sum = decoded.reduce(sum) { $0 &* 31 &+ Int($1) }
                }
            }
            guard count <= limits.floor else { return "more than is allowed by pieces of \(size)" }
            return
                "\(count) bytes of sum \(sum), \(decoding.brokenOff.map { "broken off in \($0)" } ?? "whole")"
        } catch {
            return "\(error)"
        }
    }

    private static let corpus: [String: [[UInt8]]] = [
        "gzip": [
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 243, 44, 81, 72, 206, 207, 45, 40,
                74, 45, 46, 78, 45, 86, 40, 79, 205, 201, 209, 81, 40, 206, 204, 75, 78, 85,
                200, 44, 81, 40, 74, 45, 72, 77, 44, 41, 6, 50, 245, 20, 60, 137, 85, 8,
                0, 192, 238, 79, 138, 82, 0, 0, 0,
            ],
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 193, 49, 1, 0, 0, 0, 194,
                160, 172, 235, 95, 194, 26, 30, 64, 1, 0, 0, 239, 6, 200, 60, 220, 94, 184,
                11, 0, 0,
            ],
            [
                31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 4, 0, 67, 190, 183, 232, 1,
                0, 0, 0, 31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 2, 0, 249, 239,
                190, 113, 1, 0, 0, 0,
            ],
            [
                31, 139, 8, 28, 0, 0, 0, 0, 2, 3, 3, 0, 97, 98, 99, 110, 97, 109,
                101, 0, 110, 111, 116, 101, 0, 171, 0, 0, 131, 22, 220, 140, 1, 0, 0, 0,
            ],
        ],
        "deflate": [
            [
                120, 218, 243, 44, 81, 72, 206, 207, 45, 40, 74, 45, 46, 78, 45, 86, 40, 79,
                205, 201, 209, 81, 40, 206, 204, 75, 78, 85, 200, 44, 81, 40, 74, 45, 72, 77,
                44, 41, 6, 50, 245, 20, 60, 137, 85, 8, 0, 213, 39, 29, 95,
            ],
            [
                243, 44, 81, 72, 206, 207, 45, 40, 74, 45, 46, 78, 45, 86, 40, 79, 205, 201,
                209, 81, 40, 206, 204, 75, 78, 85, 200, 44, 81, 40, 74, 45, 72, 77, 44, 41,
                6, 50, 245, 20, 60, 137, 85, 8, 0,
            ],
        ],
        "br": [
            [
                11, 2, 128, 119, 104, 111, 108, 101, 3,
            ],
            [
                19, 81, 0, 0, 4, 106, 114, 164, 55, 127, 146, 132, 91, 16, 180, 224, 31, 28,
                114, 224, 248, 197, 89, 28, 88, 224, 129, 135, 108, 47, 197, 32, 52, 83, 161, 255,
                188, 51, 38, 198, 98, 118, 217, 80, 71, 134, 175, 167, 7, 49,
            ],
        ],
        "zstd": [
            [
                40, 181, 47, 253, 36, 5, 41, 0, 0, 119, 104, 111, 108, 101, 40, 230, 84, 201,
            ],
            [
                40, 181, 47, 253, 32, 5, 41, 0, 0, 119, 104, 111, 108, 101,
            ],
            [
                40, 181, 47, 253, 36, 82, 141, 1, 0, 148, 2, 73, 116, 32, 99, 111, 109, 112,
                114, 101, 115, 115, 101, 115, 32, 119, 101, 108, 108, 44, 32, 115, 105, 110, 99, 101,
                32, 105, 116, 32, 114, 101, 112, 101, 97, 116, 115, 32, 105, 116, 46, 32, 1, 0,
                193, 32, 85, 6, 38, 36, 13, 64,
            ],
            [
                80, 42, 77, 24, 3, 0, 0, 0, 1, 2, 3, 40, 181, 47, 253, 0, 80, 3,
                0, 0, 97,
            ],
        ],
    ]
}
