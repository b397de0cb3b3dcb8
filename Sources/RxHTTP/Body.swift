/// The content of a request.
public enum Body: Sendable {
    /// No content; `Content-Length: 0` goes out only with methods that define content (RFC 9110 §8.6).
    case empty
    /// Bytes in memory, sent with their length.
    case bytes([UInt8])

    /// The UTF-8 bytes of a text.
    public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

    /// Whether the body can be sent a second time, for a retry, a relogin or a 307.
    public var isReplayable: Bool {
        switch self {
        case .empty, .bytes: true
        }
    }

    /// The number of bytes.
    public var count: Int {
        switch self {
        case .empty: 0
        case .bytes(let bytes): bytes.count
        }
    }
}
