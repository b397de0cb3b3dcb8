import FoundationEssentials
public import RxHTTP
public import RxLite

extension RetryPolicy<NetworkError> {
    /// The same policy within a budget: no retries once the budget of the error's host is spent.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea"))
    ///     .retry(.exponentialBackoff().limited(by: budget))
    /// ```
    ///
    /// The requests that earn the budget are counted when they are sent: by the client, if `budget` is its
    /// ``ClientConfiguration/retryBudget``.
    public func limited(by budget: RetryBudget) -> RetryPolicy {
        RetryPolicy(
            { error, history in
                let decision = decide(error, history)
                guard case .retry = decision, let origin = error.url.flatMap({ Origin($0) }) else {
                    return decision
                }
                return budget.withdraw(for: origin) ? decision : .stop
            }, stamp: stamp)
    }
}
