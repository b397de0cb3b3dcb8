/// The masking of payloads (RFC 6455 §5.3): the exclusive or of each byte `i` and byte `i % 4` of the key.
///
/// A key is a number whose lowest byte is the key's first.
enum Masking {
    /// Masks or unmasks bytes in place, eight at a time.
    ///
    /// - Parameter position: the place in the payload of the first byte.
    static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer, at position: Int = 0) {
        let turn = UInt32(truncatingIfNeeded: position & 3) * 8
        let turned = turn == 0 ? key : key >> turn | key << (32 - turn)
        let half = UInt64(turned)
        let word = (half << 32 | half).littleEndian
        let count = bytes.count
        guard let start = bytes.baseAddress else { return }
        var index = 0
        while index &+ 8 <= count {
            let place = unsafe start + index
            unsafe place.storeBytes(of: place.loadUnaligned(as: UInt64.self) ^ word, as: UInt64.self)
            index &+= 8
        }
        var rest = half << 32 | half
        while index < count {
            let place = unsafe start + index
            unsafe place.storeBytes(
                of: place.load(as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest), as: UInt8.self)
            rest >>= 8
            index &+= 1
        }
    }
}
