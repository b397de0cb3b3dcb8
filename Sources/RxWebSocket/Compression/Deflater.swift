internal import CZlib

/// Compresses the messages of one direction of a connection (RFC 7692 §7.2.1).
@safe
final class Deflater: @unchecked Sendable {
    // Unchecked: one noncopyable connection state owns the object, and uses it in mutating methods only.
    // Safe: stream and buffer live from init to deinit, and the input set in the stream belongs to the call
    // that sets it.
    private static let pieceSize = 16 << 10

    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutableRawBufferPointer
    private let keepsContext: Bool

    /// - Parameters:
    ///   - windowBits: the base-2 logarithm of the window, 9 to 15.
    ///   - level: the effort, 1 to 9.
    ///   - keepsContext: whether messages refer to earlier ones.
    init(windowBits: Int, level: Int, keepsContext: Bool) {
        self.keepsContext = keepsContext
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe buffer = .allocate(byteCount: Self.pieceSize, alignment: 16)
        let status = unsafe rxzlib_deflate_init_raw(stream, Int32(level), Int32(windowBits))
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
        unsafe buffer.deallocate()
    }

    /// Compresses a message. It must not be empty: zlib does not flush twice without input between.
    func compress(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        var compressed: [UInt8] = []
        var rest = unsafe message[...]
        while unsafe !rest.isEmpty {
            // zlib counts in 32 bits.
            let part = unsafe rest.prefix(1 << 30)
            unsafe rest = rest.dropFirst(part.count)
            unsafe deflate(
                UnsafeRawBufferPointer(rebasing: part), isLast: rest.isEmpty, into: &compressed)
        }
        // A message goes without the last four bytes of the flush, 00 00 FF FF.
        compressed.removeLast(4)
        if !keepsContext { unsafe _ = deflateReset(stream) }
        return compressed
    }

    private func deflate(_ input: UnsafeRawBufferPointer, isLast: Bool, into output: inout [UInt8]) {
        // zlib only reads the input.
        let start = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: start)
        unsafe stream.pointee.avail_in = UInt32(input.count)
        let bytes = unsafe buffer.assumingMemoryBound(to: UInt8.self)
        repeat {
            unsafe stream.pointee.next_out = bytes.baseAddress
            unsafe stream.pointee.avail_out = UInt32(Self.pieceSize)
            // Z_BUF_ERROR says that nothing was left to do; other errors need an invalid stream.
            unsafe _ = CZlib.deflate(stream, isLast ? Z_SYNC_FLUSH : Z_NO_FLUSH)
            let count = unsafe Self.pieceSize - Int(stream.pointee.avail_out)
            unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[..<count]))
        } while unsafe stream.pointee.avail_out == 0
        unsafe stream.pointee.next_in = nil
        unsafe stream.pointee.next_out = nil
    }
}
