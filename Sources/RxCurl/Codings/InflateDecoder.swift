internal import CZlib

/// Decodes gzip (RFC 1952) and deflate (RFC 1950, RFC 1951) by zlib.
///
/// A gzip content has one member or several. Bytes behind the last that begin no further member are ignored, as
/// browsers and gzip itself do: the checksum has shown by then that the content is whole.
@safe
final class InflateDecoder: ContentDecoder {
    // Safe: the stream lives from init to deinit, and the buffers that are set in it belong to the call that sets them.
    private enum Place {
        case start, inside, behindMember, behindAll
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private var place = Place.start
    private var isFirstMember = true

    init(isGzip: Bool) {
        self.isGzip = isGzip
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
    }

    deinit {
        // Of a stream that was not opened it is an error without consequences.
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    var isComplete: Bool { place == .behindMember || place == .behindAll }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        if place != .inside {
            guard let first = unsafe input.first else { return DecodingStep() }
            if place == .start { open(first) } else { reopen(first) }
        }
        guard place == .inside else { return DecodingStep(consumed: input.count) }
        return unsafe inflate(input, into: output)
    }

    /// Opens the stream for the format that the first byte tells of.
    private func open(_ first: UInt8) {
        // The lower half of zlib's first byte is 8 (RFC 1950 §2.2). In deflate without its header that would be a
        // stored block with a bit of padding set, which no encoder writes.
        let bits: Int32 = isGzip ? 15 + 16 : first & 0x0F == 8 ? 15 : -15
        let status = unsafe rxzlib_inflate_init(stream, bits)
        // The arguments are right, so that only memory can be lacking, which Swift gives up at as well.
        precondition(status == Z_OK, "zlib has no memory")
        place = .inside
    }

    /// Goes on with the next member, if the byte behind the one before is the first of its magic number.
    private func reopen(_ first: UInt8) {
        guard place == .behindMember, isGzip, first == 0x1F else { return place = .behindAll }
        unsafe _ = inflateReset(stream)
        place = .inside
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodingStep {
        // zlib counts in 32 bits.
        let (available, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        // It only reads from it.
        let start = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: start)
        unsafe stream.pointee.avail_in = available
        unsafe stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        unsafe stream.pointee.avail_out = room
        let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        unsafe stream.pointee.next_in = nil
        unsafe stream.pointee.next_out = nil
        var step = DecodingStep(
            consumed: unsafe Int(available - stream.pointee.avail_in),
            produced: unsafe Int(room - stream.pointee.avail_out))
        switch status {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END:
            place = .behindMember
            isFirstMember = false
        // Not even the magic number is a member's.
        case Z_DATA_ERROR where unsafe stream.pointee.total_in <= 2 && !isFirstMember:
            place = .behindAll
            step.consumed = input.count
        default: step.isMalformed = true
        }
        return step
    }
}
