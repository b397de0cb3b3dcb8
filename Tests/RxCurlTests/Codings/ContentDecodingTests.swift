import Testing

@testable import RxCurl

/// The decoding stage in isolation.
@Suite struct ContentDecodingTests {
    /// All decoded pieces of a body that is fed in pieces of `size` bytes.
    private static func decode(
        _ bytes: [UInt8], _ codings: [ContentCoding], limits: ContentDecoding.Limits = .init(),
        by size: Int = 100
    ) throws(ContentDecoding.Failure) -> (bytes: [UInt8], largest: Int, brokenOff: ContentCoding?) {
        let decoding = ContentDecoding(codings, limits: limits)
        var (whole, largest, start) = ([UInt8](), 0, 0)
        while start < bytes.count {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            unsafe piece.withUnsafeBytes { unsafe decoding.feed($0) }
            while let decoded = try decoding.next() {
                largest = max(largest, decoded.count)
                whole += decoded
            }
            start += size
        }
        return (whole, largest, decoding.brokenOff)
    }

    private static let loose = ContentDecoding.Limits(expansion: 1_000_000)

    /// For any number of decoded bytes from one.
    @Test func piecesAreSmall() throws {
        let zeros = Gzip.zeros(count: 4 << 20)
        let result = try Self.decode(zeros, [.gzip], limits: Self.loose, by: zeros.count)
        #expect(result.largest == ContentDecoding.pieceSize)
        #expect(result.bytes.count > 4_194_000)
        #expect(result.brokenOff == .gzip)
    }

    @Test func growthIsRefusedAboveTheFloorOnly() throws {
        let limits = ContentDecoding.Limits(expansion: 10, floor: 1 << 20)
        let small = try Self.decode(Gzip.zeros(count: 1 << 20), [.gzip], limits: limits)
        #expect(small.bytes.count > 1_048_000)
        #expect(throws: ContentDecoding.Failure.expanded) {
            try Self.decode(Gzip.zeros(count: 2 << 20), [.gzip], limits: limits)
        }
        let member = Gzip.stored([UInt8](repeating: 1, count: 65_535))
        let members = (0..<20).flatMap { _ in member }
        let fair = try Self.decode(members, [.gzip], limits: .init(expansion: 1), by: 5000)
        #expect(fair.bytes.count == 20 * 65_535)
    }

    /// Expansion between two codings counts, even if the second coding outputs nothing.
    @Test func growthWithinIsRefused() {
        #expect(throws: ContentDecoding.Failure.expanded) {
            try Self.decode(
                Gzip.zeros(count: 8 << 20), [.gzip, .gzip], limits: .init(expansion: 10, floor: 0))
        }
    }

    @Test func whatIsMalformedNamesItsCoding() throws {
        #expect(throws: ContentDecoding.Failure.malformed(.deflate)) {
            try Self.decode(Gzip.stored(Array("plain".utf8)), [.deflate, .gzip])
        }
    }

    @Test(arguments: [1, 2, 3, 7, 64, 4096])
    func theSizeOfWhatIsFedDoesNotMatter(size: Int) throws {
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let coded = Gzip.stored(Gzip.deflated(bytes, isWrapped: true))
        let result = try Self.decode(coded + coded, [.deflate, .gzip], by: size)
        // A tail after the complete content is ignored.
        #expect(result.bytes == bytes)
        #expect(result.brokenOff == nil)
    }

    @Test(
        arguments: [
            ("gzip", [.gzip]), ("X-GZIP", [.gzip]), ("deflate , gzip", [.deflate, .gzip]), ("", []),
            (" , ,", []), ("identity", []), ("gzip;q=1", []), ("g zip", []), ("gzip, odd", []),
            ("identity,\tdeflate", [.deflate]),
        ] as [(String, [ContentCoding])])
    func lists(value: String, codings: [ContentCoding]) {
        #expect(ContentCoding.list(in: value) == codings)
    }

    /// A list of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func largeList() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(ContentCoding.list(in: "gzip, \(marks)") == [])
    }

    @Test(
        arguments: [
            ("Content-Encoding: gzip", true), ("content-encoding:", true), ("CONTENT-ENCODING:x", true),
            ("Content-Encoding", false), ("Content-Encodings: a", false), ("Content-Length: 10000", false),
            ("X-Content-Encoding: gzip", false), ("", false),
        ])
    func fieldLines(line: String, isNamed: Bool) {
        let bytes = Array(line.utf8)
        #expect(unsafe bytes.withUnsafeBytes { unsafe ContentCoding.isNamed(in: $0) } == isNamed)
    }
}
