/// The decoding of one content coding, from piece to piece.
protocol ContentDecoder: AnyObject {
    /// Whether the content may end with the bytes that have been consumed.
    var isComplete: Bool { get }

    /// Decodes until `input` is consumed, `output` is full, or one of several parts of the content is complete.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecodingStep
}

/// The outcome of a call of a ``ContentDecoder``.
struct DecodingStep {
    /// Bytes of the input that are not needed any more.
    var consumed = 0
    /// Bytes at the beginning of the output.
    var produced = 0
    /// Whether the input violates its format.
    var isMalformed = false
}
