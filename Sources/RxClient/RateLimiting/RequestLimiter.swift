public import FoundationEssentials
import HTTPTypes
import RxHTTP
public import RxLite
import Synchronization

/// Limits the requests that run; further requests wait for their turn. Hosts take turns, and the requests to
/// one host are served in order of arrival.
///
/// ```swift
/// let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 4, rate: .perSecond(10, burst: 20)))
/// client.response(GoodsList(keyword: "tea")).limited(by: limiter, host: "api.example.com")
/// ```
///
/// A client has a limiter if its configuration has limits. A 429 with `Retry-After` (RFC 6585 §4) holds all
/// requests to its host until then, for at most ``longestPause``. Safe from any thread.
public final class RequestLimiter: Sendable {
    /// The number of shared rates, and of closed scopes, kept before unused ones are dropped.
    private static let scopeLimit = 1024

    /// The maximum time for which a 429 holds a host; zero disables it.
    public let longestPause: Duration

    private let sharedClock: SharedClock
    var clock: any Scheduler { sharedClock.scheduler }
    private let perHost: RequestLimits
    /// Whether processes share the rate of all hosts together.
    private let sharesTotal: Bool
    private let contents: Mutex<Contents>
    /// The subscriptions to the closures of shared quotas.
    private let subscriptions = SubscriptionBag()

    /// Creates a limiter without running requests.
    ///
    /// - Parameters:
    ///   - total: the limits of all hosts together.
    ///   - perHost: the limits of each host.
    ///   - longestPause: the maximum time for which a 429 holds a host. Default 60 s, as for retries.
    ///   - clock: the clock of the limiter. Default `nil`: the virtual clock of the first stream that it limits, or the
    ///     library's shared clock.
    ///   - currentDate: the current date, for a `Retry-After` with a date. Default: the date of the clock.
    public init(
        total: RequestLimits = RequestLimits(), perHost: RequestLimits = RequestLimits(),
        longestPause: Duration = .seconds(60), clock: (any Scheduler)? = nil,
        currentDate: (@Sendable () -> Date)? = nil
    ) {
        self.longestPause = longestPause
        sharedClock = SharedClock(clock, currentDate)
        self.perHost = perHost
        sharesTotal = total.sharing != nil && total.rate != nil
        contents = Mutex(Contents(total: total, perHost: perHost))
        var quotas: [any SharedQuota] = []
        for quota in [total, perHost].compactMap({ $0.sharing?.quota })
        where !quotas.contains(where: { $0 === quota }) {
            quotas.append(quota)
            quota.closures.subscribe { [weak self] closure in self?.close(closure, of: quota) }
                .store(in: subscriptions)
        }
    }

    /// Takes the time of a stream, if that is virtual and the limiter has no clock yet.
    func setClockIfUnset(_ scheduler: any Scheduler) { sharedClock.setIfUnset(scheduler) }

    /// The number of requests that are waiting.
    public var waitingCount: Int { contents.withLock { $0.queue.waitingCount } }

    /// The state of a host, created on first use.
    func host(_ name: String) -> Host {
        contents.withLock { contents in
            if let host = contents.hosts[name] { return host }
            contents.hosts.makeRoom { $0.isIdle }
            let gate = RateGate(perHost.rate, contents.sharedGate(perHost, scope: name))
            let host = Host(contents.queue.origin(name), gate)
            contents.hosts[name] = host
            return host
        }
    }

    /// Admits `waiter`, or adds it to the queue.
    ///
    /// - Returns: whether it has been admitted.
    func enter(_ waiter: Waiter) -> Bool {
        let now = clock.now
        return change(at: now) { contents in
            contents.holdIfShared(waiter.host, at: now)
            guard contents.queue.enter(waiter.host.origin) else {
                waiter.ticket = contents.queue.wait(waiter, at: waiter.host.origin)
                contents.adjustWaiting(of: waiter, by: 1)
                return false
            }
            contents.admit(waiter, at: now)
            return true
        }
    }

    /// Releases the waiter's slot, or removes the waiter from the queue. Call it once: after an
    /// admission, a second call would release the slot of another waiter.
    func leave(_ waiter: Waiter) {
        change(at: clock.now) { contents in
            if waiter.isAdmitted {
                contents.queue.leave(waiter.host.origin)
            } else if let ticket = waiter.ticket {
                contents.queue.withdraw(ticket, from: waiter.host.origin)
                waiter.ticket = nil
                contents.adjustWaiting(of: waiter, by: -1)
            }
        }
    }

