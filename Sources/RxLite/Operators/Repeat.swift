extension Observable {
    /// Starts the stream again each time it has finished.
    ///
    /// ```
    ///                                --1-2|
    /// repeat(2, delay: .seconds(3))
    ///                                --1-2-----1-2|
    /// ```
    ///
    /// The finished run is closed before the next begins. Runs that finish at once are repeated in a loop,
    /// without growing the stack; on a scheduler, other work gets its turn after every 32. While the
    /// subscriber is paused no further run begins.
    ///
    /// - Parameters:
    ///   - count: the total number of runs; with zero or less the stream is not started. Default: no limit.
    ///   - delay: the wait before each run except the first. Default: none.
    ///   - scheduler: the clock of the waits. Default: the stream's scheduler, otherwise
    ///     ``ActorScheduler/shared``.
    @inlinable
    public func `repeat`(
        _ count: Int = .max, delay: Duration = .zero, on scheduler: (any Scheduler)? = nil
    ) -> Observable {
        guard count > 0 else { return .empty() }
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        return Observable(scheduler: self.scheduler) { observer in
            Repeating(self, count, delay, clock, into: observer).start()
        }
    }
}

/// The state of one repeat.
@usableFromInline
final class Repeating<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    /// The most runs to begin in one turn of the scheduler.
    private static var turnLength: Int { 32 }

    private let stream: Observable<Element, Failure>
    private let delay: Duration
    private let clock: any Scheduler
    private let observer: Observer<Element, Failure>
    /// The number of runs still to begin; `Int.max` means no limit.
    private var remaining: Int
    private var isStarting = false
    private var isDue = false

    @usableFromInline
    init(
        _ stream: Observable<Element, Failure>, _ count: Int, _ delay: Duration, _ clock: any Scheduler,
        into observer: Observer<Element, Failure>
    ) {
        self.stream = stream
        self.delay = delay
        self.clock = clock
        self.observer = observer
        remaining = count
    }

    /// Begins the first run, even if paused, because the source may be able to wait itself.
    @usableFromInline
    func start() {
        observer.scope.onResume { self.proceed() }
        isStarting = true
        run()
        isStarting = false
        proceed()
    }

    /// Begins due runs in a loop, not from within each other's end.
    private func proceed() {
        guard !isStarting else { return }
        isStarting = true
        var turn = Turn(in: observer.scope.lane, of: Self.turnLength)
        while isDue && observer.scope.isOpen && !observer.scope.isPaused {
            guard turn.step() else { return proceedInNextTurn() }
            isDue = false
            run()
        }
        isStarting = false
    }

    private func proceedInNextTurn() {
        observer.scope.inNextTurn {
            self.isStarting = false
            self.proceed()
        }
    }

    private func run() {
        if remaining != .max { remaining -= 1 }
        let scope = observer.scope.child()
        stream.subscribe(
            Observer(scope: scope, as: observer) { completion in
                scope.close()
                guard case .finished = completion, self.remaining > 0 else {
                    return self.observer.end(completion)
                }
                self.wait()
            })
    }

    private func wait() {
        guard delay > .zero else { return becomeDue() }
        let wait = observer.scope.child()
        let timer = clock.schedule(after: delay) {
            wait.enter {
                wait.close()
                self.becomeDue()
            }
        }
        wait.onClose { timer.cancel() }
    }

    private func becomeDue() {
        isDue = true
        proceed()
    }
}
