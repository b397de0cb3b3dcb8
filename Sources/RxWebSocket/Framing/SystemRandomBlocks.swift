#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

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
