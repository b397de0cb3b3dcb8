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
    /// ``ClientConfiguration/retryBudget``. A budget pays once for a retry, even if it is the client's too, and a
    /// retry that is cancelled in its wait, or that another budget or the deadline refuses, costs nothing.
    public func limited(by budget: RetryBudget) -> RetryPolicy {
        RetryPolicy(
            weighing: { [weigh] error, history in
                let verdict = weigh(error, history)
                guard let origin = error.url.flatMap({ Origin($0) }) else { return verdict }
                return verdict.charged(to: budget.account(of: origin))
            }, stamp: stamp)
    }
}

extension RetryPolicy<NetworkError>.Verdict {
    /// The verdict with a credit of the account, unless it has one already; no retry if the account refuses.
    func charged(to account: RetryBudget.Account?) -> Self {
        guard let account, case .retry = decision,
            !credits.contains(where: { $0.account == ObjectIdentifier(account) })
        else { return self }
        guard let credit = account.credit() else {
            giveBack()
            return Self(.stop)
        }
        return Self(decision, paidWith: credits + [credit])
    }
}
