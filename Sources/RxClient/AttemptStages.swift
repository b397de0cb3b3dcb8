/// The stages of an attempt that not every kind of request has.
struct AttemptStages: OptionSet {
    let rawValue: Int

    /// The other server where one does not answer.
    static let failover = AttemptStages(rawValue: 1 << 0)
    /// A second attempt beside one that takes long: for answers of which nothing is out before they are whole.
    static let hedging = AttemptStages(rawValue: 1 << 1)
    /// Failing at once where the host is in trouble.
    static let circuitBreaker = AttemptStages(rawValue: 1 << 2)
    /// A place and a token: not for what has no end by itself.
    static let limits = AttemptStages(rawValue: 1 << 3)

    static let all: AttemptStages = [.failover, .hedging, .circuitBreaker, .limits]
}
