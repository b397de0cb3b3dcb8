/// The rule for the wait before each retry.
///
/// The default is exponential with full jitter: a random time between zero and the smaller of `cap` and
/// `base` doubled with every retry ("Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
public struct Backoff: Sendable {
    /// The wait before the next retry, after the retries of `history`. `random` returns a number from 0 up to
    /// 1.
    public let delay: @Sendable (_ history: RetryHistory, _ random: () -> Double) -> Duration

    /// Creates a back-off from a rule.
    public init(_ delay: @escaping @Sendable (_ history: RetryHistory, _ random: () -> Double) -> Duration) {
        self.delay = delay
    }

    /// Full jitter: random between zero and min(cap, base·2ⁿ).
    public static func fullJitter(base: Duration = .milliseconds(300), cap: Duration = .seconds(30))
        -> Backoff
    {
        // Semantics.md, and the documentation of what retries by default, name the default parameters.
        Backoff { history, random in doubled(base, history.count, cap: cap) * random() }
    }

    /// min(cap, base·2ⁿ), without jitter.
    public static func exponential(base: Duration = .milliseconds(300), cap: Duration = .seconds(30))
        -> Backoff
    {
        Backoff { history, _ in doubled(base, history.count, cap: cap) }
    }

    /// Decorrelated jitter: random between `base` and three times the previous wait, up to `cap`.
    public static func decorrelated(base: Duration = .milliseconds(300), cap: Duration = .seconds(30))
        -> Backoff
    {
        Backoff { history, random in
            let ceiling = max(base, min(cap, history.lastDelay) * 3)
            return min(cap, base + (ceiling - base) * random())
        }
    }

    /// Waits for `delay` before every retry.
    public static func constant(_ delay: Duration) -> Backoff {
        Backoff { _, _ in delay }
    }

    private static func doubled(_ base: Duration, _ retry: Int, cap: Duration) -> Duration {
        // 2³⁰ times any reasonable base exceeds any cap.
        min(cap, base * (1 << min(max(retry, 0), 30)))
    }
}
