package import RxHTTP
package import RxLite

/// A quota of requests that several processes share. RxFleet has one over a store.
///
/// A limiter reserves permits in small batches, so that a request rarely waits for the quota: see ``RequestLimits``.
/// Thread-safe.
package protocol SharedQuota: AnyObject, Sendable {
    /// Reserves permits for requests of this process, in the order of the reservations of all processes. One value,
    /// then completion. The limiter sets no time limit, and reserves no more before the outcome.
    ///
    /// A failure means that the quota cannot be reached: the limiter then takes this process's share of the rate.
    ///
    /// - Parameters:
    ///   - count: the number of permits wanted, at least 1.
    ///   - scope: the name of what is limited: a host, or a quota key of the server.
    ///   - rate: the rate of all processes together.
    func reserve(
        _ count: Int, in scope: String, at rate: RequestRate
    ) -> Observable<RequestLimits.Permits, NetworkError>

    /// Tells all processes that the server allows no requests for a while.
    func close(_ scope: String, for duration: Duration)

    /// The calls of ``close(_:for:)`` by other processes.
    var closures: Observable<RequestLimits.Closure, Never> { get }

    /// The number of processes that share the quota, as last known; at least 1.
    var memberCount: Int { get }
}

extension RequestLimits {
    /// Permits reserved from a ``SharedQuota``.
    package struct Permits: Sendable, Hashable {
        /// The number of permits; 0 if none can be reserved now.
        package var count: Int
        /// The time until the first permit may be used; without permits, the time until it is worth asking again.
        package var wait: Duration
        /// The time between two permits. A burst is permits without a gap.
        package var gap: Duration
        /// How many of the permits may be used together with the first one, beyond the first. Default 0.
        package var burst: Int

        /// Creates a batch.
        package init(count: Int, wait: Duration = .zero, gap: Duration = .zero, burst: Int = 0) {
            self.count = count
            self.wait = wait
            self.gap = gap
            self.burst = burst
        }
    }
}

extension RequestLimits {
    /// A period in which the server allows no requests.
    package struct Closure: Sendable, Hashable {
        /// The name of what is limited.
        package var scope: String
        /// The rest of the period.
        package var duration: Duration

        /// Creates a closure.
        package init(scope: String, duration: Duration) {
            self.scope = scope
            self.duration = duration
        }
    }
}

extension RequestLimits {
    /// How ``RequestLimits`` share their rate with other processes.
    struct Sharing: Sendable {
        let quota: any SharedQuota
        /// The name of the quota, such as an API key's; requests to all hosts with these limits count together.
        /// `nil`: the host.
        let scope: String?
    }
}

extension RequestLimits.Sharing: Hashable {
    static func == (one: RequestLimits.Sharing, other: RequestLimits.Sharing) -> Bool {
        one.quota === other.quota && one.scope == other.scope
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(quota))
        hasher.combine(scope)
    }
}

// MARK: - The stock

/// The permits that this process has reserved from a shared quota, and the decision when to reserve more.
struct PermitStock {
    /// The permits of one reservation that are left, in the order of their times.
    private struct Batch {
        /// The time from which the first permit may be used.
        var start: Duration
        var gap: Duration
        var burst: Int
        var count: Int
    }

    /// How long a permit may be used after its time. It then ages: another process has not got it, and the server must
    /// not get it together with later ones. The documentation of ``RequestLimits`` and of fleets says two seconds.
    static let validity = Duration.seconds(2)
    /// The time until the quota is tried again when it cannot be reached.
    static let retryDelay = Duration.seconds(1)
    /// A wait without a known end: for the reply of the quota.
    static let unknownWait = Duration.seconds(3600)
    private static let mostPermits = 256
    /// From this many requests in a second on, permits are reserved before they are needed.
    private static let busy = 4.0

    let rate: RequestRate
    private var batches: [Batch] = []
    private var closedUntil = Duration.zero
    private var isReserving = false
    /// No permits are reserved before this time.
    private var nextReservation = Duration.zero
    /// This process's share of the rate, while the quota cannot be reached.
    private var localBucket: TokenBucket?
    /// The requests of the last second, by an average that decays exponentially.
    private var recent = 0.0
    private var recentTime = Duration.zero

    init(_ rate: RequestRate) { self.rate = rate }

    /// Whether the quota could not be reached the last time.
    var isDetached: Bool { localBucket != nil }

    /// The number of permits left at `now`.
    mutating func count(at now: Duration) -> Int {
        dropAged(at: now)
        return batches.reduce(0) { $0 + $1.count }
    }