    /// Holds a host for as long as its response asks; where the rate is shared, in all processes.
    func pause(_ host: Host, because error: NetworkError) {
        guard error.code == .status, error.status?.code == 429,
            let wait = error.retryAfter(now: sharedClock.date), min(wait, longestPause) > .zero
        else { return }
        pause(host, for: min(wait, longestPause))
    }

    /// Holds a host, if its rate or the total is shared, and the fields of a response say that no requests are left
    /// (draft-ietf-httpapi-ratelimit-headers).
    func pause(_ host: Host, after head: ResponseHead) {
        guard sharesTotal || host.sharesRate, let fields = RateLimitFields(head, at: sharedClock.date),
            fields.remaining == 0, min(fields.timeToReset, longestPause) > .zero
        else { return }
        pause(host, for: min(fields.timeToReset, longestPause))
    }

    private func pause(_ host: Host, for wait: Duration) {
        let now = clock.now
        change(at: now) { contents in
            host.close(until: now + wait)
            contents.holdAll(like: host)
            contents.closeTotalIfShared(until: now + wait)
        }
        for gate in [host.sharedGate, contents.withLock({ $0.sharedTotal })].compactMap({ $0 }) {
            gate.quota.close(gate.scope, for: wait)
        }
    }

    /// Holds what another process has closed.
    private func close(_ closure: RequestLimits.Closure, of quota: any SharedQuota) {
        let now = clock.now
        let end = now + min(max(closure.duration, .zero), longestPause)
        change(at: now) { contents in contents.close(closure.scope, of: quota, until: end, at: now) }
    }

    /// Reserves permits that the last change has found to be needed.
    private func reserve(_ demands: [Demand]) {
        for demand in demands {
            let gate = demand.gate
            let nothing = NetworkError(.noValue, "the quota has not replied")
            Observable.concat([
                gate.quota.reserve(demand.count, in: gate.scope, at: demand.rate), .fail(nothing),
            ])
            .take(1).asResult()
            .subscribe { [weak self] result in self?.receive(result, for: gate) }
        }
    }

    private func receive(_ result: Result<RequestLimits.Permits, NetworkError>, for gate: SharedGate) {
        let now = clock.now
        change(at: now) { contents in
            switch result {
            case .success(let permits): gate.stock.receive(permits, at: now)
            case .failure: gate.stock.detach(at: now, memberCount: gate.quota.memberCount)
            }
            contents.markForReservation(gate)
        }
    }

    /// Changes the contents, then admits waiters that have a slot now, and sets the timer for the next ones.
    @discardableResult
    private func change<Result: Sendable>(at now: Duration, _ change: (inout Contents) -> Result) -> Result {
        let (result, admitted, alarm, demands) = contents.withLock { contents in
            contents.release(at: now)
            let result = change(&contents)
            var admitted: [Waiter] = []
            while let waiter = contents.queue.next() {
                contents.admit(waiter, at: now)
                admitted.append(waiter)
            }
            return (result, admitted, contents.renewAlarm(at: now), contents.takeDemands(at: now))
        }
        alarm.passed?.cancel()
        if let due = alarm.due { set(due, at: now) }
        for waiter in admitted { waiter.start() }
        if !demands.isEmpty { reserve(demands) }
        return result
    }

    private func set(_ due: Due, at now: Duration) {
        let timer = clock.schedule(after: due.time - now) { [weak self] in
            guard let self else { return }
            // At least the time that the gates wait for, even if the timer fires a little early.
            self.change(at: max(self.clock.now, due.time)) { contents in
                contents.forget(due)
                contents.markHeldGates()
            }
        }
        contents.withLock { $0.keep(timer, for: due) }?.cancel()
    }
}

