public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Waits for its turn before the stream starts, and holds its slot until the stream has ended. A call belongs to
    /// the account of its session at the time of the subscription.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea")).limited(by: limiter, host: "api.example.com")
    /// ```
    ///
    /// - Parameters:
    ///   - limiter: the limiter.
    ///   - host: the host whose limits and queue apply.
    ///   - limit: the longest wait; after it the stream fails with `queueTimeout`. Default `nil`: no limit.
    public func limited(
        by limiter: RequestLimiter, host: String = "", within limit: Duration? = nil
    ) -> Observable {
        if let scheduler { limiter.setClockIfUnset(scheduler) }
        let wait = QueueWait(limiter: limiter, host: limiter.host(host), limit: limit)
        // The stage `RequestLimiting` does the same for clients; change both.
        return Observable(scheduler: scheduler) { observer in
            let stream = started(since: AccountMoment.beginning(in: observer.scope.lane))
            let scope = observer.scope.child()
            let turn = QueueTurn(wait, in: scope)
            let isAdmitted = turn.enter()
            scope.onClose { turn.leave() }
            (isAdmitted ? stream : turn.admission.flatMap(.concat) { _ in stream }).subscribe(
                Observer(scope: scope, next: observer.next) { completion in
                    turn.end(completion)
                    scope.close()
                    observer.end(completion)
                })
        }
    }
}

/// The wait of a request for its turn.
struct QueueWait: Sendable {
    let limiter: RequestLimiter
    let host: RequestLimiter.Host
    let limit: Duration?
    /// Whether the request skips the queue.
    var isExempt: @Sendable (Scope) -> Bool = { _ in false }
    /// Called when the wait begins, and with its duration when it ends.
    var onWait: @Sendable (_ waited: Duration?) -> Void = { _ in }
    /// Adds the request to an error.
    var attribute: @Sendable (NetworkError) -> NetworkError = { $0 }

}

/// A request in the queue, and then in its slot until it ends.
final class QueueTurn: @unchecked Sendable {
    // Unchecked: runs only inside the lane of the request, which is serial; the limiter admits it through that lane.
    private let wait: QueueWait
    private let scope: Scope
    private var waiter: RequestLimiter.Waiter?
    private var timer: OperatorTimer?
    private var observer: Observer<Duration, NetworkError>?
    /// Set by an admission, which may come before ``admission`` is subscribed to.
    private var waited: Duration?

    /// - Parameter scope: the scope of the request.
    init(_ wait: QueueWait, in scope: Scope) {
        self.wait = wait
        self.scope = scope
    }

    /// Enters the queue. Returns whether the request has been admitted at once; otherwise ``admission`` follows.
    func enter() -> Bool {
        guard !wait.isExempt(scope) else { return true }
        let (limiter, scope) = (wait.limiter, scope)
        let start = limiter.clock.now
        let waiter = RequestLimiter.Waiter(for: wait.host) {
            scope.enter { self.admit(after: limiter.clock.now - start) }
        }
        self.waiter = waiter
        guard !limiter.enter(waiter) else { return true }
        wait.onWait(nil)
        return false
    }

    /// The time waited, once the request has been admitted, in its lane; `queueTimeout` after the limit.
    var admission: Observable<Duration, NetworkError> {
        Observable { observer in
            if let waited = self.waited { return Observable.just(waited).subscribe(observer) }
            self.observer = observer
            guard let limit = self.wait.limit else { return }
            let timer = OperatorTimer(self.wait.limiter.clock, in: observer.scope)
            self.timer = timer
            timer.set(after: limit) { self.giveUp(after: limit) }
        }
    }

    private func admit(after waited: Duration) {
        // It may have given up while its admission was on the way.
        guard waiter != nil else { return }
        timer?.cancel()
        self.waited = waited
        wait.onWait(waited)
        guard let observer = observer.take() else { return }
        observer.next(waited)
        if observer.scope.isOpen { observer.finish() }
    }

    private func giveUp(after limit: Duration) {
        guard let observer else { return }
        leave()
        let error = NetworkError(.queueTimeout, "queue timeout: the request was not admitted within \(limit)")
        observer.fail(wait.attribute(error))
    }

    /// Leaves with the end of the request, which may hold those that wait.
    func end(_ completion: Completion<NetworkError>) {
        if case .failed(let error) = completion { wait.limiter.pause(wait.host, because: error) }
        leave()
    }

    func leave() {
        observer = nil
        guard let waiter = waiter.take() else { return }
        wait.limiter.leave(waiter)
    }
}
