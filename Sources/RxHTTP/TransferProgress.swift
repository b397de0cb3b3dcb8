/// The progress of a transfer.
///
/// An upload counts the bytes handed to the network; a download counts the received bytes after decoding
/// (`Content-Encoding`), as the subscriber gets them.
public struct TransferProgress: Sendable, Equatable {
    /// The bytes so far.
    public var bytes: Int64
    /// The total; `nil` if it is not known in advance, as with chunked or compressed content.
    public var expected: Int64?

    /// Creates a progress.
    public init(bytes: Int64, expected: Int64? = nil) {
        self.bytes = bytes
        self.expected = expected
    }

    /// From 0 to 1; `nil` if the total is unknown. A total of zero bytes gives 1.
    public var fraction: Double? {
        guard let expected else { return nil }
        return expected > 0 ? min(1, Double(bytes) / Double(expected)) : 1
    }
}
