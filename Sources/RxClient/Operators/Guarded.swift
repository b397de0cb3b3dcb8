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
        if let scheduler { breaker.adopt(scheduler) }
        return Observable(scheduler: scheduler) { observer in
            let passage: GuardedPassage
            do throws(NetworkError) { passage = try GuardedPassage(breaker) } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            let scope = observer.scope.child()
            scope.onClose { passage.abandon() }
            self.subscribe(
                Observer(
                    scope: scope,
                    next: { value in
                        passage.note(transferEvent(in: value))
                        observer.next(value)
                    },
                    end: { completion in
                        passage.end(completion)
                        scope.close()
                        observer.end(completion)
                    }))
        }
    }
}

/// One request that a breaker has admitted. Only its first outcome counts.
final class GuardedPassage: @unchecked Sendable {
    // Unchecked: runs only inside the lane of the request, which is serial.
    private let breaker: CircuitBreaker
    private let settlesWithHead: Bool
    private var isSent = false
    private var passage: Circuit.Passage?

    /// - Parameter settlesWithHead: whether a response is a success as soon as it begins.
    /// - Throws: `circuitOpen`.
    init(_ breaker: CircuitBreaker, settlesWithHead: Bool = false) throws(NetworkError) {
        passage = try breaker.enter()
        self.breaker = breaker
        self.settlesWithHead = settlesWithHead
    }

    /// Notes that the request begins to wait for the host.
    func noteSent() { isSent = true }

    /// Records a success for a value. A transfer counts when it is complete; but a probe succeeds with its
    /// head, because its body may never end.
    func note(_ event: TransferEvent?) {
        switch event {
        case nil: leave(isFailure: false)
        case .head(let head):
            if let passage, settlesWithHead || breaker.isProbe(passage) {
                leave(isFailure: head.status.code >= 500)
            }
        default: break
        }
    }

    func end(_ completion: Completion<NetworkError>) {
        switch completion {
        case .finished: leave(isFailure: false)
        case .failed(let error): leave(isFailure: error.isHostFailure)
        }
    }

    /// A host that lets the time of the call pass has failed; a caller that leaves says nothing about it.
    func abandon(isOverdue: Bool = false) { leave(isFailure: isSent && isOverdue ? true : nil) }

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
