import RxHTTP
import RxLite

/// One request, from its place in an allowance queue to its end.
final class PacedRequest: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial; the queue admits it through that
    // lane.
    private let request: Request
    private let queue: AllowanceQueue
    private let observer: Observer<CallEvent, NetworkError>
    private let scope: Scope
    private var ticket: AllowanceQueue.Ticket?
    private var timer: OperatorTimer?
    private var hasBegun = false

    init(
        _ request: Request, in queue: AllowanceQueue, into observer: Observer<CallEvent, NetworkError>
    ) {
        self.request = request
        self.queue = queue
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ next: Next, within limit: Duration) {
        guard scope.isOpen else { return }
        scope.onClose { self.leave(nil) }
        let ticket = AllowanceQueue.Ticket { self.scope.enter { self.begin(next) } }
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
