/// The current state of a ``RequestRate``.
struct TokenBucket: Sendable {
    /// The longest time between two tokens, in seconds: with a rate of zero no request would ever begin.
    private static let longestGap = 86400.0

    private let gap: Double
    private let burst: Double
    private var tokens: Double
    private var updated: Duration?

    init(_ rate: RequestRate) {
        let perSecond = rate.perSecond.isFinite ? rate.perSecond : 0
        gap = min(Self.longestGap, 1 / max(perSecond, 1 / Self.longestGap))
        burst = Double(max(1, rate.burst))
        tokens = burst
    }

    /// Takes a token, which must be available.
    mutating func take(at now: Duration) {
        fill(at: now)
        tokens -= 1
    }

    /// The time until a token is available; zero if there is one.
    mutating func wait(at now: Duration) -> Duration {
        fill(at: now)
        // A rounding error must not cause a wait.
        guard tokens < 1 - 1e-9 else { return .zero }
        return max(.nanoseconds(1), .seconds((1 - tokens) * gap))
    }

    private mutating func fill(at now: Duration) {
        guard let last = updated, now > last else { return updated = updated ?? now }
        tokens = min(burst, tokens + (now - last) / .seconds(1) / gap)
        updated = now
    }
}
