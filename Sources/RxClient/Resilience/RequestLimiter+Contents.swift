import RxHTTP
import RxLite

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
