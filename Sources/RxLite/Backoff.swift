/// How long to wait before each retry.
///
/// The default is exponential with full jitter: a random time between zero and the smaller of `cap` and
/// `base` doubled with every retry ("Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
public struct Backoff: Sendable {
    /// The wait before retry number `retry`, from 0. `random` gives a number from 0 up to 1.
    public let delay: @Sendable (_ retry: Int, _ random: () -> Double) -> Duration

    /// Creates a back-off from its rule.
    public init(_ delay: @escaping @Sendable (_ retry: Int, _ random: () -> Double) -> Duration) {
        self.delay = delay
    }

    /// Full jitter: random between zero and min(cap, base·2ⁿ).
    public static func fullJitter(base: Duration = .milliseconds(300), cap: Duration = .seconds(30))
        -> Backoff
    {
        Backoff { retry, random in doubled(base, retry, cap: cap) * random() }
    }

    /// min(cap, base·2ⁿ), without jitter.
    public static func exponential(base: Duration = .milliseconds(300), cap: Duration = .seconds(30))
        -> Backoff
    {
        Backoff { retry, _ in doubled(base, retry, cap: cap) }
    }

    /// Always the same.
    public static func constant(_ delay: Duration) -> Backoff {
        Backoff { _, _ in delay }
    }

    private static func doubled(_ base: Duration, _ retry: Int, cap: Duration) -> Duration {
        // 2³⁰ times anything worth waiting for is past any cap.
        min(cap, base * (1 << min(max(retry, 0), 30)))
    }
}
