#if Fleet
public import RxHTTP

/// The bounds that every store keeps, so that none accepts what another refuses. The documentation of ``SharedStore``
/// states the first three.
enum StoreRules {
    /// The most bytes of a key, a channel or the name of a lease.
    static let longestName = 1024
    /// The most bytes of an entry.
    static let largestEntry = 8 << 20
    /// The most bytes of a message.
    static let largestMessage = 256 << 10
    /// The shortest and the longest time of a lease.
    static let leaseTimes = Duration.milliseconds(10)...Duration.seconds(86_400)

    static func check(name: String) throws(NetworkError) {
        guard !name.isEmpty else {
            throw NetworkError(
                .invalidConfiguration, "a key, channel or lease of a shared store has an empty name")
        }
        try check(name.utf8.count, longestName, "a key, channel or lease of a shared store")
    }

    static func check(entry bytes: [UInt8]) throws(NetworkError) {
        try check(bytes.count, largestEntry, "an entry of a shared store")
    }

    static func check(message bytes: [UInt8]) throws(NetworkError) {
        try check(bytes.count, largestMessage, "a message of a shared store")
    }

    /// The time of a lease, within what a store can keep.
    static func leaseTime(_ time: Duration) -> Duration {
        min(max(time, leaseTimes.lowerBound), leaseTimes.upperBound)
    }

    /// The lifetime of an entry: at most a century, so that its end can be represented.
    static func lifetime(_ time: Duration) -> Duration { min(max(time, .zero), .seconds(100 * 365 * 86_400)) }

    private static func check(_ count: Int, _ limit: Int, _ what: String) throws(NetworkError) {
        guard count <= limit else {
            throw NetworkError(.tooLarge, "\(what) has \(count) bytes; \(limit) are the most")
        }
    }
}

/// The generic cell rate algorithm (ITU-T I.371, in its form as a virtual schedule) for one budget.
///
/// The state of a budget is one time: when it is full again if nothing is taken. A budget without a state is full.
/// `RedisScript.take` and ``RedisBudget`` follow the same rule in Redis.
struct CellRate: Sendable {
    /// The time in which one permit is added.
    let gap: Duration
    private let burst: Int
    private let count: Int
    private static let rates = 1e-6...1e9
    /// Thirty years, in seconds, as the documentation of ``SharedBudget/burst`` says. ``Reservation`` stays below it.
    static let longestRefill = 1e9

    /// - Throws: `invalidBudget` unless the budget can be kept, and `count` be taken from it.
    init(_ budget: SharedBudget, taking count: Int) throws(NetworkError) {
        guard budget.perSecond.isFinite, Self.rates.contains(budget.perSecond) else {
            throw NetworkError(
                .invalidBudget,
                "a budget adds 0.000001 to 1000000000 permits a second, not \(budget.perSecond)")
        }
        guard budget.burst >= 1, Double(budget.burst) / budget.perSecond <= Self.longestRefill else {
            throw NetworkError(
                .invalidBudget,
                "the burst of a budget is at least 1 and at most what is added in 30 years, not \(budget.burst)"
            )
        }
        guard (0...budget.burst).contains(count) else {
            throw NetworkError(
                .invalidBudget,
                "\(count) permits cannot be taken from a budget with a burst of \(budget.burst); take 0 to \(budget.burst)"
            )
        }
        gap = .seconds(1 / budget.perSecond)
        burst = budget.burst
        self.count = count
    }

    /// Takes the permits, if there are as many.
    ///
    /// - Parameters:
    ///   - full: the state, in which a value that no take can have left counts as an empty budget.
    ///   - now: the current time.
    /// - Returns: the reply, and the new state; `nil` if that does not change.
    func take(from full: Duration?, at now: Duration) -> (reply: BudgetReply, full: Duration?) {
        let capacity = gap * burst
        let full = min(max(full ?? now, now), now + capacity)
        let next = full + gap * count
        let isLimited = next - now > capacity
        let used = (isLimited ? full : next) - now
        let reply = BudgetReply(
            isLimited: isLimited, limit: burst, remaining: min(Int((capacity - used) / gap + 1e-9), burst),
            retryAfter: isLimited ? next - now - capacity : .zero, resetAfter: used)
        return (reply, isLimited || count == 0 ? nil : next)
    }
}

extension NetworkError.Code {
    /// A budget with a rate or a burst that no store can keep, or more permits than its burst.
    public static let invalidBudget = Self(rawValue: "invalidBudget")
}
#endif
