import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP
import RxLite
import Synchronization

/// The interceptor ``Interceptor/serverRateLimits(longestWait:)``.
final class ServerRateLimiter: Interceptor {
    private struct Contents {
        var queues: [Origin: RateLimitQueue] = [:]
        /// The number of queues kept before idle ones are dropped. It grows while more of them are in use.
        var limit = 1024
    }

    private let longestWait: Duration
    private let contents = Mutex(Contents())

    init(longestWait: Duration) { self.longestWait = longestWait }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let origin = Origin(request.url) else { return next(request) }
        let limit = min(longestWait, request.timeouts.queue ?? longestWait)
        return Observable(scheduler: call.scheduler) { observer in
            let queue = self.queue(of: origin, on: call.scheduler)
            PacedRequest(request, in: queue, into: observer).start(next, within: limit)
        }
    }

    private func queue(of origin: Origin, on clock: any Scheduler) -> RateLimitQueue {
        contents.withLock { contents in
            if let queue = contents.queues[origin] { return queue }
            if contents.queues.count >= contents.limit {
                contents.queues = contents.queues.filter { $0.value.isInUse }
                contents.limit = max(1024, contents.queues.count * 2)
            }
            let queue = RateLimitQueue(on: clock)
            contents.queues[origin] = queue
            return queue
        }
    }
}

/// One request, from its place in an allowance queue to its end.
final class PacedRequest: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial; the queue admits it through that
    // lane.
    private let request: Request
    private let queue: RateLimitQueue
    private let observer: Observer<CallEvent, NetworkError>
    private let scope: Scope
    private var ticket: RateLimitQueue.Ticket?
    private var timer: OperatorTimer?
    /// Whether it has been admitted, perhaps before `arrive(_:)` returns: then no time limit is set.
    private var hasBegun = false

    init(
        _ request: Request, in queue: RateLimitQueue, into observer: Observer<CallEvent, NetworkError>
    ) {
        self.request = request
        self.queue = queue
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ next: Next, within limit: Duration) {
        guard scope.isOpen else { return }
        scope.onClose { self.leave(nil) }
        let ticket = RateLimitQueue.Ticket { self.scope.enter { self.begin(next) } }
        self.ticket = ticket
        switch queue.arrive(ticket) {
        case nil: begin(next)
        case let wait? where wait > limit: giveUp("the server allows no request for \(wait)")
        default:
            guard !hasBegun else { return }
            timer = OperatorTimer(queue.clock, in: scope)
            timer?.set(after: limit) { self.giveUp("the server allowed no request for \(limit)") }
        }
    }

    private func begin(_ next: Next) {
        guard scope.isOpen else { return }
        hasBegun = true
        timer?.cancel()
        next(request).subscribe(
            Observer(
                scope: scope,
                next: { event in
                    if let head = event.head { self.leave(head) }
                    self.observer.next(event)
                },
                end: { completion in
                    if case .failed(let error) = completion { self.leave(error.head) }
                    self.scope.close()
                    self.observer.end(completion)
                }))
    }

    /// Only the first call has an effect.
    private func leave(_ head: ResponseHead?) {
        timer?.cancel()
        guard let ticket else { return }
        self.ticket = nil
        queue.leave(ticket, head)
    }

    private func giveUp(_ reason: String) {
        scope.close()
        observer.fail(NetworkError(.queueTimeout, "queue timeout: \(reason)", request: request))
    }
}

// MARK: - The queue of a server

/// The requests to one server, in order of arrival.
final class RateLimitQueue: Sendable {
    /// A request's ticket: first in the queue, then among the requests in flight.
    final class Ticket: Sendable {
        fileprivate let begin: @Sendable () -> Void

        init(begin: @escaping @Sendable () -> Void) { self.begin = begin }
    }

    private enum TicketState {
        case waiting(WaitingList<Ticket>.Ticket)
        /// The request has been admitted, and its response has not begun.
        case running
    }

    private struct Contents {
        var allowance = RequestAllowance()
        var waiting = WaitingList<Ticket>()
        /// The states of the tickets in use.
        var states: [ObjectIdentifier: TicketState] = [:]
        var timer: (any Cancellable)?

