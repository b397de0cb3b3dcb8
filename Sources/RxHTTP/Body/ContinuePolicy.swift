/// When the server is asked before a body is sent (`Expect: 100-continue`, RFC 9110 §10.1.1), so that a large one is
/// not sent in vain.
///
/// A server that does not respond gets the body after ``wait``. After a 417 the request is repeated without the
/// expectation. HTTP/1.1 only.
public struct ContinuePolicy: Sendable, Hashable {
    /// The least number of bytes to ask for; `nil` to never ask. A body of unknown length counts as large.
    public var threshold: Int64?
    /// How long to wait for `100 Continue`. Default one second.
    public var wait: Duration

    /// Creates a policy.
    public init(threshold: Int64?, wait: Duration = .seconds(1)) {
        self.threshold = threshold
        self.wait = wait
    }

    /// Sends at once.
    public static let never = ContinuePolicy(threshold: nil)
    /// Asks before every body.
    public static let always = ContinuePolicy(threshold: 1)

    /// Asks before bodies of `size` bytes and more.
    public static func from(_ size: Int64) -> ContinuePolicy { ContinuePolicy(threshold: size) }

    /// Whether to ask before a body.
    ///
    /// - Parameter length: its bytes, `nil` if that is unknown.
    public func asks(before length: Int64?) -> Bool {
        guard let threshold else { return false }
        guard let length else { return true }
        return length > 0 && length >= threshold
    }
}
