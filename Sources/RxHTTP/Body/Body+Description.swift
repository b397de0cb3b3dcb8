extension Body: RedactedDescription {
    /// The number of bytes; never the content.
    public var description: String {
        switch self {
        case .empty: "empty"
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .streamed(let body): body.count.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
}