        /// Removes and returns the tickets that may proceed now, with the time until the next look at the
        /// queue.
        mutating func admit(at now: Duration) -> (admitted: [Ticket], wait: Duration?) {
            var admitted: [Ticket] = []
            while !waiting.isEmpty {
                if let wait = allowance.enter(at: now) { return (admitted, wait) }
                guard let ticket = waiting.popFirst() else { break }
                states[ObjectIdentifier(ticket)] = .running
                admitted.append(ticket)
            }
            return (admitted, nil)
        }

        /// Releases a ticket. Returns whether this may change anything for the waiting ones.
        mutating func leave(_ ticket: Ticket, _ head: ResponseHead?, at now: Duration, _ date: Date) -> Bool {
            switch states.removeValue(forKey: ObjectIdentifier(ticket)) {
            case .running:
                allowance.leave(head, at: now, date)
                return true
            case .waiting(let entry):
                _ = waiting.remove(entry)
                // With no waiting tickets the timer has nothing to do.
                return waiting.isEmpty
            case nil: return false
            }
        }
    }

    let clock: any Scheduler
    private let contents = Mutex(Contents())

    init(on clock: any Scheduler) { self.clock = clock }

    /// Whether dropping the queue would lose anything.
    var isInUse: Bool {
        let now = clock.now
        return contents.withLock { !$0.states.isEmpty || $0.allowance.isLimited(at: now) }
    }

    /// Admits the ticket and returns `nil`, or queues it and returns the minimum known wait.
    func arrive(_ ticket: Ticket) -> Duration? {
        let now = clock.now
        let arrival = contents.withLock { contents -> (isFirst: Bool, wait: Duration)? in
            let isFirst = contents.waiting.isEmpty
            let wait =
                isFirst ? contents.allowance.enter(at: now) : contents.allowance.certainWait(at: now)
            guard let wait else {
                contents.states[ObjectIdentifier(ticket)] = .running
                return nil
            }
            contents.states[ObjectIdentifier(ticket)] = .waiting(contents.waiting.append(ticket))
            return (isFirst, wait)
        }
        guard let (isFirst, wait) = arrival else { return nil }
        // Behind other tickets, it waits for their timer.
        if isFirst { admitNext() }
        return min(wait, contents.withLock { $0.allowance.certainWait(at: now) })
    }

    /// Releases a ticket because its response has begun, or there will be none, or it has waited long enough.
    /// Takes constant time, regardless of the number of waiting tickets.
    func leave(_ ticket: Ticket, _ head: ResponseHead?) {
        let now = clock.now
        let date = clock.currentDate
        if contents.withLock({ $0.leave(ticket, head, at: now, date) }) { admitNext() }
    }

    /// Admits the tickets that may proceed, and sets the timer for the next ones.
    private func admitNext() {
        let now = clock.now
        let (admitted, wait, passed) = contents.withLock { contents in
            let (admitted, wait) = contents.admit(at: now)
            defer { contents.timer = nil }
            return (admitted, wait, contents.timer)
        }
        passed?.cancel()
        if let wait {
            let timer = clock.schedule(after: wait) { [weak self] in self?.admitNext() }
            let passed = contents.withLock { contents in
                defer { contents.timer = timer }
                return contents.timer
            }
            passed?.cancel()
        }
        for ticket in admitted { ticket.begin() }
    }
}

// MARK: - The allowance

/// The number of requests that a server still allows, according to its responses.
struct RequestAllowance {
    /// The number left at the last response; `nil` for no limit.
    private var remaining: Int?
    /// The time of the next reset, if known.
    private var reset: Duration?
    /// The number allowed after the reset.
    private var quota: Int?
    /// The time until which no requests are allowed.
    private var pauseEnd = Duration.zero
    /// The number of requests whose responses have not begun.
    private var running = 0

    /// Whether there is a limit to remember.
    func isLimited(at now: Duration) -> Bool { now < pauseEnd || reset.map { now < $0 } ?? false }

    /// The time that a request must wait regardless of other responses.
    func certainWait(at now: Duration) -> Duration {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now < reset, remaining == 0 { return reset - now }
        return .zero
    }

    /// Admits a request, or returns how long it must wait unless a response changes that.
    mutating func enter(at now: Duration) -> Duration? {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now >= reset { (remaining, self.reset) = (quota, nil) }
        // After a reset the responses state the number left; until then the quota covers the requests in
        // flight.
        if let remaining, remaining <= running { return reset.map { $0 - now } ?? .seconds(1) }
        running += 1
        return nil
    }

