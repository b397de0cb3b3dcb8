/// A cyclic redundancy check with reflected bits, which begins and ends with the complement.
package struct CyclicRedundancyCheck: Sendable {
    private let table: [UInt64]
    private let size: Int

    /// CRC-32 (ISO/IEC 3309).
    package static let crc32 = CyclicRedundancyCheck(polynomial: 0xEDB8_8320, size: 4)
    /// CRC-32C (Castagnoli, RFC 9260 Appendix B).
    package static let crc32c = CyclicRedundancyCheck(polynomial: 0x82F6_3B78, size: 4)
    /// CRC-64 by the polynomial of NVM Express.
    package static let crc64nvme = CyclicRedundancyCheck(polynomial: 0x9A6C_9329_AC4B_C9B5, size: 8)

    /// - Parameter polynomial: the polynomial, with its bits reflected.
    private init(polynomial: UInt64, size: Int) {
        self.size = size
        table = (0..<256).map { index in
            (0..<8).reduce(UInt64(index)) { value, _ in
                value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1
            }
        }
    }

    /// The value before the first byte.
    package var initial: UInt64 { size == 8 ? .max : 0xFFFF_FFFF }

    /// The value after more bytes.
    package func updated(_ value: UInt64, with bytes: some Sequence<UInt8>) -> UInt64 {
        var value = value
        for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
        return value
    }

    /// The checksum as bytes, the most significant first.
    package func finished(_ value: UInt64) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: ~value >> UInt64($0 * 8)) }
    }
}
