/// When to ask the server before a body is sent (`Expect: 100-continue`, RFC 9110 §10.1.1), so that a large
/// body is not sent in vain.
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
