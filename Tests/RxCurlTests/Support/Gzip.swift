/// Gzip files made by hand (RFC 1951, RFC 1952), with known faults.
enum Gzip {
    /// `bytes` (at most 65,535) in one stored block.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        return header + [1] + little(count) + little(~count) + bytes
            + little(checksum(bytes)) + little(UInt32(bytes.count))
    }

    /// `bytes` without the header and trailer of gzip, as raw deflate (RFC 1951), and with those of zlib (RFC 1950).
    static func deflated(_ bytes: [UInt8], isWrapped: Bool) -> [UInt8] {
        let count = UInt16(bytes.count)
        let raw = [1] + little(count) + little(~count) + bytes
        guard isWrapped else { return raw }
        let sums = bytes.reduce((a: UInt32(1), b: UInt32(0))) { sums, byte in
            let a = (sums.a + UInt32(byte)) % 65521
            return (a, (sums.b + a) % 65521)
        }
        return [0x78, 0x01] + raw + little(sums.b << 16 | sums.a).reversed()
    }

    /// `count` zeros without the trailer, if that would come too late to matter.
    static func zeros(count: Int) -> [UInt8] { header + deflatedZeros(count: count) }

    /// `count` zeros in raw deflate, at some 13 bits for 258 of them: a zero, then copies of the previous
    /// byte.
    static func deflatedZeros(count: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.append(0b011, count: 3)  // the last block, with fixed codes
        bits.appendCode(0x30, count: 8)  // the literal 0
        // The length 258, which is the code 1100 0101, and the distance 1, which is 00000.
        for _ in 0..<(count - 1) / 258 { bits.append(0b1010_0011, count: 13) }
        bits.appendCode(0, count: 7)  // the end of the block
        return bits.finish()
    }

    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }

    private struct BitWriter {
        var bytes: [UInt8] = []
        private var pending: UInt32 = 0
        private var pendingCount = 0

        /// Least significant bit first.
        mutating func append(_ value: UInt32, count: Int) {
            pending |= value << pendingCount
            pendingCount += count
            while pendingCount >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                pendingCount -= 8
            }
        }

        /// Most significant bit first, as in Huffman codes.
        mutating func appendCode(_ code: UInt32, count: Int) {
            for bit in (0..<count).reversed() { append(code >> bit & 1, count: 1) }
        }

        mutating func finish() -> [UInt8] {
            if pendingCount > 0 { append(0, count: 8 - pendingCount) }
            return bytes
        }
    }
}
