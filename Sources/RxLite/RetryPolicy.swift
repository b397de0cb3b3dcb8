/// The rule that decides, after an error, whether and when to try again.
public struct RetryPolicy<Failure: Error>: Sendable {
    /// The decision about an error.
    public enum Decision: Sendable, Equatable {
        /// The stream fails with the error.
        case stop
        /// Another attempt, after this wait.
        case retry(after: Duration)
    }

    /// A decision, and the credits that were taken for it.
    @usableFromInline
    package struct Verdict: Sendable {
        @usableFromInline package let decision: Decision
        package let credits: [RetryCredit]

        package init(_ decision: Decision, paidWith credits: [RetryCredit] = []) {
            self.decision = decision
            self.credits = credits
        }

        /// Gives the credits back, because the retry does not take place.
        @usableFromInline
        package func giveBack() {
            for credit in credits { credit.giveBack() }
        }
    }

    /// The decision about `error`, given the attempts so far.
    public var decide: @Sendable (_ error: Failure, _ history: RetryHistory) -> Decision {
        { [weigh] error, history in weigh(error, history).decision }
    }

    /// Adds to the final error what the history says about it, such as the number of attempts.
    public let stamp: @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void

    /// The decision with its credits.
    @usableFromInline package let weigh: @Sendable (_ error: Failure, _ history: RetryHistory) -> Verdict

    /// Creates a policy from a rule.
    public init(
        _ decide: @escaping @Sendable (_ error: Failure, _ history: RetryHistory) -> Decision,
        stamp: @escaping @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void = { _, _ in }
    ) {
        self.init(weighing: { Verdict(decide($0, $1)) }, stamp: stamp)
    }

    package init(
        weighing weigh: @escaping @Sendable (_ error: Failure, _ history: RetryHistory) -> Verdict,
        stamp: @escaping @Sendable (_ error: inout Failure, _ history: RetryHistory) -> Void
    ) {
        self.weigh = weigh
        self.stamp = stamp
    }
}

/// The permission of a budget for one retry.
package struct RetryCredit: Sendable {
    /// The account that has given it.
    package let account: ObjectIdentifier
    /// Returns it to the account. To be called at most once, and only if the retry does not take place.
    package let giveBack: @Sendable () -> Void

    package init(of account: ObjectIdentifier, giveBack: @escaping @Sendable () -> Void) {
        self.account = account
        self.giveBack = giveBack
    }
}
