import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// The requests to one server, in order of arrival.
final class AllowanceQueue: Sendable {
    /// A request's ticket: first in the queue, then among the requests in flight.
    final class Ticket: Sendable {
        fileprivate let begin: @Sendable () -> Void

        init(begin: @escaping @Sendable () -> Void) { self.begin = begin }
    }

    private enum Place {
        case waiting(WaitingList<Ticket>.Ticket)
        /// The request has been admitted, and its response has not begun.
        case running
    }

    private struct Contents {
        var allowance = RequestAllowance()
        var waiting = WaitingList<Ticket>()
        var places: [ObjectIdentifier: Place] = [:]
        var timer: (any Cancellable)?

        /// Removes and returns the tickets that may proceed now, with the time until the next look at the
        /// queue.
        mutating func admit(at now: Duration) -> (admitted: [Ticket], wait: Duration?) {
            var admitted: [Ticket] = []
            while !waiting.isEmpty {
                if let wait = allowance.enter(at: now) { return (admitted, wait) }
                guard let ticket = waiting.popFirst() else { break }
                places[ObjectIdentifier(ticket)] = .running
                admitted.append(ticket)
            }
            return (admitted, nil)
        }

        /// Releases a ticket. Returns whether this may change anything for the waiting ones.
        mutating func leave(_ ticket: Ticket, _ head: ResponseHead?, at now: Duration, _ date: Date) -> Bool {
            switch places.removeValue(forKey: ObjectIdentifier(ticket)) {
            case .running:
                allowance.leave(head, at: now, date)
                return true
            case .waiting(let place):
                _ = waiting.remove(place)
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
        return contents.withLock { !$0.places.isEmpty || $0.allowance.isLimited(at: now) }
    }

    /// Admits the ticket and returns `nil`, or queues it and returns the minimum known wait.
    func arrive(_ ticket: Ticket) -> Duration? {
        let now = clock.now
        let arrival = contents.withLock { contents -> (isFirst: Bool, wait: Duration)? in
            let isFirst = contents.waiting.isEmpty
            let wait =
                isFirst ? contents.allowance.enter(at: now) : contents.allowance.certainWait(at: now)
            guard let wait else {
                contents.places[ObjectIdentifier(ticket)] = .running
                return nil
            }
            contents.places[ObjectIdentifier(ticket)] = .waiting(contents.waiting.append(ticket))
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
