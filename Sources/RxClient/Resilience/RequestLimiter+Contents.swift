import RxHTTP
import RxLite

extension RequestLimiter {
    /// Who is in, who waits, and until when. Touched only under the limiter's lock.
    struct Contents {
        var queue: FairQueue<Waiter>
        var places: [String: Place] = [:]
        /// The rate of all hosts together.
        private var total: RateGate
        /// Whether nobody is let in anywhere.
        private var isTotalHeld = false
        /// Places without a token, and closed ones.
        private var held: [Place] = []
        private var alarm: (due: Due, timer: (any Cancellable)?)?
        private var alarmCount = 0

        init(total: RequestLimits, perHost: RequestLimits) {
            queue = FairQueue(perOrigin: perHost.concurrency, total: total.concurrency)
            self.total = RateGate(total.rate)
        }

        /// Notes that `waiter` is in, at the cost of a token here and in all.
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

        /// Lets go of what has a token again.
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

        // MARK: - The alarm

        /// When it has to be looked at next, if that is not seen to already, and a timer that is needed no more.
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

        /// Keeps the timer for it; gives it back if another one has taken its place.
        mutating func keep(_ timer: any Cancellable, for due: Due) -> (any Cancellable)? {
            guard alarm?.due.number == due.number else { return timer }
            alarm?.timer = timer
            return nil
        }

        /// Its time has come.
        mutating func forget(_ due: Due) {
            if alarm?.due.number == due.number { alarm = nil }
        }
    }

    /// A time to look at the queue.
    struct Due: Sendable {
        let time: Duration
        let number: Int
    }

    /// One host's part.
    final class Place: @unchecked Sendable {
        // Unchecked: all but the constant is touched only under the limiter's lock.
        fileprivate(set) var gate: RateGate
        let origin: FairQueue<Waiter>.Origin
        fileprivate var isHeld = false

        init(_ origin: FairQueue<Waiter>.Origin, _ rate: RequestRate?) {
            self.origin = origin
            gate = RateGate(rate)
        }

        /// Whether nobody is there and nothing keeps anybody out.
        var isIdle: Bool { origin.isIdle && !isHeld }

        func close(until time: Duration) { gate.close(until: time) }
    }

    /// One request that wants in.
    final class Waiter: @unchecked Sendable {
        // Unchecked: the variables are touched only under the limiter's lock.
        let place: Place
        /// Called once it is in, if it had to wait; on any thread, without the lock.
        let start: @Sendable () -> Void
        var isIn = false
        var ticket: WaitingList<Waiter>.Ticket?

        init(at place: Place, start: @escaping @Sendable () -> Void) {
            self.place = place
            self.start = start
        }
    }
}

/// A token bucket that can be closed for a while; without a rate there are always tokens.
struct RateGate: Sendable {
    private var bucket: TokenBucket?
    private var closedUntil = Duration.zero

    init(_ rate: RequestRate?) { bucket = rate.map { TokenBucket($0) } }

    mutating func take(at now: Duration) { bucket?.take(at: now) }

    mutating func close(until time: Duration) { closedUntil = max(closedUntil, time) }

    /// How long it takes until somebody may pass; zero if that is now.
    mutating func wait(at now: Duration) -> Duration {
        max(bucket?.wait(at: now) ?? .zero, closedUntil - now, .zero)
    }
}
