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