    /// The time until a permit may be used; zero if there is one.
    mutating func wait(at now: Duration) -> Duration {
        if closedUntil > now { return closedUntil - now }
        dropAged(at: now)
        if let batch = batches.first { return max(.zero, batch.start - now) }
        if let wait = localBucket?.wait(at: now) { return wait }
        return !isReserving && nextReservation > now ? nextReservation - now : Self.unknownWait
    }

    /// Takes a permit, which must be available.
    mutating func take(at now: Duration) {
        decay(to: now)
        recent += 1
        guard !batches.isEmpty else {
            localBucket?.take(at: now)
            return
        }
        batches[0].count -= 1
        if batches[0].count == 0 {
            batches.removeFirst()
        } else if batches[0].burst > 0 {
            batches[0].burst -= 1
        } else {
            batches[0].start += batches[0].gap
        }
    }

    /// The number of permits to reserve now; the caller then reports the outcome with ``receive(_:at:)`` or
    /// ``detach(at:memberCount:)``. `nil`: none.
    mutating func demand(waiting: Int, memberCount: Int, at now: Duration) -> Int? {
        guard !isReserving, now >= max(nextReservation, closedUntil) else { return nil }
        decay(to: now)
        guard waiting > 0 || recent >= Self.busy else { return nil }
        // A second's share of the process, so that others need not wait for longer than that.
        let share = rate.perSecond / Double(max(1, memberCount))
        let most = Int(min(max(share.isFinite ? share.rounded(.up) : 1, 1), Double(Self.mostPermits)))
        let size = min(max(waiting, Int(recent.rounded(.up)), 1), most)
        guard count(at: now) * 2 <= size else { return nil }
        isReserving = true
        return size
    }

    /// The quota has replied.
    mutating func receive(_ permits: RequestLimits.Permits, at now: Duration) {
        isReserving = false
        localBucket = nil
        let wait = min(max(permits.wait, .zero), Self.unknownWait)
        guard permits.count > 0 else {
            nextReservation = now + max(wait, .milliseconds(10))
            return
        }
        nextReservation = .zero
        batches.append(
            Batch(
                start: now + wait, gap: min(max(permits.gap, .zero), Self.unknownWait),
                burst: max(0, permits.burst), count: min(permits.count, Self.mostPermits)))
    }

    /// The quota cannot be reached.
    mutating func detach(at now: Duration, memberCount: Int) {
        isReserving = false
        nextReservation = now + Self.retryDelay
        guard localBucket == nil else { return }
        // Without a burst: all processes begin with their share at the same time.
        localBucket = TokenBucket(.perSecond(rate.perSecond / Double(max(1, memberCount))))
    }

    /// The server allows no requests until then: what has been reserved for that time is void.
    mutating func close(until time: Duration) {
        batches = []
        closedUntil = max(closedUntil, time)
    }

    private mutating func dropAged(at now: Duration) {
        while let batch = batches.first, now - batch.start > Self.validity {
            // Permits of a burst have one time, the others follow at gaps.
            let gaps =
                batch.gap > .zero ? (now - batch.start - Self.validity) / batch.gap : Double(batch.count)
            let passed = Int(min(gaps, Double(batch.count))) + 1
            let aged = batch.burst + passed
            guard aged < batch.count else {
                batches.removeFirst()
                continue
            }
            batches[0].count -= aged
            batches[0].burst = 0
            batches[0].start += batch.gap * passed
        }
    }

    private mutating func decay(to now: Duration) {
        guard now > recentTime else { return }
        // Close enough to an exponential decay over a second, and needs no exponential function.
        let passed = (now - recentTime) / .seconds(1)
        recent *= 1 / (1 + passed)
        recentTime = now
    }
}

/// A rate shared with other processes, as a limiter uses it.
final class SharedGate: @unchecked Sendable {
    // Unchecked: the variables are accessed only under the limiter's lock.
    let quota: any SharedQuota
    let scope: String
    var stock: PermitStock
    /// The number of requests that wait at the gate.
    var waiting = 0
    /// Whether several hosts have this gate.
    let isForAll: Bool
    /// Whether the limiter is about to check if the gate needs permits.
    var isMarked = false

    init(_ sharing: RequestLimits.Sharing, _ rate: RequestRate, scope: String) {
        quota = sharing.quota
        isForAll = sharing.scope != nil
        self.scope = scope
        stock = PermitStock(rate)
    }
}
