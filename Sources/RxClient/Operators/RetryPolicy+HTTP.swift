public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension RetryPolicy<NetworkError> {
    /// Never again.
    public static var never: RetryPolicy { RetryPolicy { _, _ in .stop } }

    /// Again after failures that pass, with growing waits.
    ///
    /// Tried again are requests that may be sent twice (see ``Request/isIdempotent``): after a broken connection, a
    /// first byte, idle or attempt timeout, and the statuses 408, 425, 429, 500, 502, 503, 504, and 413 where the
    /// server says when, or an envelope that says `retryLater`; and any request that was certainly not sent, unless it
    /// was held up in the queue. A server's `Retry-After` (RFC 9110 §10.2.3) is the least wait. The last error stands,
    /// with the number of attempts.
    ///
    /// - Parameters:
    ///   - maxRetries: attempts after the first. Default 2.
    ///   - backoff: the wait if the server names none. Default full jitter from 300 ms up to 30 s.
    ///   - maxDelay: a server that asks for a longer wait is not tried again. Default 30 s.
    ///   - random: numbers from 0 up to 1 for the jitter.
    ///   - currentDate: what a `Retry-After` date is measured against. Default: the date by the clock of the retry.
    public static func exponentialBackoff(
        maxRetries: Int = 2, backoff: Backoff = .fullJitter(), maxDelay: Duration = .seconds(30),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        currentDate: (@Sendable () -> Date)? = nil
    ) -> RetryPolicy {
        RetryPolicy { error, history in
            guard history.count < maxRetries, error.isTransient else { return .stop }
            let delay = backoff.delay(history, random)
            let now = currentDate?() ?? history.clock.currentDate
            guard let named = error.retryAfter(now: now) else { return .retry(after: delay) }
            return named <= maxDelay ? .retry(after: max(named, delay)) : .stop
        } stamp: { error, attempts in
            error.attempt = max(error.attempt, attempts)
        }
    }
}

extension NetworkError {
    /// Whether trying again is safe and may help.
    public var isTransient: Bool {
        guard isReplayable else { return false }
        if code == .status { return isIdempotent && hasTransientStatus }
        if code.remedies.contains(.retry) { return isUnsent || isIdempotent }
        return isIdempotent && code.remedies.contains(.retryIfIdempotent)
    }

    private var hasTransientStatus: Bool {
        switch status?.code {
        case 408, 425, 429, 500, 502, 503, 504: true
        case 413: head?[.retryAfter] != nil
        default: false
        }
    }

    /// The wait that the server asks for: in its envelope, or in `Retry-After` as seconds or as a date; zero for a date
    /// in the past; `nil` for none and for what cannot be read.
    func retryAfter(now: Date) -> Duration? {
        if let retryDelay { return min(max(retryDelay, .zero), Self.longestWait) }
        guard let value = head?[.retryAfter] else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return min(.seconds(Int(value) ?? .max), Self.longestWait)
        }
        guard let date = Date(httpDate: value, now: now) else { return nil }
        return min(.seconds(max(0, date.timeIntervalSince(now))), Self.longestWait)
    }

    /// 68 years: any clock can keep it, and it is over any sensible cap.
    private static let longestWait = Duration.seconds(1 << 31)
}
