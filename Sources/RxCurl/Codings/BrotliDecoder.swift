#if Brotli
internal import CBrotli

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
