/// A SHA-1 digest (FIPS 180-4) of bytes that arrive in pieces, for protocols that require it; it does not withstand an attacker.
package struct SHA1: Sendable {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) =
        (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
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
        update(blocks.padding())
        return [state.0, state.1, state.2, state.3, state.4].flatMap(\.bigEndianBytes)
    }

    /// Mixes whole blocks of 64 bytes.
    private static func mix(
        _ blocks: UnsafeRawBufferPointer, into state: inout (UInt32, UInt32, UInt32, UInt32, UInt32)
    ) {
        // Guard: the blocks are whole, so that each load stays within them; the indices of words stay below 80.
        assert(blocks.count % 64 == 0)
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            for start in stride(from: 0, to: blocks.count, by: 64) {
                for index in 0..<16 {
                    unsafe words[index] = UInt32(
                        bigEndian: blocks.loadUnaligned(fromByteOffset: start &+ index &* 4, as: UInt32.self))
                }
                for index in 16..<80 {
                    let mixed =
                        unsafe words[index &- 3] ^ words[index &- 8] ^ words[index &- 14]
                        ^ words[index &- 16]
                    unsafe words[index] = mixed.rotatedLeft(1)
                }
                var (a, b, c, d, e) = state
                @inline(__always)
                func round(_ choice: UInt32, _ constant: UInt32, _ index: Int) {
                    let sum = unsafe a.rotatedLeft(5) &+ choice &+ e &+ constant &+ words[index]
                    (e, d, c, b, a) = (d, c, b.rotatedLeft(30), a, sum)
                }
                for index in 0..<20 { round(d ^ b & (c ^ d), 0x5A82_7999, index) }
                for index in 20..<40 { round(b ^ c ^ d, 0x6ED9_EBA1, index) }
                for index in 40..<60 { round(b & c | d & (b | c), 0x8F1B_BCDC, index) }
                for index in 60..<80 { round(b ^ c ^ d, 0xCA62_C1D6, index) }
                state = (
                    state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e
                )
            }
        }
    }
}
