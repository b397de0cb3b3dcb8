/// When a second attempt is sent in parallel to a slow one.
///
/// ```swift
/// configuration.options.hedging = .percentile(0.95)
/// ```
///
/// The first response counts, and the other attempt is cancelled. Only requests that may be repeated and
/// whose body is replayable are hedged, and each hedge is taken from the ``RetryBudget``.
public struct Hedging: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case never
        case fixed(Duration)
        case percentile(Double, initially: Duration)
    }

    private let rule: Rule

    /// Never sends a second attempt.
    public static let never = Hedging(rule: .never)

    /// Sends a second attempt after this delay.
    public static func after(_ delay: Duration) -> Hedging { Hedging(rule: .fixed(delay)) }

    /// Sends a second attempt when the first takes longer than this share of the recent attempts to the same
    /// host.
    ///
    /// - Parameters:
    ///   - share: from 0 to 1. Default 0.95: one attempt in twenty is hedged.
    ///   - initially: the delay until ten attempts are known. Default 1 s.
    public static func percentile(_ share: Double = 0.95, initially: Duration = .seconds(1)) -> Hedging {
        Hedging(rule: .percentile(share, initially: initially))
    }

    /// Whether there are second attempts at all.
    var isOn: Bool { rule != .never }

    /// The delay before the second attempt.
    func delay(_ latencies: RecentLatencies) -> Duration? {
        switch rule {
        case .never: nil
        case .fixed(let delay): delay
        case .percentile(let share, let initially): latencies.percentile(share) ?? initially
        }
    }
}