    /// Records that a response has begun, or that there will be none.
    mutating func leave(_ head: ResponseHead?, at now: Duration, _ date: Date) {
        running = max(running - 1, 0)
        guard let head, let fields = RateLimitFields(head, at: date) else {
            // The request counts at the server, too.
            if reset != nil { remaining = remaining.map { max($0 - 1, 0) } }
            return recordPause(head, at: now, date)
        }
        remaining = fields.remaining
        reset = now + fields.timeToReset
        quota = fields.quota ?? quota
        recordPause(head, at: now, date)
    }

    private mutating func recordPause(_ head: ResponseHead?, at now: Duration, _ date: Date) {
        guard let head else { return }
        if head.status.code == 429 || head.status.code == 503 {
            var error = NetworkError(.status, "")
            error.head = head
            if let delay = error.retryAfter(now: date) { pauseEnd = max(pauseEnd, now + delay) }
        }
    }
}

/// The limits in a response for the next requests. ``RequestLimiter/pause(_:after:)`` reads them for shared
/// rates.
struct RateLimitFields: Equatable {
    var remaining: Int
    /// The time until the reset.
    var timeToReset: Duration
    var quota: Int?

    init?(_ head: ResponseHead, at date: Date) {
        guard
            let said = Self.list(head) ?? Self.single(head, "RateLimit-", at: date)
                ?? Self.single(head, "X-RateLimit-", at: date)
                ?? Self.single(head, "X-Rate-Limit-", at: date)
        else { return nil }
        self = said
    }

    private init(remaining: Int64, seconds: Double, quota: Int64?) {
        self.remaining = Int(min(max(remaining, 0), 1 << 31))
        timeToReset = .seconds(min(max(seconds, 0), Double(1 << 31)))
        self.quota = quota.map { Int(min(max($0, 1), 1 << 31)) }
    }

    /// Reads `"name";r=3;t=20`; the tightest limit counts, with the quota of the policy of that name.
    private static func list(_ head: ResponseHead) -> RateLimitFields? {
        var tightest: (name: String, said: RateLimitFields)?
        for item in items(head, "RateLimit") {
            guard case .string(let name) = item.rfc9651BareItem,
                let remaining = integer(item, "r"), let seconds = integer(item, "t")
            else { continue }
            let said = RateLimitFields(remaining: remaining, seconds: Double(seconds), quota: nil)
            if said.remaining < tightest?.said.remaining ?? .max { tightest = (name, said) }
        }
        guard let (name, tight) = tightest else { return nil }
        var said = tight
        let policy = items(head, "RateLimit-Policy").first {
            if case .string(name) = $0.rfc9651BareItem { true } else { false }
        }
        said.quota = policy.flatMap { integer($0, "q") }.map { Int(min(max($0, 1), 1 << 31)) }
        return said
    }

    private static func items(_ head: ResponseHead, _ name: String) -> [Item] {
        // The time to parse grows with the square of the members.
        guard let name = HTTPField.Name(name), let value = head[name], value.utf8.count <= 2048 else {
            return []
        }
        var parser = StructuredFieldValueParser(Array(value.utf8))
        let list = (try? parser.parseListFieldValue()) ?? []
        return list.compactMap { if case .item(let item) = $0 { item } else { nil } }
    }

    private static func integer(_ item: Item, _ key: String) -> Int64? {
        if case .integer(let number) = item.rfc9651Parameters[key] { number } else { nil }
    }

    /// Reads a separate field for each number. A reset of more than a year is a date in seconds since 1970,
    /// as some servers send it.
    private static func single(_ head: ResponseHead, _ prefix: String, at date: Date) -> RateLimitFields? {
        func number(_ name: String) -> Double? {
            guard let name = HTTPField.Name(prefix + name), let value = head[name] else { return nil }
            let text = value.utf8.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
            guard let number = Double(Substring(text)), number.isFinite else { return nil }
            return number
        }
        guard let remaining = number("Remaining"), let reset = number("Reset") else { return nil }
        let seconds = reset > 86_400 * 365 ? reset - date.timeIntervalSince1970 : reset
        // A value of more than a year is not a number of seconds.
        guard seconds < 86_400 * 365 else { return nil }
        return RateLimitFields(
            remaining: Int64(min(max(remaining, 0), 1e9)), seconds: seconds,
            quota: number("Limit").map { Int64(min(max($0, 1), 1e9)) })
    }
}
