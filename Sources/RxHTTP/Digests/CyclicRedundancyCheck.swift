/// A cyclic redundancy check with reflected bits, which begins and ends with the complement.
package struct CyclicRedundancyCheck: Sendable {
    /// For each byte its remainder, then that of the byte with one to seven zeros behind it: eight bytes at a time are
    /// looked up independently of each other ("slicing by 8").
    private let tables: [UInt64]
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
        var tables = (0..<256).map { index in
            (0..<8).reduce(UInt64(index)) { value, _ in
                value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1
            }
        }
        for index in 256..<2048 {
            let before = tables[index - 256]
            tables.append(tables[Int(before & 0xFF)] ^ before >> 8)
        }
        self.tables = tables
    }

    /// The value before the first byte.
    package var initial: UInt64 { size == 8 ? .max : 0xFFFF_FFFF }

    /// The value after more bytes.
    package func updated(_ value: UInt64, with bytes: some Sequence<UInt8>) -> UInt64 {
        let done = bytes.withContiguousStorageIfAvailable { buffer in
            unsafe updated(value, raw: UnsafeRawBufferPointer(buffer))
        }
        if let done { return done }
        return unsafe Array(bytes).withUnsafeBytes { bytes in unsafe updated(value, raw: bytes) }
    }

    private func updated(_ value: UInt64, raw bytes: UnsafeRawBufferPointer) -> UInt64 {
        unsafe tables.withUnsafeBufferPointer { tables in
            var value = value
            let whole = bytes.count / 8 * 8
            for start in stride(from: 0, to: whole, by: 8) {
                let mixed =
                    unsafe value
                    ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
                @inline(__always)
                func part(_ byte: Int) -> UInt64 {
                    unsafe tables[(7 &- byte) &* 256 &+ Int(mixed &>> UInt64(byte &* 8) & 0xFF)]
                }
                value = part(0) ^ part(1) ^ part(2) ^ part(3) ^ part(4) ^ part(5) ^ part(6) ^ part(7)
            }
            for index in whole..<bytes.count {
                unsafe value = tables[Int((value ^ UInt64(bytes[index])) & 0xFF)] ^ value &>> 8
            }
            return value
        }
    }

    /// The checksum as bytes, the most significant first.
    package func finished(_ value: UInt64) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: ~value >> UInt64($0 * 8)) }
    }
}
