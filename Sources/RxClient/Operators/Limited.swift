public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Waits for its turn before the stream starts, and holds its place until the stream has ended. A call belongs to
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
        if let scheduler { limiter.adopt(scheduler) }
        let wait = QueueWait(limiter: limiter, place: limiter.place(of: host), limit: limit)
        return Observable(scheduler: scheduler) { observer in
            let stream = started(since: AccountMoment.beginning(in: observer.scope.lane))
            LimitedRun(wait, into: observer).start { _ in stream }
        }
    }
}

/// The wait of a request for its turn.
struct QueueWait: Sendable {
    let limiter: RequestLimiter
    let place: RequestLimiter.Place
    let limit: Duration?
    /// Whether the request skips the queue.
    var isExempt: @Sendable (Scope) -> Bool = { _ in false }
    /// Called when the wait begins, and with its duration when it ends.
    var onWait: @Sendable (_ waited: Duration?) -> Void = { _ in }
    /// Adds the request to an error.
    var attribute: @Sendable (NetworkError) -> NetworkError = { $0 }

    /// The stream of `make`, once there is a place for it; `make` receives the time waited.
    func then<T>(
        on scheduler: any Scheduler, _ make: @escaping @Sendable (Duration) -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        Observable(scheduler: scheduler) { observer in LimitedRun(self, into: observer).start(make) }
    }
}

/// One request, first in the queue and then at its place.
private final class LimitedRun<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial; the limiter admits it through
    // that lane.
    private let wait: QueueWait
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    private var timer: OperatorTimer?
    private var hasBegun = false

    init(_ wait: QueueWait, into observer: Observer<Element, NetworkError>) {
        self.wait = wait
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ make: @escaping @Sendable (Duration) -> Observable<Element, NetworkError>) {
        guard !wait.isExempt(observer.scope) else { return begin(make(.zero)) }
        let limiter = wait.limiter
        let start = limiter.clock.now
        let waiter = RequestLimiter.Waiter(at: wait.place) {
            self.scope.enter {
                let waited = limiter.clock.now - start
                self.timer?.cancel()
                self.wait.onWait(waited)
                if self.scope.isOpen { self.begin(make(waited)) }
            }
        }
        let isIn = limiter.enter(waiter)
        scope.onClose { limiter.leave(waiter) }
        guard !isIn else { return begin(make(.zero)) }
        wait.onWait(nil)
        guard let limit = wait.limit, scope.isOpen, !hasBegun else { return }
        timer = OperatorTimer(limiter.clock, in: scope)
        timer?.set(after: limit) { self.giveUp(after: limit) }
    }

    private func begin(_ stream: Observable<Element, NetworkError>) {
        hasBegun = true
        stream.subscribe(
            Observer(scope: scope, next: observer.next) { completion in
                if case .failed(let error) = completion {
                    self.wait.limiter.pause(self.wait.place, because: error)
                }
                self.scope.close()
                self.observer.end(completion)
            })
    }

    private func giveUp(after limit: Duration) {
        scope.close()
        let error = NetworkError(.queueTimeout, "queue timeout: the request was not admitted within \(limit)")
        observer.fail(wait.attribute(error))
    }
}