/// The limits of concurrent requests and of their rate.
///
/// With RxFleet, the rate can be that of all processes that share a quota. A limiter then reserves permits in batches,
/// each for about a second of its own demand, so that a busy process asks once for many requests. A permit that has not
/// been used two seconds after its time is dropped. A 429 of any process, and fields of a response that say that no
/// requests are left, hold all of them. While the quota cannot be reached, each process takes its share of the rate by
/// the last known number of processes.
public struct RequestLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests; at least 1. `nil`: no limit.
    public var concurrency: Int?
    /// The rate at which requests may begin. `nil`: no limit.
    public var rate: RequestRate?
    /// The quota that the rate is shared through. `nil`: the rate is that of this process. Without a ``rate`` it has no
    /// effect; ``concurrency`` is not shared.
    private(set) var sharing: RequestLimits.Sharing?

    /// Creates limits.
    public init(concurrency: Int? = nil, rate: RequestRate? = nil) {
        self.concurrency = concurrency
        self.rate = rate
    }

    /// The limits with a rate that several processes share.
    ///
    /// - Parameters:
    ///   - quota: the quota.
    ///   - scope: the name of the quota; `nil`: each host has its own.
    package func sharing(_ quota: any SharedQuota, scope: String?) -> RequestLimits {
        var limits = self
        limits.sharing = Sharing(quota: quota, scope: scope)
        return limits
    }

    var isNone: Bool { concurrency == nil && rate == nil }
}

/// The rate at which requests may begin: a token bucket, which fills steadily up to its burst. Each request
/// takes one token.
public struct RequestRate: Sendable, Hashable {
    /// The number of tokens added per second.
    public var perSecond: Double
    /// The capacity of the bucket, which starts full.
    public var burst: Int

    /// A number of requests per second.
    ///
    /// - Parameter burst: the number of requests that may begin at once after a pause. Default 1: evenly
    ///   spaced.
    public static func perSecond(_ count: Double, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: count, burst: burst)
    }

    /// A number of requests per length of time.
    public static func count(_ count: Int, per time: Duration, burst: Int = 1) -> RequestRate {
        RequestRate(perSecond: Double(count) / max(time / .seconds(1), 1e-9), burst: burst)
    }
}

// MARK: - The queue

extension RequestLimiter {
    /// The requests that run or wait, and the timer. Accessed only under the limiter's lock. Whatever holds, closes,
    /// marks or admits runs inside `change(at:_:)`, which then admits others, sets the timer, and reserves permits.
    struct Contents {
        var queue: FairQueue<Waiter>
        var hosts = HostTable<String, Host>()
        /// The rate of all hosts together.
        private var total: RateGate
        /// Whether all hosts are held, in the queue as well: both change together.
        private var isTotalHeld = false
        /// The hosts without a token, and the paused ones.
        private var held: [Host] = []
        /// The next time to look at the queue; its timer is set outside the lock and follows by
        /// ``keep(_:for:)``.
        private var alarm: (due: Due, timer: (any Cancellable)?)?
        private var alarmCount = 0
        /// The shared rates, by scope.
        private var gates: [String: SharedGate] = [:]
        /// The scopes that other processes have closed, and until when.
        private var closed: [String: Duration] = [:]
        /// The shared rates that may need permits.
        private var gatesToCheck: [SharedGate] = []

        init(total: RequestLimits, perHost: RequestLimits) {
            queue = FairQueue(perOrigin: perHost.concurrency, total: total.concurrency)
            // The name in the store, the same in all processes; for a host see ``HostRegistry``.
            let shared = total.sharing.flatMap { sharing in
                total.rate.map { SharedGate(sharing, $0, scope: sharing.scope ?? "all") }
            }
            self.total = RateGate(total.rate, shared)
            // Held until the first permits have been reserved.
            if shared != nil {
                isTotalHeld = true
                queue.hold(nil)
            }
        }

        /// The shared rate of a host; `nil` if its rate is not shared.
        mutating func sharedGate(_ limits: RequestLimits, scope host: String) -> SharedGate? {
            guard let sharing = limits.sharing, let rate = limits.rate else { return nil }
            let scope = sharing.scope ?? host
            if let known = gates[scope] { return known }
            if gates.count >= RequestLimiter.scopeLimit {
                let used = Set(hosts.values.compactMap { $0.sharedGate?.scope })
                gates = gates.filter { used.contains($0.key) }
            }
            let gate = SharedGate(sharing, rate, scope: scope)
            if let end = closed[scope] { gate.stock.close(until: end) }
            gates[scope] = gate
            return gate
        }

