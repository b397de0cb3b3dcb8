import RxHTTP
import RxLite
import Synchronization

/// The requests to one server, in the order of their arrival.
final class AllowanceQueue: Sendable {
    /// A request's place: in the queue, and then among those under way.
    final class Ticket: Sendable {
        fileprivate let begin: @Sendable () -> Void

        init(begin: @escaping @Sendable () -> Void) { self.begin = begin }
    }

    private struct Contents {
        var allowance = RequestAllowance()
        var waiting: [Ticket] = []
        /// Admitted tickets whose response has not begun.
        var running: Set<ObjectIdentifier> = []
        var timer: (any Cancellable)?

        /// Takes those out that may go now; and says when to look again.
        mutating func admit(at now: Duration) -> (admitted: [Ticket], wait: Duration?) {
            var count = 0
            var wait: Duration?
            while count < waiting.count {
                wait = allowance.enter(at: now)
                if wait != nil { break }
                running.insert(ObjectIdentifier(waiting[count]))
                count += 1
            }
            defer { waiting.removeFirst(count) }
            return (Array(waiting.prefix(count)), wait)
        }
    }

    let clock: any Scheduler
    private let contents = Mutex(Contents())

    init(on clock: any Scheduler) { self.clock = clock }

    /// Whether something would be forgotten with it.
    var isInUse: Bool {
        let now = clock.now
        return contents.withLock {
            !$0.waiting.isEmpty || !$0.running.isEmpty || $0.allowance.isLimited(at: now)
        }
    }

    /// Admits the ticket and returns `nil`, or queues it and returns the minimum known wait.
    func arrive(_ ticket: Ticket) -> Duration? {
        let now = clock.now
        let wait: Duration? = contents.withLock { contents in
            if contents.waiting.isEmpty {
                guard let wait = contents.allowance.enter(at: now) else {
                    contents.running.insert(ObjectIdentifier(ticket))
                    return nil
                }
                contents.waiting.append(ticket)
                return wait
            }
            contents.waiting.append(ticket)
            return contents.allowance.certainWait(at: now)
        }
        if wait != nil { goOn() }
        return wait.map { min($0, contents.withLock { $0.allowance.certainWait(at: now) }) }
    }

    /// A response has begun, or there will be none; or the request has waited enough.
    func leave(_ ticket: Ticket, _ head: ResponseHead?) {
        let now = clock.now
        contents.withLock { contents in
            if contents.running.remove(ObjectIdentifier(ticket)) != nil {
                contents.allowance.leave(head, at: now, clock.currentDate)
            } else if let index = contents.waiting.firstIndex(where: { $0 === ticket }) {
                contents.waiting.remove(at: index)
            }
        }
        goOn()
    }

    /// Lets those go that may, and sees to it that the next ones are looked at in time.
    private func goOn() {
        let now = clock.now
        let (admitted, wait, passed) = contents.withLock { contents in
            let (admitted, wait) = contents.admit(at: now)
            defer { contents.timer = nil }
            return (admitted, wait, contents.timer)
        }
        passed?.cancel()
        if let wait {
            let timer = clock.schedule(after: wait) { [weak self] in self?.goOn() }
            let passed = contents.withLock { contents in
                defer { contents.timer = timer }
                return contents.timer
            }
            passed?.cancel()
        }
        for ticket in admitted { ticket.begin() }
    }
}
