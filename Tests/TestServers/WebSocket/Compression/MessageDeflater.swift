import CZlib

/// Compresses the messages of the server (RFC 7692 §7.2.1) with zlib's default level.
@safe
final class MessageDeflater {
    // Safe: the stream lives from init to deinit, and the buffers set in it belong to the call that sets
    // them.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    init(bits: Int, keepsContext: Bool) {
        self.keepsContext = keepsContext
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Int32(-bits), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The payload of a compressed message, without the four octets that end a flush.
    func compress(_ message: Octets) -> Octets {
        if !keepsContext { unsafe _ = deflateReset(stream) }
        var output: [UInt8] = []
        unsafe message.bytes.withUnsafeBufferPointer { input in
            // zlib only reads the input.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            repeat { output += piece() } while unsafe stream.pointee.avail_out == 0
        }
        unsafe stream.pointee.next_in = nil
        return Octets(output.dropLast(4))
    }

    private func piece() -> [UInt8] {
        let size = 64 << 10
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            unsafe stream.pointee.next_out = buffer.baseAddress
            unsafe stream.pointee.avail_out = UInt32(size)
            unsafe _ = deflate(stream, Z_SYNC_FLUSH)
            unsafe filled = size - Int(stream.pointee.avail_out)
        }
    }
}