        var sharedTotal: SharedGate? { total.shared }

        /// Holds a host whose shared rate has no permit.
        mutating func holdIfShared(_ host: Host, at now: Duration) {
            if host.sharesRate, host.gate.wait(at: now) > .zero { hold(host) }
            guard let shared = total.shared else { return }
            markForReservation(shared)
            guard !isTotalHeld, total.wait(at: now) > .zero else { return }
            isTotalHeld = true
            queue.hold(nil)
        }

        /// Counts a request that begins or ends to wait.
        mutating func adjustWaiting(of waiter: Waiter, by change: Int) {
            guard let gate = waiter.host.sharedGate else { return }
            gate.waiting += change
            if change > 0 { markForReservation(gate) }
        }

        /// Closes what is limited under `scope`.
        mutating func close(_ scope: String, of quota: any SharedQuota, until end: Duration, at now: Duration)
        {
            for host in hosts.values {
                guard let gate = host.sharedGate, gate.scope == scope, gate.quota === quota else { continue }
                host.close(until: end)
                hold(host)
            }
            if let gate = gates[scope], gate.quota === quota { gate.stock.close(until: end) }
            // Also for scopes to come.
            if closed.count >= RequestLimiter.scopeLimit { closed = closed.filter { $0.value > now } }
            if closed.count < RequestLimiter.scopeLimit { closed[scope] = max(end, closed[scope] ?? end) }
            guard let shared = total.shared, shared.scope == scope, shared.quota === quota else { return }
            closeTotalIfShared(until: end)
        }

        /// Closes the rate of all hosts together, if processes share it.
        mutating func closeTotalIfShared(until end: Duration) {
            guard total.shared != nil else { return }
            total.close(until: end)
            isTotalHeld = true
            queue.hold(nil)
        }

        /// Marks a shared rate that may need permits.
        mutating func markForReservation(_ gate: SharedGate) {
            guard !gate.isMarked else { return }
            gate.isMarked = true
            gatesToCheck.append(gate)
        }

        /// The permits to reserve.
        mutating func takeDemands(at now: Duration) -> [Demand] {
            guard !gatesToCheck.isEmpty else { return [] }
            defer { gatesToCheck = [] }
            return gatesToCheck.compactMap { gate in
                gate.isMarked = false
                // Only the gates of hosts count who waits at them.
                let waiting = gate === total.shared ? queue.waitingCount : gate.waiting
                return gate.stock.demand(waiting: waiting, memberCount: gate.quota.memberCount, at: now)
                    .map { Demand(gate: gate, count: $0, rate: gate.stock.rate) }
            }
        }

        /// Admits `waiter`, which takes a token of its host and one of the total.
        mutating func admit(_ waiter: Waiter, at now: Duration) {
            waiter.isAdmitted = true
            if waiter.ticket != nil { adjustWaiting(of: waiter, by: -1) }
            if let gate = waiter.host.sharedGate { markForReservation(gate) }
            waiter.host.gate.take(at: now)
            if waiter.host.gate.wait(at: now) > .zero { holdAll(like: waiter.host) }
            total.take(at: now)
            if let gate = total.shared { markForReservation(gate) }
            if total.wait(at: now) > .zero {
                isTotalHeld = true
                queue.hold(nil)
            }
        }

        /// Holds a host, and those that share its rate.
        mutating func holdAll(like host: Host) {
            hold(host)
            guard let gate = host.sharedGate, gate.isForAll else { return }
            for other in hosts.values where other !== host && other.sharedGate === gate { hold(other) }
        }

        mutating func hold(_ host: Host) {
            queue.hold(host.origin)
            if !host.isHeld { held.append(host) }
            host.isHeld = true
        }

        /// Releases the hosts that have a token again.
        mutating func release(at now: Duration) {
            if isTotalHeld, total.wait(at: now) <= .zero {
                isTotalHeld = false
                queue.release(nil)
            }
            guard !held.isEmpty else { return }
            for host in held where host.gate.wait(at: now) <= .zero {
                host.isHeld = false
                queue.release(host.origin)
            }
            held.removeAll { !$0.isHeld }
        }

        /// Marks the held shared rates, whose time to ask again may have come.
        mutating func markHeldGates() {
            for gate in held.compactMap(\.sharedGate) { markForReservation(gate) }
            if isTotalHeld, let gate = total.shared { markForReservation(gate) }
        }

