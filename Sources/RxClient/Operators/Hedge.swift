public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Starts the stream a second time when the first has sent nothing for a while; the one that sends the first value
    /// is the stream from then on, and the other is cancelled.
    ///
    /// ```swift
    /// client.response(goods).hedge(.after(.milliseconds(80)), if: goods.isRepeatable)
    /// ```
    ///
    /// A failure before the second attempt fails the stream; later the stream waits for the other attempt, and the last
    /// failure stands.
    ///
    /// - Parameters:
    ///   - hedging: how long the first attempt may take alone.
    ///   - isRepeatable: whether the request may be sent twice.
    ///   - latencies: what percentiles are taken of. Default: those of this stream.
    ///   - budget: each second attempt is taken from it. Default none.
    public func hedge(
        _ hedging: Hedging, if isRepeatable: Bool, among latencies: RecentLatencies = RecentLatencies(),
        within budget: RetryBudget.Account? = nil
    ) -> Observable {
        guard isRepeatable, hedging.isOn else { return self }
        return hedge(hedging, latencies, budget, trace: nil)
    }

    func hedge(
        _ hedging: Hedging, _ latencies: RecentLatencies, _ budget: RetryBudget.Account?, trace: Trace?
    ) -> Observable {
        let clock = scheduler ?? ActorScheduler.shared
        return Observable(scheduler: scheduler) { observer in
            guard let delay = hedging.delay(latencies) else { return self.subscribe(observer) }
            HedgedRun(self, latencies, budget, trace, on: clock, into: observer).start(delay)
        }
    }
}

/// One attempt, and the one beside it.
private final class HedgedRun<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let stream: Observable<Element, NetworkError>
    private let latencies: RecentLatencies
    private let budget: RetryBudget.Account?
    private let trace: Trace?
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope
    private var running: [(scope: Scope, start: Duration)] = []
    private let timer: OperatorTimer
    private var hasWinner = false

    init(
        _ stream: Observable<Element, NetworkError>, _ latencies: RecentLatencies,
        _ budget: RetryBudget.Account?, _ trace: Trace?, on clock: any Scheduler,
        into observer: Observer<Element, NetworkError>
    ) {
        self.stream = stream
        self.latencies = latencies
        self.budget = budget
        self.trace = trace
        self.observer = observer
        scope = observer.scope.child()
        timer = OperatorTimer(clock, in: scope)
    }

    func start(_ delay: Duration) {
        guard scope.isOpen else { return }
        timer.set(after: delay) {
            guard self.budget?.withdraw() ?? true else { return }
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

    /// The others are given up; how long they had taken counts all the same, since they are the slow ones.
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
