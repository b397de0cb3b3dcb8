#if Zstd
internal import CZstd

/// Decodes Zstandard (RFC 8878): a sequence of frames, some of which may be skippable. Bytes after the
/// last frame that do not begin another one are ignored, as in ``InflateDecoder``.
@safe
final class ZstdDecoder: ContentDecoder {
    // Safe: the stream lives from init to deinit.
    private enum Place {
        case start, inside, behindFrame, behindAll
    }

    private let stream: OpaquePointer?
    private var place = Place.start
    private var isFirstFrame = true

    init() {
        unsafe stream = ZSTD_createDStream()
        precondition(unsafe stream != nil, "Zstandard could not allocate memory")
        // As a content coding, its windows have at most 8 MiB (RFC 9659 §3).
        unsafe _ = ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 23)
    }

    deinit { unsafe _ = ZSTD_freeDStream(stream) }

    var isComplete: Bool { place == .behindFrame || place == .behindAll }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> DecodingStep {
        if place == .behindFrame, let first = unsafe input.first, !Self.beginsFrame(first) {
            place = .behindAll
        }
        if place == .behindAll { return DecodingStep(consumed: input.count) }
        if unsafe place != .inside && input.isEmpty { return DecodingStep() }
        var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = unsafe ZSTD_decompressStream(stream, &target, &source)
        var step = unsafe DecodingStep(consumed: source.pos, produced: target.pos)
        if ZSTD_isError(result) != 0 {
            // The bytes are not the magic number of a frame.
            guard !isFirstFrame, ZSTD_getErrorCode(result) == ZSTD_error_prefix_unknown else {
                step.isMalformed = true
                return step
            }
            place = .behindAll
            step.consumed = input.count
        } else if result == 0 {
            place = .behindFrame
            isFirstFrame = false
        } else {
            place = .inside
        }
        return step
    }

    /// Whether `byte` is the first byte of the magic number of a frame (RFC 8878 §3.1.1) or a skippable
    /// frame (§3.1.2).
    private static func beginsFrame(_ byte: UInt8) -> Bool { byte == 0x28 || 0x50...0x5F ~= byte }
}
#endif
