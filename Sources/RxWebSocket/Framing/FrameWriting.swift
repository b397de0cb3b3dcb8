#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The masking of payloads (RFC 6455 §5.3): the exclusive or of each byte `i` and byte `i % 4` of the key.
///
/// A key is a number whose lowest byte is the key's first.
enum Masking {
    /// Masks or unmasks bytes in place, eight at a time.
    ///
    /// - Parameter position: the index in the payload of the first byte.
    static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer, at position: Int = 0) {
        let turn = UInt32(truncatingIfNeeded: position & 3) * 8
        let turned = turn == 0 ? key : key >> turn | key << (32 - turn)
        let half = UInt64(turned)
        let word = (half << 32 | half).littleEndian
        let count = bytes.count
        guard let start = bytes.baseAddress else { return }
        var index = 0
        while index &+ 8 <= count {
            let address = unsafe start + index
            unsafe address.storeBytes(of: address.loadUnaligned(as: UInt64.self) ^ word, as: UInt64.self)
            index &+= 8
        }
        var rest = half << 32 | half
        while index < count {
            let address = unsafe start + index
            unsafe address.storeBytes(
                of: address.load(as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest), as: UInt8.self)
            rest >>= 8
            index &+= 1
        }
    }
}

extension [UInt8] {
    /// Appends bytes, and masks or unmasks them if there is a key.
    ///
    /// - Parameter position: the index in the payload of the first byte.
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
        // The header is at most 14 bytes; its parts are put into one number, the first in the lowest byte. Lengths are
        // big-endian, hence swapped.
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

    /// Appends the frame of a whole text message of a server. The messages of the inspector are sent by it.
    package mutating func append(text: [UInt8]) {
        unsafe text.withUnsafeBytes { unsafe append(frame: $0, opcode: .text, key: nil) }
    }
}

/// The system's random source, read in blocks: `SystemRandomNumberGenerator` makes a system call for every
/// eight bytes.
///
/// The numbers are unpredictable, as masking keys must be (RFC 6455 §10.3).
package struct SystemRandomBlocks: RandomNumberGenerator, Sendable {
    /// getentropy(3) supplies at most 256 bytes.
    private static let size = 256 / MemoryLayout<UInt64>.size

    /// The numbers that have not been used yet. Empty at first, so that an idle connection costs nothing.
    private var block: [UInt64] = []

    package init() {}

    package mutating func next() -> UInt64 {
        if block.isEmpty { refill() }
        return block.removeLast()
    }

    private mutating func refill() {
        block.append(contentsOf: repeatElement(0, count: Self.size))
        unsafe block.withUnsafeMutableBytes { bytes in
            #if canImport(Darwin)
            unsafe arc4random_buf(bytes.baseAddress!, bytes.count)
            #else
            // It fails only where the kernel has no getrandom(2), as before Linux 3.17.
            let status = unsafe getentropy(bytes.baseAddress!, bytes.count)
            precondition(status == 0, "the system has no random numbers")
            #endif
        }
    }
}
