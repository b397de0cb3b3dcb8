import CZlib

#if Brotli
import CBrotli
#endif
#if Zstd
import CZstd
#endif

/// Decodes one content coding incrementally.
protocol ContentDecoder: AnyObject {
    /// Whether the content may end after the bytes that have been consumed.
    var isComplete: Bool { get }

    /// Decodes until `input` is consumed, `output` is full, or one part of a content of several parts is
    /// complete.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecodingStep
}

/// The result of one call of a ``ContentDecoder``.
struct DecodingStep {
    /// The number of input bytes that are no longer needed.
    var consumed = 0
    /// The number of bytes written to the output.
    var produced = 0
    /// Whether the input violates its format.
    var isMalformed = false
}

/// Decodes gzip (RFC 1952) and deflate (RFC 1950, RFC 1951) with zlib.
///
/// A gzip content has one or more members. Bytes after the last member that do not begin another one are
/// ignored, as in browsers and gzip: the checksum has already shown that the content is complete.
@safe
final class InflateDecoder: ContentDecoder {
    // Safe: the stream lives from init to deinit, and the buffers set in it belong to the call that sets
    // them.
    private enum Position {
        case start, inside, behindMember, behindAll
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private var position = Position.start
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
        switch position {
        case .start: false
        case .inside: unsafe !isFirstMember && stream.pointee.total_in <= 1
        case .behindMember, .behindAll: true
        }
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecodingStep {
        if position != .inside {
            guard let first = unsafe input.first else { return DecodingStep() }
            if position == .start { open(first) } else { reopen(first) }
        }
        guard position == .inside else { return DecodingStep(consumed: input.count) }
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
        position = .inside
    }

    /// Continues with the next member if the byte after the previous one is the first of its magic number.
    private func reopen(_ first: UInt8) {
        guard position == .behindMember, isGzip, first == 0x1F else { return position = .behindAll }
        unsafe _ = inflateReset(stream)
        position = .inside
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
            position = .behindMember
            isFirstMember = false
        // Behind a member, bytes that are not a magic number are ignored.
        case Z_DATA_ERROR where unsafe stream.pointee.total_in <= 2 && !isFirstMember:
            position = .behindAll
            step.consumed = input.count
        default: step.isMalformed = true
        }
        return step
    }
}

#if Brotli
/// Decodes Brotli (RFC 7932). Bytes after the end are ignored, as in browsers.
@safe
final class BrotliDecoder: ContentDecoder {
    // Safe: the state lives from init to deinit.
    private let state: OpaquePointer?
    private(set) var isComplete = false

    init() {
        unsafe state = BrotliDecoderCreateInstance(nil, nil, nil)
        precondition(unsafe state != nil, "Brotli could not allocate memory")
    }

    deinit { unsafe BrotliDecoderDestroyInstance(state) }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodingStep {
        if isComplete { return DecodingStep(consumed: input.count) }
        var (available, room) = (input.count, output.count)
        var next = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
        var free = unsafe output.assumingMemoryBound(to: UInt8.self).baseAddress
        let result = unsafe BrotliDecoderDecompressStream(state, &available, &next, &room, &free, nil)
        isComplete = result == BROTLI_DECODER_RESULT_SUCCESS
        return DecodingStep(
            consumed: input.count - available, produced: output.count - room,
            isMalformed: result == BROTLI_DECODER_RESULT_ERROR)
    }
}
#endif

#if Zstd
/// Decodes Zstandard (RFC 8878): a sequence of frames, including skippable ones. Bytes after the last frame that do not
/// begin another one are ignored, as in ``InflateDecoder``.
@safe
final class ZstdDecoder: ContentDecoder {
    // Safe: the stream lives from init to deinit.
    private enum Position {
        case start, inside, behindFrame, behindAll
    }

    private let stream: OpaquePointer?
    private var position = Position.start
    private var isFirstFrame = true
    private var frameBytesRead = 0

    init() {
        unsafe stream = ZSTD_createDStream()
        precondition(unsafe stream != nil, "Zstandard could not allocate memory")
        // As a content coding, its windows have at most 8 MiB (RFC 9659 §3).
        unsafe _ = ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 23)
    }

    deinit { unsafe _ = ZSTD_freeDStream(stream) }

    /// One byte behind a frame begins no other one, even if it is the first of a magic number.
    var isComplete: Bool {
        switch position {
        case .start: false
        case .inside: !isFirstFrame && frameBytesRead <= 1
        case .behindFrame, .behindAll: true
        }
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodingStep {
        if position == .behindFrame, let first = unsafe input.first, !Self.beginsFrame(first) {
            position = .behindAll
        }
        if position == .behindAll { return DecodingStep(consumed: input.count) }
        if unsafe position != .inside && input.isEmpty { return DecodingStep() }
        var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = unsafe ZSTD_decompressStream(stream, &target, &source)
        var step = unsafe DecodingStep(consumed: source.pos, produced: target.pos)
        if ZSTD_isError(result) != 0 {
            // Behind a frame, bytes that are not a magic number are ignored.
            guard !isFirstFrame, ZSTD_getErrorCode(result) == ZSTD_error_prefix_unknown else {
                step.isMalformed = true
                return step
            }
            position = .behindAll
            step.consumed = input.count
        } else if result == 0 {
            position = .behindFrame
            isFirstFrame = false
            frameBytesRead = 0
        } else {
            position = .inside
            // One byte behind a frame begins no other one; see ``isComplete``.
            frameBytesRead += step.consumed
        }
        return step
    }

    /// Whether `byte` is the first byte of the magic number of a frame (RFC 8878 §3.1.1) or a skippable
    /// frame (§3.1.2).
    private static func beginsFrame(_ byte: UInt8) -> Bool { byte == 0x28 || 0x50...0x5F ~= byte }
}
#endif
