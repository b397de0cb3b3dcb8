extension Observable {
    /// Starts the stream again on an error, up to `count` times. The error of the last attempt ends the
    /// stream.
    ///
    /// ```
    ///          --1#
    /// retry(2)
    ///          --1--1--1#
    /// ```
    @inlinable
    public func retry(_ count: Int) -> Observable {
        retry(RetryPolicy { _, history in history.count < count ? .retry(after: .zero) : .stop })
    }

    /// Asks `policy`, on an error, whether and when to start the stream again.
    ///
    /// ```
    ///                              --1#
    /// retry { after 3 ms, once }
    ///                              --1-----1#
    /// ```
    ///
    /// The failed attempt is closed before the next begins. Attempts that fail at once are retried in a loop,
    /// without growing the stack; on a scheduler, other work gets its turn after every 32. Cancelling cancels
    /// the wait.
    ///
    /// - Parameter scheduler: the clock of the waits. Default: the stream's scheduler, otherwise
    ///   ``ActorScheduler/shared``.
    @inlinable
    public func retry(_ policy: RetryPolicy<Failure>, on scheduler: (any Scheduler)? = nil) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return Observable(scheduler: self.scheduler) { observer in
            Retrying(self, policy, clock, into: observer).start()
        }
    }
}

/// The state of one retry.
@usableFromInline
final class Retrying<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: runs only inside the subscription's lane, which is serial.

    /// The most attempts to begin in one turn of the scheduler.
    @inlinable static var turnLength: Int { 32 }

    @usableFromInline let stream: Observable<Element, Failure>
    @usableFromInline let policy: RetryPolicy<Failure>
    @usableFromInline let clock: any Scheduler
    @usableFromInline let observer: Observer<Element, Failure>
    /// The scope of the current attempt; before the first, that of the operator.
    @safe @exclusivity(unchecked) @usableFromInline var scope: Scope
    @safe @exclusivity(unchecked) @usableFromInline var history: RetryHistory
    @safe @exclusivity(unchecked) @usableFromInline var isStarting = false
    @safe @exclusivity(unchecked) @usableFromInline var isDue = false

    @inlinable
    init(
        _ stream: Observable<Element, Failure>, _ policy: RetryPolicy<Failure>, _ clock: any Scheduler,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.policy = policy
        self.clock = clock
        self.observer = observer
        scope = observer.scope
        history = RetryHistory(clock: clock)
    }

    /// Begins an attempt. If called from within one that just failed, the loop outside begins it.
    @inlinable
    func start() {
        isDue = true
        guard !isStarting else { return }
        isStarting = true
        var turn = Turn(in: observer.scope.lane, of: Self.turnLength)
        while isDue && observer.scope.isOpen {
            guard turn.step() else { return startInNextTurn() }
            isDue = false
            attempt()
        }
        isStarting = false
    }

    @inlinable
    func startInNextTurn() {
        observer.scope.inNextTurn {
            self.isStarting = false
            self.start()
        }
    }

    @inlinable
    func attempt() {
        scope = observer.scope.child()
        stream.subscribe(
            Observer(scope: scope, as: observer) { completion in
                self.scope.close()
                switch completion {
                case .finished: self.observer.finish()
                case .failed(let error): self.decide(error)
                }
            })
    }

    @inlinable
    func decide(_ error: Failure) {
        let verdict = policy.weigh(error, history)
        switch verdict.decision {
        case .stop:
            var error = error
            policy.stamp(&error, history)
            observer.fail(error)
        case .retry(let delay):
            history.count += 1
            history.lastDelay = delay
            guard delay > .zero else { return start() }
            let wait = observer.scope.child()
            let timer = clock.schedule(after: delay) {
                wait.enter {
                    self.isDue = true
                    wait.close()
                    self.start()
                }
            }
            wait.onClose {
                timer.cancel()
                if !self.isDue { verdict.giveBack() }
            }
        }
    }
}
