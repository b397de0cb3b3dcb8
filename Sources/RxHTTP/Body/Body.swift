import HTTPTypes

/// The content of a request.
///
/// Two bodies are equal only if they certainly send the same bytes: a streamed body equals only copies of
/// itself.
public enum Body: Sendable, Hashable {
    /// No content; `Content-Length: 0` goes out only with methods that define content (RFC 9110 §8.6).
    case empty
    /// Bytes in memory, sent with their length.
    case bytes([UInt8])
    /// Content that is produced while it is sent: see ``file(_:range:)``, ``stream(_:length:isReplayable:)``
    /// and ``Multipart``.
    case streamed(StreamedBody)

    /// The UTF-8 bytes of a text.
    public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

    /// Whether the body can be sent a second time, for a retry, a relogin or a 307.
    public var isReplayable: Bool {
        switch self {
        case .empty, .bytes: true
        case .streamed(let body): body.isReplayable
        }
    }

    /// The number of bytes; `nil` if it becomes known only when the body is sent.
    public var count: Int64? {
        switch self {
        case .empty: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .streamed(let body): body.count
        }
    }

    /// Whether the body is certainly empty.
    public var isEmpty: Bool { count == 0 }
}

extension Request {
    /// This request with at most so many bytes of its body, and nothing of a streamed one, for records that outlive the
    /// call.
    package func keepingBody(upTo limit: Int) -> Request {
        var kept = self
        switch body {
        case .bytes(let bytes) where bytes.count > limit: kept.body = .bytes(Array(bytes.prefix(limit)))
        case .bytes, .empty: break
        case .streamed: kept.body = .empty
        }
        return kept
    }

    /// The bytes that a record of the request takes, approximately: the URL, the fields, and a body in memory.
    package var byteCount: Int {
        var count = urlText.utf8.count
        for field in headerFields { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        if case .bytes(let bytes) = body { count += bytes.count }
        return count
    }
}

/// When to ask the server before a body is sent (`Expect: 100-continue`, RFC 9110 §10.1.1), so that a large body is not
/// sent needlessly.
///
/// A server that does not answer gets the body after ``wait``. After a 417 the request is sent again without
/// the expectation. HTTP/1.1 only.
public struct ContinuePolicy: Sendable, Hashable {
    /// The size of the smallest body to ask for, in bytes; `nil` never asks. A body of unknown length counts
    /// as large.
    public var threshold: Int64?
    /// How long to wait for `100 Continue`. Default one second.
    public var wait: Duration

    /// Creates a policy.
    public init(threshold: Int64?, wait: Duration = .seconds(1)) {
        self.threshold = threshold
        self.wait = wait
    }

    /// Never asks; sends the body at once.
    public static let never = ContinuePolicy(threshold: nil)
    /// Asks before every body.
    public static let always = ContinuePolicy(threshold: 1)

    /// Asks before bodies of `size` bytes and more.
    public static func from(_ size: Int64) -> ContinuePolicy { ContinuePolicy(threshold: size) }

    /// Whether to ask before a body.
    ///
    /// - Parameter length: the length of the body in bytes; `nil` if it is unknown.
    public func asks(before length: Int64?) -> Bool {
        guard let threshold else { return false }
        guard let length else { return true }
        return length > 0 && length >= threshold
    }
}

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
