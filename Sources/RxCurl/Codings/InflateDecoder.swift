internal import CZlib

/// Decodes gzip (RFC 1952) and deflate (RFC 1950, RFC 1951) with zlib.
///
/// A gzip content has one or more members. Bytes after the last member that do not begin another one are
/// ignored, as in browsers and gzip: the checksum has already shown that the content is complete.
@safe
final class InflateDecoder: ContentDecoder {
    // Safe: the stream lives from init to deinit, and the buffers set in it belong to the call that sets
    // them.
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
        // For a stream that was never opened, this returns an error without side effects.
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// One byte behind a member begins no other one, even if it is the first of a magic number.
    var isComplete: Bool {
        switch place {
        case .start: false
        case .inside: unsafe !isFirstMember && stream.pointee.total_in <= 1
        case .behindMember, .behindAll: true
        }
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        if place != .inside {
            guard let first = unsafe input.first else { return DecodingStep() }
            if place == .start { open(first) } else { reopen(first) }
        }
        guard place == .inside else { return DecodingStep(consumed: input.count) }
        return unsafe inflate(input, into: output)
    }

    /// Opens the stream for the format that the first byte indicates.
    private func open(_ first: UInt8) {
        // The lower half of zlib's first byte is 8 (RFC 1950 §2.2). In deflate without a header this byte
        // would begin a stored block with a padding bit set, which no encoder writes.
        let bits: Int32 = isGzip ? 15 + 16 : first & 0x0F == 8 ? 15 : -15
        let status = unsafe rxzlib_inflate_init(stream, bits)
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib could not allocate memory")
        place = .inside
    }

    /// Continues with the next member if the byte after the previous one is the first of its magic number.
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
        // zlib only reads the input.
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
        // The bytes are not the magic number of a member.
        case Z_DATA_ERROR where unsafe stream.pointee.total_in <= 2 && !isFirstMember:
            place = .behindAll
            step.consumed = input.count
        default: step.isMalformed = true
        }
        return step
    }
}
