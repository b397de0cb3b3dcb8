/// How far a transfer has come.
///
/// For an upload it counts the bytes handed to the network; for a download the received bytes after decoding
/// (`Content-Encoding`), as the subscriber gets them.
public struct TransferProgress: Sendable, Equatable {
    /// The bytes so far.
    public var bytes: Int64
    /// All there will be; `nil` where that is not known in advance, as with chunked or compressed content.
    public var expected: Int64?

    /// Creates a progress.
    public init(bytes: Int64, expected: Int64? = nil) {
        self.bytes = bytes
        self.expected = expected
    }

    /// From 0 to 1; `nil` where it is not known how much there will be. Nothing of nothing is 1.
    public var fraction: Double? {
        guard let expected else { return nil }
        return expected > 0 ? min(1, Double(bytes) / Double(expected)) : 1
    }
}
