import HTTPTypes
public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Fails with `circuitOpen`, without starting the stream, while the breaker is open; otherwise the
    /// outcome of the stream counts.
    ///
    /// ```swift
    /// client.response(GoodsList(keyword: "tea")).guarded(by: breaker)
    /// ```
    public func guarded(by breaker: CircuitBreaker) -> Observable {
        .guarded(by: breaker, on: scheduler) { _ in self }
    }

    /// - Parameters:
    ///   - settlesWithHead: whether a response is a success as soon as it begins.
    ///   - isOverdue: whether the time limit of the call has passed; asked when the stream is cancelled.
    ///   - attribute: adds the request to the error of an open circuit.
    ///   - attempt: makes the stream, which calls `onSend` when it begins to wait for the host.
    static func guarded(
        by breaker: CircuitBreaker, on scheduler: (any Scheduler)?, settlesWithHead: Bool = false,
        isOverdue: @escaping @Sendable () -> Bool = { false },
        attributing attribute: @escaping @Sendable (NetworkError) -> NetworkError = { $0 },
        _ attempt: @escaping @Sendable (_ onSend: @escaping @Sendable () -> Void) -> Observable
    ) -> Observable {
        if let scheduler { breaker.adopt(scheduler) }
        return Observable(scheduler: scheduler) { observer in
            let passage: Circuit.Passage
            do throws(NetworkError) { passage = try breaker.enter() } catch {
                let refusal = attribute(error)
                return observer.scope.perform { observer.fail(refusal) }
            }
            GuardedPassage(passage, breaker, settlesWithHead, isOverdue, into: observer).start(attempt)
        }
    }
}

/// One request that a breaker has admitted.
private final class GuardedPassage<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let breaker: CircuitBreaker
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    private let settlesWithHead: Bool
    private let isOverdue: @Sendable () -> Bool
    private var isSent = false
    private var passage: Circuit.Passage?

    init(
        _ passage: Circuit.Passage, _ breaker: CircuitBreaker, _ settlesWithHead: Bool,
        _ isOverdue: @escaping @Sendable () -> Bool, into observer: Observer<Element, NetworkError>
    ) {
        self.settlesWithHead = settlesWithHead
        self.isOverdue = isOverdue
        self.passage = passage
        self.breaker = breaker
        self.observer = observer
        scope = observer.scope.child()
    }

    func start(_ attempt: (@escaping @Sendable () -> Void) -> Observable<Element, NetworkError>) {
        // A host that lets the time of the call pass has failed; a caller that leaves says nothing about it.
        scope.onClose { self.leave(isFailure: self.isSent && self.isOverdue() ? true : nil) }
        attempt { self.scope.enter { self.isSent = true } }.subscribe(
            Observer(
                scope: scope,
                next: { value in
                    self.note(transferEvent(in: value))
                    self.observer.next(value)
                },
                end: { completion in
                    switch completion {
                    case .finished: self.leave(isFailure: false)
                    case .failed(let error): self.leave(isFailure: error.isHostFailure)
                    }
                    self.scope.close()
                    self.observer.end(completion)
                }))
    }

    /// Records a success for a value. A transfer counts when it is complete; but a probe succeeds with its
    /// head, because its body may never end.
    private func note(_ event: TransferEvent?) {
        switch event {
        case nil: leave(isFailure: false)
        case .head(let head):
            if let passage, settlesWithHead || breaker.isProbe(passage) {
                leave(isFailure: head.status.code >= 500)
            }
        default: break
        }
    }

    /// Only the first outcome counts.
    private func leave(isFailure: Bool?) {
        guard let passage else { return }
        self.passage = nil
        breaker.leave(passage, isFailure: isFailure)
    }
}

extension NetworkError {
    /// Whether the failure is the host's; `nil` if the host had no chance to respond.
    fileprivate var isHostFailure: Bool? {
        code.remedies.contains(.circuitBreaker) ? true : status.map { $0.code >= 500 }
    }
}