        // MARK: - Timer

        /// The next time to look at the queue, unless a timer is set for it, and a timer that is no longer
        /// needed.
        mutating func renewAlarm(at now: Duration) -> (due: Due?, passed: (any Cancellable)?) {
            guard queue.waitingCount > 0 else {
                defer { alarm = nil }
                return (nil, alarm?.timer)
            }
            var waits = held.map { $0.gate.wait(at: now) }
            if isTotalHeld { waits.append(total.wait(at: now)) }
            guard let wait = waits.min(), alarm.map({ now + wait < $0.due.time }) ?? true else {
                return (nil, nil)
            }
            let passed = alarm?.timer
            alarmCount += 1
            let due = Due(time: now + wait, number: alarmCount)
            alarm = (due, nil)
            return (due, passed)
        }

        /// Stores the timer for `due`; returns it if another timer has replaced it.
        mutating func keep(_ timer: any Cancellable, for due: Due) -> (any Cancellable)? {
            guard alarm?.due.number == due.number else { return timer }
            alarm?.timer = timer
            return nil
        }

        /// Removes the timer for `due`, which has fired.
        mutating func forget(_ due: Due) {
            if alarm?.due.number == due.number { alarm = nil }
        }
    }

    /// Permits to reserve from a shared quota.
    struct Demand: Sendable {
        let gate: SharedGate
        let count: Int
        let rate: RequestRate
    }

    /// A time to look at the queue.
    struct Due: Sendable {
        let time: Duration
        let number: Int
    }

    /// The state of one host.
    final class Host: @unchecked Sendable {
        // Unchecked: everything except the constant is accessed only under the limiter's lock.
        fileprivate(set) var gate: RateGate
        let origin: FairQueue<Waiter>.Origin
        /// Whether it is among the held ones of ``Contents``, and held in the queue: all three change together.
        fileprivate var isHeld = false

        /// The rate that the host shares with other processes.
        let sharedGate: SharedGate?

        init(_ origin: FairQueue<Waiter>.Origin, _ gate: RateGate) {
            self.origin = origin
            self.gate = gate
            sharedGate = gate.shared
        }

        var sharesRate: Bool { sharedGate != nil }

        /// Whether the host has no requests and nothing holds it.
        var isIdle: Bool { origin.isIdle && !isHeld }

        func close(until time: Duration) { gate.close(until: time) }
    }

    /// One request that asks for a slot.
    final class Waiter: @unchecked Sendable {
        // Unchecked: the variables are accessed only under the limiter's lock.
        let host: Host
        /// Called when the request has been admitted after a wait; on any thread, without the lock.
        let start: @Sendable () -> Void
        var isAdmitted = false
        /// Set if the request had to wait. It stays after the admission, so look at ``isAdmitted`` first.
        var ticket: WaitingList<Waiter>.Ticket?

        init(for host: Host, start: @escaping @Sendable () -> Void) {
            self.host = host
            self.start = start
        }
    }
}

/// A token bucket, or permits of a shared rate, that can be paused; without a rate there is always a token.
struct RateGate: Sendable {
    private var bucket: TokenBucket?
    private var closedUntil = Duration.zero
    /// The rate that takes the place of the bucket.
    let shared: SharedGate?

    init(_ rate: RequestRate?, _ shared: SharedGate? = nil) {
        bucket = shared == nil ? rate.map { TokenBucket($0) } : nil
        self.shared = shared
    }

    mutating func take(at now: Duration) {
        shared?.stock.take(at: now)
        bucket?.take(at: now)
    }

    mutating func close(until time: Duration) {
        closedUntil = max(closedUntil, time)
        shared?.stock.close(until: time)
    }

    /// The time until a request may pass; zero if it may pass now.
    mutating func wait(at now: Duration) -> Duration {
        max(shared?.stock.wait(at: now) ?? bucket?.wait(at: now) ?? .zero, closedUntil - now, .zero)
    }
}

// MARK: - Rates

/// The current state of a ``RequestRate``.
struct TokenBucket: Sendable {
    /// The longest time between two tokens, in seconds: with a rate of zero no request would ever begin. `Reservation`
    /// of RxFleet has the same limit for shared rates.
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
