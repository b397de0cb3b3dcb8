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
    /// The number of hosts kept before idle ones are dropped.
    private static let placeLimit = 1024

    /// The maximum time for which a 429 holds a host; zero disables it.
    public let longestPause: Duration

    private let shared: SharedClock
    var clock: any Scheduler { shared.scheduler }
    private let perHost: RequestLimits
    private let contents: Mutex<Contents>

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
        shared = SharedClock(clock, currentDate)
        self.perHost = perHost
        contents = Mutex(Contents(total: total, perHost: perHost))
    }

    /// Takes the time of a stream, if that is virtual and the limiter has no clock yet.
    func setClockIfUnset(_ scheduler: any Scheduler) { shared.setIfUnset(scheduler) }

    /// The number of requests that are waiting.
    public var waitingCount: Int { contents.withLock { $0.queue.waitingCount } }

    /// The place of a host, created if it does not exist.
    func place(of host: String) -> Place {
        contents.withLock { contents in
            if let place = contents.places[host] { return place }
            if contents.places.count >= Self.placeLimit {
                contents.places = contents.places.filter { !$0.value.isIdle }
            }
            let place = Place(contents.queue.origin(host), perHost.rate)
            contents.places[host] = place
            return place
        }
    }

    /// Admits `waiter`, or adds it to the queue.
    ///
    /// - Returns: whether it has been admitted.
    func enter(_ waiter: Waiter) -> Bool {
        let now = clock.now
        return change(at: now) { contents in
            guard contents.queue.enter(waiter.place.origin) else {
                waiter.ticket = contents.queue.wait(waiter, at: waiter.place.origin)
                return false
            }
            contents.admit(waiter, at: now)
            return true
        }
    }

    /// Releases the waiter's place, or removes the waiter from the queue.
    func leave(_ waiter: Waiter) {
        change(at: clock.now) { contents in
            if waiter.isIn {
                contents.queue.leave(waiter.place.origin)
            } else if let ticket = waiter.ticket {
                contents.queue.withdraw(ticket, from: waiter.place.origin)
            }
        }
    }

    /// Holds a host for as long as its response asks.
    func pause(_ place: Place, because error: NetworkError) {
        guard error.code == .status, error.status?.code == 429,
            let wait = error.retryAfter(now: shared.date), min(wait, longestPause) > .zero
        else { return }
        let now = clock.now
        change(at: now) { contents in
            place.close(until: now + min(wait, longestPause))
            contents.hold(place)
        }
    }

    /// Changes the contents, then admits waiters that have a place now, and sets the timer for the next ones.
    @discardableResult
    private func change<Result: Sendable>(at now: Duration, _ change: (inout Contents) -> Result) -> Result {
        let (result, admitted, alarm) = contents.withLock { contents in
            contents.release(at: now)
            let result = change(&contents)
            var admitted: [Waiter] = []
            while let waiter = contents.queue.next() {
                contents.admit(waiter, at: now)
                admitted.append(waiter)
            }
            return (result, admitted, contents.renewAlarm(at: now))
        }
        alarm.passed?.cancel()
        if let due = alarm.due { set(due, at: now) }
        for waiter in admitted { waiter.start() }
        return result
    }

    private func set(_ due: Due, at now: Duration) {
        let timer = clock.schedule(after: due.time - now) { [weak self] in
            guard let self else { return }
            self.change(at: max(self.clock.now, due.time)) { $0.forget(due) }
        }
        contents.withLock { $0.keep(timer, for: due) }?.cancel()
    }
}

/// The limits of concurrent requests and of their rate.
public struct RequestLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests; at least 1. `nil`: no limit.
    public var concurrency: Int?
    /// The rate at which requests may begin. `nil`: no limit.
    public var rate: RequestRate?

    /// Creates limits.
    public init(concurrency: Int? = nil, rate: RequestRate? = nil) {
        self.concurrency = concurrency
        self.rate = rate
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
    /// The requests that run or wait, and the timer. Accessed only under the limiter's lock.
    struct Contents {
        var queue: FairQueue<Waiter>
        var places: [String: Place] = [:]
        /// The rate of all hosts together.
        private var total: RateGate
        /// Whether all hosts are held.
        private var isTotalHeld = false
        /// The places without a token, and the paused ones.
        private var held: [Place] = []
        private var alarm: (due: Due, timer: (any Cancellable)?)?
        private var alarmCount = 0

        init(total: RequestLimits, perHost: RequestLimits) {
            queue = FairQueue(perOrigin: perHost.concurrency, total: total.concurrency)
            self.total = RateGate(total.rate)
        }

        /// Admits `waiter`, which takes a token of its host and one of the total.
        mutating func admit(_ waiter: Waiter, at now: Duration) {
            waiter.isIn = true
            waiter.place.gate.take(at: now)
            if waiter.place.gate.wait(at: now) > .zero { hold(waiter.place) }
            total.take(at: now)
            if total.wait(at: now) > .zero {
                isTotalHeld = true
                queue.hold(nil)
            }
        }

        mutating func hold(_ place: Place) {
            queue.hold(place.origin)
            if !place.isHeld { held.append(place) }
            place.isHeld = true
        }

        /// Releases the places that have a token again.
        mutating func release(at now: Duration) {
            if isTotalHeld, total.wait(at: now) <= .zero {
                isTotalHeld = false
                queue.release(nil)
            }
            guard !held.isEmpty else { return }
            for place in held where place.gate.wait(at: now) <= .zero {
                place.isHeld = false
                queue.release(place.origin)
            }
            held.removeAll { !$0.isHeld }
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

    /// A time to look at the queue.
    struct Due: Sendable {
        let time: Duration
        let number: Int
    }

    /// The share of one host.
    final class Place: @unchecked Sendable {
        // Unchecked: everything except the constant is accessed only under the limiter's lock.
        fileprivate(set) var gate: RateGate
        let origin: FairQueue<Waiter>.Origin
        fileprivate var isHeld = false

        init(_ origin: FairQueue<Waiter>.Origin, _ rate: RequestRate?) {
            self.origin = origin
            gate = RateGate(rate)
        }

        /// Whether the place has no requests and nothing holds it.
        var isIdle: Bool { origin.isIdle && !isHeld }

        func close(until time: Duration) { gate.close(until: time) }
    }

    /// One request that asks for a place.
    final class Waiter: @unchecked Sendable {
        // Unchecked: the variables are accessed only under the limiter's lock.
        let place: Place
        /// Called when the request has been admitted after a wait; on any thread, without the lock.
        let start: @Sendable () -> Void
        var isIn = false
        var ticket: WaitingList<Waiter>.Ticket?

        init(at place: Place, start: @escaping @Sendable () -> Void) {
            self.place = place
            self.start = start
        }
    }
}

/// A token bucket that can be paused; without a rate there is always a token.
struct RateGate: Sendable {
    private var bucket: TokenBucket?
    private var closedUntil = Duration.zero

    init(_ rate: RequestRate?) { bucket = rate.map { TokenBucket($0) } }

    mutating func take(at now: Duration) { bucket?.take(at: now) }

    mutating func close(until time: Duration) { closedUntil = max(closedUntil, time) }

    /// The time until a request may pass; zero if it may pass now.
    mutating func wait(at now: Duration) -> Duration {
        max(bucket?.wait(at: now) ?? .zero, closedUntil - now, .zero)
    }
}

// MARK: - Rates

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
