import CZlib

/// Decompresses the messages of the client (RFC 7692 §7.2.2) with the window that was agreed, so that a
/// client which uses a larger one, or keeps a context that it should not, fails the case.
@safe
final class MessageInflater {
    // Safe: the stream lives from init to deinit, and the buffers set in it belong to the call that sets
    // them.
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool
    /// The most that one call of zlib may write. It finds a distance beyond the window only if that is beyond
    /// the output of the call too.
    private let size: Int

    init(bits: Int, keepsContext: Bool) {
        self.keepsContext = keepsContext
        size = bits < 15 ? 1 << (bits - 1) : 64 << 10
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe rxzlib_inflate_init(stream, Int32(-bits))
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The message whose compressed payload is `payload`.
    func decompress(_ payload: Octets) throws(Violation) -> Octets {
        if !keepsContext { unsafe _ = inflateReset(stream) }
        var output: [UInt8] = []
        var status = Z_OK
        let input = payload.bytes + [0, 0, 0xFF, 0xFF]
        unsafe input.withUnsafeBufferPointer { input in
            // zlib only reads the input.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            repeat {
                output += piece(&status)
            } while unsafe status == Z_OK && stream.pointee.avail_out == 0
                && output.count <= FrameReader.longest
        }
        unsafe stream.pointee.next_in = nil
        // Z_BUF_ERROR only says that a second call found nothing to do.
        guard status == Z_OK || status == Z_BUF_ERROR, unsafe stream.pointee.avail_in == 0 else {
            throw Violation(code: 1007, reason: "a message that cannot be decompressed (\(status))")
        }
        return Octets(output)
    }

    private func piece(_ status: inout Int32) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            unsafe stream.pointee.next_out = buffer.baseAddress
            unsafe stream.pointee.avail_out = UInt32(size)
            status = unsafe inflate(stream, Z_SYNC_FLUSH)
            unsafe filled = size - Int(stream.pointee.avail_out)
        }
    }
}
