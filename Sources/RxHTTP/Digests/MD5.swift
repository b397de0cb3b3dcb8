/// An MD5 digest (RFC 1321) of bytes that arrive in pieces, for protocols that require it; it does not withstand an
/// attacker.
package struct MD5: Sendable {
    private var state = SIMD4<UInt32>(0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
    private var blocks = HashBlocks(of: 64)

    /// Creates the digest of no bytes.
    package init() {}

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        var state = state
        unsafe blocks.add(bytes) { blocks in unsafe Self.mix(blocks, into: &state) }
        self.state = state
    }

    /// The digest of all bytes so far.
    package consuming func finish() -> [UInt8] {
        update(blocks.padding(isBigEndian: false))
        return (0..<4).flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: state[word] >> UInt32(8 * $0)) }
        }
    }

    /// Mixes whole blocks of 64 bytes (RFC 1321 §3.4).
    private static func mix(_ blocks: UnsafeRawBufferPointer, into state: inout SIMD4<UInt32>) {
        // Guard: the blocks are whole, so that each load stays within them; the indices of constants stay below 64.
        assert(blocks.count % 64 == 0)
        unsafe constantsMD5.withUnsafeBufferPointer { constants in
            for start in stride(from: 0, to: blocks.count, by: 64) {
                var (a, b, c, d) = (state[0], state[1], state[2], state[3])
                @inline(__always)
                func round(_ choice: UInt32, _ index: Int, _ word: Int, _ shifts: SIMD4<UInt32>) {
                    let word = unsafe UInt32(
                        littleEndian: blocks.loadUnaligned(
                            fromByteOffset: start &+ (word & 15) &* 4, as: UInt32.self))
                    let sum = unsafe a &+ choice &+ constants[index] &+ word
                    (a, d, c, b) = (d, c, b, b &+ sum.rotatedLeft(shifts[index & 3]))
                }
                for index in 0..<16 { round(d ^ b & (c ^ d), index, index, [7, 12, 17, 22]) }
                for index in 16..<32 { round(c ^ d & (b ^ c), index, 5 &* index &+ 1, [5, 9, 14, 20]) }
                for index in 32..<48 { round(b ^ c ^ d, index, 3 &* index &+ 5, [4, 11, 16, 23]) }
                for index in 48..<64 { round(c ^ (b | ~d), index, 7 &* index, [6, 10, 15, 21]) }
                state &+= SIMD4(a, b, c, d)
            }
        }
    }

    /// The first 32 bits of the fractional parts of the sines of 1 to 64, as the RFC computes them.
    private static let constantsMD5: [UInt32] = [
        0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A, 0xA830_4613,
        0xFD46_9501, 0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE, 0x6B90_1122, 0xFD98_7193,
        0xA679_438E, 0x49B4_0821, 0xF61E_2562, 0xC040_B340, 0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D,
        0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8, 0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED,
        0xA9E3_E905, 0xFCEF_A3F8, 0x676F_02D9, 0x8D2A_4C8A, 0xFFFA_3942, 0x8771_F681, 0x6D9D_6122,
        0xFDE5_380C, 0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70, 0x289B_7EC6, 0xEAA1_27FA,
        0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665, 0xF429_2244,
        0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92, 0xFFEF_F47D, 0x8584_5DD1,
        0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1, 0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB,
        0xEB86_D391,
    ]
}
