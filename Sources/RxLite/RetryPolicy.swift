/// Decides, after an error, whether and when to try again.
public struct RetryPolicy<Failure: Error>: Sendable {
    /// What is to be done about an error.
    public enum Decision: Sendable, Equatable {
        /// The error stands.
        case stop
        /// Another attempt, so much later.
        case retry(after: Duration)
    }

    /// The decision about `error`, when `retries` attempts after the first have been made already.
    public let decide: @Sendable (_ error: Failure, _ retries: Int) -> Decision

    /// Creates a policy from its rule.
    public init(_ decide: @escaping @Sendable (_ error: Failure, _ retries: Int) -> Decision) {
        self.decide = decide
    }
}
