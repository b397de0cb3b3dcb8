/// The rule that decides, after an error, whether and when to try again.
public struct RetryPolicy<Failure: Error>: Sendable {
    /// The decision about an error.
    public enum Decision: Sendable, Equatable {
        /// The stream fails with the error.
        case stop
        /// Another attempt, after this wait.
        case retry(after: Duration)
    }

    /// The decision about `error`, given the attempts so far.
    public let decide: @Sendable (_ error: Failure, _ history: RetryHistory) -> Decision

    /// Adds to the final error what the history says about it, such as the number of attempts.
    public let stamp: @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void

    /// Creates a policy from a rule.
    public init(
        _ decide: @escaping @Sendable (_ error: Failure, _ history: RetryHistory) -> Decision,
        stamp: @escaping @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void = { _, _ in }
    ) {
        self.decide = decide
        self.stamp = stamp
    }
}
