/// When a second attempt is sent beside one that takes long.
///
/// ```swift
/// configuration.hedging = .percentile(0.95)
/// ```
///
/// The first response counts and the other attempt is cancelled. Only requests that may be sent twice and whose body
/// can be are hedged, and each hedge is taken from the ``RetryBudget``.
public struct Hedging: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case never
        case fixed(Duration)
        case percentile(Double, initially: Duration)
    }

    private let rule: Rule

    /// No second attempt.
    public static let never = Hedging(rule: .never)

    /// After so long.
    public static func after(_ delay: Duration) -> Hedging { Hedging(rule: .fixed(delay)) }

    /// When an attempt takes longer than that share of the recent ones to the same host.
    ///
    /// - Parameters:
    ///   - share: from 0 to 1. Default 0.95: one in twenty.
    ///   - initially: the delay until ten attempts are known. Default 1 s.
    public static func percentile(_ share: Double = 0.95, initially: Duration = .seconds(1)) -> Hedging {
        Hedging(rule: .percentile(share, initially: initially))
    }

    /// Whether there is any second attempt.
    var isOn: Bool { rule != .never }

    /// How long the first attempt may take alone.
    func delay(_ latencies: RecentLatencies) -> Duration? {
        switch rule {
        case .never: nil
        case .fixed(let delay): delay
        case .percentile(let share, let initially): latencies.percentile(share) ?? initially
        }
    }
}
