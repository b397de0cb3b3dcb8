public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Subscribes to the stream a second time when the first subscription has been silent for a while; the
    /// attempt that emits the first value continues, and the other is cancelled.
    ///
    /// ```swift
    /// client.response(goods).hedge(.after(.milliseconds(80)), if: goods.isRepeatable)
    /// ```
    ///
    /// A failure before the second attempt begins fails the stream; after that, the stream waits for the
    /// other attempt, and the last failure is final.
    ///
    /// - Parameters:
    ///   - hedging: the rule for the delay before the second attempt.
    ///   - isRepeatable: whether the request may be sent twice.
    ///   - latencies: the latencies for percentiles. Default: those of this stream.
    ///   - mayRepeat: asked before the second attempt, for example ``RetryBudget/withdraw(for:)``. Default: always.
    public func hedge(
        _ hedging: Hedging, if isRepeatable: Bool, among latencies: RecentLatencies = RecentLatencies(),
        asking mayRepeat: @escaping @Sendable () -> Bool = { true }
    ) -> Observable {
        guard isRepeatable, hedging.isOn else { return self }
        return hedge(hedging, latencies, asking: mayRepeat, trace: nil)
    }

    func hedge(
        _ hedging: Hedging, _ latencies: RecentLatencies, asking mayRepeat: @escaping @Sendable () -> Bool,
        trace: Trace?
    ) -> Observable {
        let clock = scheduler ?? ActorScheduler.shared
        return Observable(scheduler: scheduler) { observer in
            guard let delay = hedging.delay(latencies) else { return self.subscribe(observer) }
            HedgedRun(self, latencies, mayRepeat, trace, on: clock, into: observer).start(delay)
        }
    }
}

/// One attempt and its hedge.
private final class HedgedRun<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let stream: Observable<Element, NetworkError>
    private let latencies: RecentLatencies
    private let mayRepeat: @Sendable () -> Bool
    private let trace: Trace?
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    private var running: [(scope: Scope, start: Duration)] = []
    private let timer: OperatorTimer
    private var hasWinner = false

    init(
        _ stream: Observable<Element, NetworkError>, _ latencies: RecentLatencies,
        _ mayRepeat: @escaping @Sendable () -> Bool, _ trace: Trace?, on clock: any Scheduler,
        into observer: Observer<Element, NetworkError>
    ) {
        self.stream = stream
        self.latencies = latencies
        self.mayRepeat = mayRepeat
        self.trace = trace
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
    }

    func start(_ delay: Duration) {
        guard scope.isOpen else { return }
        timer.set(after: delay) {
            guard self.mayRepeat() else { return }
            self.trace?.tell(.hedged(after: delay))
            self.attempt()
        }
        attempt()
    }

    private func attempt() {
        let attempt = scope.child()
        running.append((attempt, timer.clock.now))
        stream.subscribe(
            Observer(
                scope: attempt,
                next: { value in
                    self.win(attempt)
                    self.observer.next(value)
                },
                end: { completion in
                    if case .failed(let error) = completion, !self.hasWinner {
                        return self.fail(error, of: attempt)
                    }
                    self.win(attempt)
                    self.scope.close()
                    self.observer.end(completion)
                }))
    }

    /// Cancels the other attempts; the time they have taken is recorded too, because they are the slow ones.
    private func win(_ winner: Scope) {
        guard !hasWinner else { return }
        hasWinner = true
        timer.cancel()
        let (now, all) = (timer.clock.now, running)
        running = []
        for (attempt, start) in all {
            latencies.note(now - start)
            if attempt !== winner { attempt.close() }
        }
    }

    private func fail(_ error: NetworkError, of attempt: Scope) {
        attempt.close()
        running.removeAll { $0.scope === attempt }
        guard running.isEmpty else { return }
        scope.close()
        observer.fail(error)
    }
}
