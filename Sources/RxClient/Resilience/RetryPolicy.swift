public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension RetryPolicy<NetworkError> {
    /// Never retries.
    public static var never: RetryPolicy { RetryPolicy { _, _ in nil } }

    /// Retries after transient failures, with growing waits.
    ///
    /// It retries requests that may be repeated (see ``Request/isIdempotent``) after a broken connection;
    /// after a first byte, idle or attempt timeout; after the statuses 408, 425, 429, 500, 502, 503 and 504,
    /// and 413 if the server gives a wait; and after an envelope failure that means `retryLater`. It also
    /// retries any request that was certainly not sent, unless it timed out in the queue. A server's
    /// `Retry-After` (RFC 9110 §10.2.3) is the minimum wait. The last error is final; it includes the number
    /// of attempts.
    ///
    /// - Parameters:
    ///   - maxRetries: the number of attempts after the first. Default 2.
    ///   - backoff: the wait if the server gives none. Default: full jitter from 300 ms up to 30 s.
    ///   - maxDelay: the longest wait that a server may ask for. If it asks for a longer one, there is no retry, and
    ///     the message of the error says so. Default 60 s, since limits for a minute ask for up to that.
    ///   - random: random numbers from 0 up to 1 for the jitter. Default: the system's.
    ///   - currentDate: the current date, for a `Retry-After` with a date. Default: the date of the retry's
    ///     clock.
    public static func exponentialBackoff(
        maxRetries: Int = 2, backoff: Backoff = .fullJitter(), maxDelay: Duration = .seconds(60),
        random: (@Sendable () -> Double)? = nil,
        currentDate: (@Sendable () -> Date)? = nil
    ) -> RetryPolicy {
        let date: @Sendable (RetryHistory) -> Date = { currentDate?() ?? $0.clock.currentDate }
        return RetryPolicy { error, history in
            guard history.count < maxRetries, error.isTransient else { return nil }
            let delay = backoff.delay(history, random ?? RandomSource.fraction)
            guard let named = error.retryAfter(now: date(history)) else { return delay }
            return named <= maxDelay ? max(named, delay) : nil
        } stamp: { error, history in
            error.attempt = max(error.attempt, history.count + 1)
            // As decided above: the message says so only where the server's wait alone prevents the retry.
            guard history.count < maxRetries, error.isTransient,
                let named = error.retryAfter(now: date(history)), named > maxDelay
            else { return }
            let (asked, limit) = (named.inSeconds, maxDelay.inSeconds)
            let refusal = "the server asks to wait \(asked), above the limit of \(limit)"
            error.message += error.message.isEmpty ? refusal : "; " + refusal
        }
    }
}

extension Duration {
    /// The duration in seconds, such as `45 s` or `0.5 s`, with at most three digits after the point.
    fileprivate var inSeconds: String {
        let milliseconds = self / .milliseconds(1)
        let seconds = milliseconds.rounded(.up) / 1000
        return seconds == seconds.rounded() && seconds < 1e15 ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

extension NetworkError {
    /// Whether a retry is safe and may help.
    public var isTransient: Bool {
        guard isReplayable else { return false }
        if code == .status { return isIdempotent && hasTransientStatus }
        if code.recoveryOptions.contains(.retry) { return isUnsent || isIdempotent }
        return isIdempotent && code.recoveryOptions.contains(.retryIfIdempotent)
    }

    /// Whether the status is temporary. The documentation of retries, streams and WebSockets repeats this
    /// list.
    var hasTransientStatus: Bool {
        switch status?.code {
        case 408, 425, 429, 500, 502, 503, 504: true
        case 413: head?[.retryAfter] != nil
        default: false
        }
    }

    /// The wait that the server asks for: in its envelope, or in `Retry-After` as seconds or as a date. Zero
    /// for a date in the past; `nil` if there is none, or an invalid one.
    package func retryAfter(now: Date) -> Duration? {
        if let retryDelay { return min(max(retryDelay, .zero), Self.longestWait) }
        guard let value = head?[.retryAfter] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return min(.seconds(Int(value) ?? .max), Self.longestWait)
        }
        guard let date = Date(httpDate: value, now: now) else { return nil }
        return min(.seconds(max(0, date.timeIntervalSince(now))), Self.longestWait)
    }

    /// 68 years: every clock can represent it, and it exceeds any sensible limit.
    private static let longestWait = Duration.seconds(1 << 31)
}

// MARK: - Within a budget

extension RetryPolicy<NetworkError> {
    /// Limits this policy by a budget: no retries once the budget of the error's host is spent.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea"))
    ///     .retry(.exponentialBackoff().limited(by: budget))
    /// ```
    ///
    /// The requests that earn the budget are counted when they are sent: by the client, if `budget` is its
    /// ``ClientConfiguration/retryBudget``. A budget is charged once for a retry, even if it is also the client's. A
    /// retry that is cancelled during its wait, or that another budget or the deadline refuses, costs nothing.
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
        guard let account, delay != nil,
            !credits.contains(where: { $0.account == ObjectIdentifier(account) })
        else { return self }
        guard let credit = account.credit() else {
            giveBack()
            return Self(nil)
        }
        return Self(delay, paidWith: credits + [credit])
    }
}
