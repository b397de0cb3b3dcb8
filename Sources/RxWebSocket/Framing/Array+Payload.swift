extension [UInt8] {
    /// Appends bytes, and masks or unmasks them if there is a key.
    ///
    /// - Parameter position: the place in the payload of the first byte.
    mutating func append(_ bytes: UnsafeRawBufferPointer, key: UInt32?, position: Int = 0) {
        let start = count
        unsafe append(contentsOf: bytes.assumingMemoryBound(to: UInt8.self))
        guard let key, key != 0 else { return }
        unsafe withUnsafeMutableBytes { bytes in
            unsafe Masking.apply(
                key, to: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), at: position)
        }
    }

    /// Appends a frame (RFC 6455 §5.2).
    ///
    /// - Parameter key: the masking key; `nil` for a frame without masking.
    mutating func append(
        frame payload: UnsafeRawBufferPointer, opcode: Opcode, isFinal: Bool = true,
        isCompressed: Bool = false, key: UInt32?
    ) {
        let first = opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0)
        let mask: UInt8 = key == nil ? 0 : 0x80
        let length = payload.count
        // The header is at most 14 bytes; its parts are put into one number, the first in the lowest byte.
        var header = UInt128(first)
        var size = 2
        switch length {
        case ...125: header |= UInt128(mask | UInt8(length)) << 8
        case ...0xFFFF:
            header |= UInt128(mask | 126) << 8 | UInt128(UInt16(length).byteSwapped) << 16
            size = 4
        default:
            header |= UInt128(mask | 127) << 8 | UInt128(UInt64(length).byteSwapped) << 16
            size = 10
        }
        if let key {
            header |= UInt128(key) << UInt128(8 * size)
            size += 4
        }
        unsafe Swift.withUnsafeBytes(of: header.littleEndian) { bytes in
            unsafe append(UnsafeRawBufferPointer(rebasing: bytes[..<size]), key: nil)
        }
        unsafe append(payload, key: key)
    }

    /// Appends the frame of a whole text message of a server.
    package mutating func append(text: [UInt8]) {
        unsafe text.withUnsafeBytes { unsafe append(frame: $0, opcode: .text, key: nil) }
    }
}
