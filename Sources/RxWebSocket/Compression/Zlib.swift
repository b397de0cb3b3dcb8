import CZlib

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
        // A positive number: shim.h negates it, but not that of `rxzlib_inflate_init`.
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
        // A message goes without the last four bytes of the flush, 00 00 FF FF, which the receiver adds again, as
        // ``IncomingMessage`` does.
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

/// Decompresses the messages of one direction of a connection (RFC 7692 §7.2.2).
@safe
final class Inflater: @unchecked Sendable {
    // Unchecked: one noncopyable connection state owns the object, and uses it in mutating methods only.
    // Safe: stream and buffer live from init to deinit, and the input set in the stream belongs to the call
    // that sets it.

    /// The result of one step.
    struct Step {
        var consumed: Int
        var produced: Int
        /// Whether a block with `BFINAL` set has ended, after which a new stream begins.
        var isEnd = false
        var isMalformed = false
    }

    /// The maximum output of a step, in bytes.
    static let pieceSize = 16 << 10

    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutableRawBufferPointer
    /// Whether nothing was read since the last reset.
    private(set) var isFresh = true

    /// - Parameter windowBits: the base-2 logarithm of the peer's window.
    init(windowBits: Int) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe buffer = .allocate(byteCount: Self.pieceSize, alignment: 16)
        // Some versions of zlib compress with a window of 9 bits when they are asked for 8. A negative number stands
        // for deflate alone (shim.h).
        let status = unsafe rxzlib_inflate_init(stream, -Int32(max(windowBits, 9)))
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe buffer.deallocate()
    }

    /// Begins a new stream with an empty window.
    func reset() {
        unsafe _ = inflateReset(stream)
        isFresh = true
    }

    /// Whether the last call of ``inflate(_:room:)`` ended behind a block that is not the last of its stream, at the
    /// end of a byte: 128, without 64 and unused bits.
    ///
    /// > data_type is set … to the number of unused bits in the last byte taken from strm->next_in, plus 64
    /// > if inflate() is currently decoding the last block in the deflate stream, plus 128 if inflate()
    /// > returned immediately after decoding an end-of-block code
    ///
    /// https://www.zlib.net/manual.html
    var isAtBoundary: Bool { unsafe stream.pointee.data_type == 128 }

    /// Decompresses the beginning of `input` into ``output(_:)``.
    ///
    /// - Parameter room: the maximum number of bytes to produce, at least 1.
    func inflate(_ input: UnsafeRawBufferPointer, room: Int) -> Step {
        // zlib counts in 32 bits.
        let available = UInt32(clamping: input.count)
        let space = UInt32(min(room, Self.pieceSize))
        if available > 0 { isFresh = false }
        // zlib only reads the input.
        let start = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: start)
        unsafe stream.pointee.avail_in = available
        unsafe stream.pointee.next_out = buffer.assumingMemoryBound(to: UInt8.self).baseAddress
        unsafe stream.pointee.avail_out = space
        let status = unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
        unsafe stream.pointee.next_in = nil
        unsafe stream.pointee.next_out = nil
        var step = Step(
            consumed: unsafe Int(available - stream.pointee.avail_in),
            produced: unsafe Int(space - stream.pointee.avail_out))
        switch status {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: step.isEnd = true
        default: step.isMalformed = true
        }
        return step
    }

    /// The bytes that the last step produced, until the next one.
    func output(_ step: Step) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: buffer[..<step.produced])
    }
}
